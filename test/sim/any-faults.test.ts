import { afterEach, expect, it } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { type Consumer, countsOf, parsed, subscribe } from '../../harness/sim/consumer.ts';
import { manualClock } from '../../sim/clock.ts';
import { createSim, type Sim } from '../../sim/index.ts';
import { dice } from '../../sim/random.ts';

const noon = Date.UTC(2026, 6, 4, 12);
const noonUs = noon * 1000;
const running: Sim[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((sim) => sim.stop()));
});

/** Returns injected faults whose deliveries are known exactly. Resets are not among them. */
function faultsOf({ faults }: Sim): (() => unknown)[] {
  return [
    () => faults.drop(),
    () => faults.drop({ how: 'mid_frame' }),
    () => faults.silence(),
    () => faults.slow({ framesPerSecond: 40 }),
    () => faults.resume(),
    () => faults.skip({ events: 70 }),
    () => faults.skip({ seconds: 1 }),
    () => faults.repeat({ events: 90 }),
    () => faults.reorderAtCutover({ events: 50 }),
    () => faults.reorderAtCutover({ events: 50, lose: true }),
    () => faults.replayEarlier({ seconds: 3 }),
    () => faults.clampCursor({ seconds: 1 }),
    () => faults.futureCursor(),
    () => faults.batchTime({ size: 7, seconds: 1 }),
    () => faults.malformed({ events: 9 }),
    () => faults.unknown({ events: 9 }),
    () => faults.huge({ bytes: 200_000 }),
  ];
}

it.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'the record of deliveries equals what the consumers received, under a random sequence of injected faults (seed %i)',
  async (seed) => {
    const clock = manualClock(noon);
    const chance = dice(seed);
    const sim = createSim({ seed, seqCursors: true, clock: clock.now });
    running.push(sim);
    const { jetstream } = await sim.start();
    const consumers: Consumer[] = [await subscribe(jetstream)];
    const received = (): string[] => consumers.flatMap(({ frames }) => frames);
    const given = (): number => sim.truth.deliveries.reduce((sum, { frames }) => sum + frames, 0);
    const switches = faultsOf(sim);

    const allReceived = () => until('every frame that was sent is received', () => received().length === given());

    for (let step = 0; step < 25; step++) {
      chance.pick(switches)();
      clock.advance(100 + chance.below(900));
      sim.pump();
      const open = consumers.at(-1);
      if (open && sim.truth.deliveries.at(-1)?.closedAtUs === null) await allReceived();
      if (step % 3 === 2) {
        sim.faults.drop();
        await open?.closed;
      }
      if (open?.socket.readyState !== open?.socket.OPEN) {
        const last = parsed(received()).findLast(({ cursor }) => cursor !== null)?.cursor;
        consumers.push(await subscribe(jetstream, last ? { cursor: String(last) } : {}));
      }
    }
    sim.faults.resume();
    await allReceived();

    const distinct = new Map(received().map((frame) => [parsed([frame])[0]?.cursor ?? frame, frame]));
    const { notJson, noTime, resync: _, ...found } = countsOf([...distinct.values()]);
    const truth = sim.truth.deliveredBetween(noonUs - 3_600_000_000, clock.now() * 1000 + 60_000_001);
    expect(found).toEqual({ events: truth.events, metrics: truth.metrics });
    // Compare only whether there are frames without a number, because they cannot be distinguished from repeated
    // frames.
    expect(notJson + noTime > 0).toBe(truth.notJson + truth.noTime > 0);
  },
);
