import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type Consumer, countsOf, parsed, refusal, subscribe, times } from '../../harness/sim/consumer.ts';
import { type ManualClock, manualClock } from '../../sim/clock.ts';
import { createSim, type Sim, type SimOptions } from '../../sim/index.ts';

const noon = Date.UTC(2026, 6, 4, 12);
const noonUs = noon * 1000;
const running: Sim[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((sim) => sim.stop()));
});

interface Scene {
  readonly sim: Sim;
  readonly clock: ManualClock;
  readonly jetstream: string;
  /** Advances the clock. Resolves once the consumer has received every event since noon, and `more` further frames. */
  play(seconds: number, consumer: Consumer, more?: number): Promise<void>;
}

async function startScene(options: SimOptions = {}): Promise<Scene> {
  const clock = manualClock(noon);
  const sim = createSim({ seed: 11, seqCursors: true, clock: clock.now, ...options });
  running.push(sim);
  const { jetstream } = await sim.start();
  return {
    sim,
    clock,
    jetstream,
    async play(seconds, consumer, more = 0) {
      clock.advance(seconds * 1000);
      sim.pump();
      await consumer.received(happened(sim, clock) + more);
    },
  };
}

/** Returns the number of frames since noon. */
function happened(sim: Sim, clock: ManualClock): number {
  const { events, notJson, noTime } = sim.truth.countsBetween(noonUs + 1, clock.now() * 1000 + 1);
  return events + notJson + noTime;
}

function numbers({ frames }: Consumer): number[] {
  return parsed(frames).flatMap(({ cursor }) => (cursor === null ? [] : [cursor]));
}

function rising(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

/** Compares the record with the events received on any connection, each counted once by a full parse. */
function expectTruth({ sim, clock }: Scene, consumers: readonly Consumer[]): void {
  const once = new Map(
    consumers.flatMap(({ frames }) => parsed(frames).map((frame, at) => [frame.cursor, frames[at] ?? ''] as const)),
  );
  expect(sim.truth.deliveredBetween(noonUs - 7_200_000_000, clock.now() * 1000 + 1)).toEqual(
    countsOf([...once.values()]),
  );
}

describe('a dropped socket', () => {
  it('ends without a close frame after every delivered frame', async () => {
    const scene = await startScene();
    const consumer = await subscribe(scene.jetstream);
    await scene.play(2, consumer);
    expect(scene.sim.faults.drop().connections).toEqual([1]);
    expect(await consumer.closed).toBe(1006);
    expectTruth(scene, [consumer]);
    expect(scene.sim.faults.fired.drop).toBe(1);
  });

  it('does not deliver the frame in which it is dropped', async () => {
    const scene = await startScene();
    const consumer = await subscribe(scene.jetstream);
    await scene.play(2, consumer);
    scene.sim.faults.drop({ how: 'mid_frame' });
    await consumer.closed;
    expectTruth(scene, [consumer]);
  });

  it('can be resumed by cursor without loss', async () => {
    const scene = await startScene();
    const first = await subscribe(scene.jetstream);
    await scene.play(2, first);
    scene.sim.faults.drop({ how: 'reset' });
    await first.closed;
    scene.clock.advance(30_000);
    const second = await subscribe(scene.jetstream, { cursor: String(numbers(first).at(-1)) });
    await second.received(happened(scene.sim, scene.clock) - first.frames.length + 1);
    expectTruth(scene, [first, second]);
    expect(scene.sim.truth.delivered()).toHaveLength(1);
  });
});

describe('a silent period', () => {
  it('delivers nothing, responds to pings, and delivers the events of that time afterwards', async () => {
    const scene = await startScene();
    const consumer = await subscribe(scene.jetstream);
    await scene.play(1, consumer);
    const before = consumer.frames.length;
    scene.sim.faults.silence();
    scene.clock.advance(20_000);
    scene.sim.pump();
    consumer.socket.ping();
    await once(consumer.socket, 'pong');
    expect(consumer.frames).toHaveLength(before);
    scene.sim.faults.resume();
    await scene.play(1, consumer);
    expectTruth(scene, [consumer]);
    expect(scene.sim.faults.fired.silence).toBe(1);
  });
});

describe('a half-open socket', () => {
  it('responds to neither pings nor a close frame, and stays open', async () => {
    const scene = await startScene();
    const consumer = await subscribe(scene.jetstream);
    await scene.play(1, consumer);
    scene.sim.faults.halfOpen();
    let answered = false;
    consumer.socket.once('pong', () => {
      answered = true;
    });
    consumer.socket.ping();
    consumer.socket.close();
    scene.clock.advance(5000);
    const other = await subscribe(scene.jetstream);
    other.socket.ping();
    await once(other.socket, 'pong');
    expect([answered, consumer.socket.readyState]).toEqual([false, WebSocket.CLOSING]);
    expect(scene.sim.truth.deliveries.map(({ closedAtUs }) => closedAtUs)).toEqual([null, null]);
    consumer.socket.terminate();
    expect(scene.sim.faults.fired.half_open).toBe(1);
  });
});

it('a slow stream sends a limited number of frames per second without losing a frame', async () => {
  const scene = await startScene();
  const consumer = await subscribe(scene.jetstream);
  await scene.play(1, consumer);
  const before = consumer.frames.length;
  scene.sim.faults.slow({ framesPerSecond: 50 });
  for (let second = 0; second < 4; second++) {
    scene.clock.advance(1000);
    await consumer.received(before + 50 * (second + 1) - 5);
  }
  expect(consumer.frames.length).toBeLessThanOrEqual(before + 205);
  scene.sim.faults.resume();
  await scene.play(1, consumer);
  expectTruth(scene, [consumer]);
  expect(scene.sim.faults.fired.slow).toBe(1);
});

describe('skipped events', () => {
  it('are permanently withheld from every connection, including replays, and recorded as withheld', async () => {
    const scene = await startScene();
    const consumer = await subscribe(scene.jetstream);
    await scene.play(1, consumer);
    const { fromSeq, toSeq } = scene.sim.faults.skip({ seconds: 2 });
    await scene.play(4, consumer, (fromSeq ?? 0) - (toSeq ?? 0));
    const replay = await subscribe(scene.jetstream, { cursor: String(numbers(consumer)[0]) });
    await replay.received(consumer.frames.length);
    expect(replay.frames).toEqual(consumer.frames);
    const runs = scene.sim.truth.delivered();
    expect(runs.map((run) => [run.fromSeq, run.toSeq])).toEqual([
      [numbers(consumer)[0], fromSeq],
      [toSeq, (numbers(consumer).at(-1) ?? 0) + 1],
    ]);
    expect(scene.sim.truth.deliveredSeconds(noonUs, noonUs + 5_000_000)).toBeCloseTo(3, 1);
    expect(scene.sim.truth.countsBetween(noonUs + 1, noonUs + 5_000_001).events).toBe(
      consumer.frames.length + (toSeq ?? 0) - (fromSeq ?? 0),
    );
    expectTruth(scene, [consumer]);
    expect(scene.sim.faults.fired.skip).toBe(1);
  });
});

it('a repeat sends the last events again, and the record counts them once', async () => {
  const scene = await startScene();
  const consumer = await subscribe(scene.jetstream);
  await scene.play(2, consumer);
  const last = consumer.frames.slice(-100);
  scene.sim.faults.repeat({ events: 100 });
  await scene.play(1, consumer, 100);
  const at = consumer.frames.lastIndexOf(last[0] ?? '');
  expect(consumer.frames.slice(at, at + 100)).toEqual(last);
  expect(scene.sim.truth.deliveries[0]?.repeated).toBe(100);
  expect(scene.sim.truth.deliveries[0]?.frames).toBe(consumer.frames.length);
  expectTruth(scene, [consumer]);
  expect(scene.sim.faults.fired.repeat).toBe(1);
});

describe('the cutover from replay to live', () => {
  it('can be reordered, so that newer events precede older ones but none is missing', async () => {
    const scene = await startScene();
    scene.sim.faults.reorderAtCutover({ events: 60 });
    const consumer = await subscribe(scene.jetstream, { cursor: String(noonUs + 1 - 10_000_000) });
    const { events } = scene.sim.truth.countsBetween(noonUs + 1 - 10_000_000, noonUs + 1);
    await consumer.received(events);
    const [first = 0] = numbers(consumer);
    const expected = rising(first, first + events);
    expect(numbers(consumer)).toEqual([...expected.slice(0, -60), ...expected.slice(-30), ...expected.slice(-60, -30)]);
    expectTruth(scene, [consumer]);
    expect(scene.sim.faults.fired.reorder_at_cutover).toBe(1);
  });

  it('can lose events, so that older events are not sent and the record shows the omission', async () => {
    const scene = await startScene();
    scene.sim.faults.reorderAtCutover({ events: 60, lose: true });
    const consumer = await subscribe(scene.jetstream, { cursor: String(noonUs + 1 - 10_000_000) });
    await consumer.received(scene.sim.truth.countsBetween(noonUs + 1 - 10_000_000, noonUs + 1).events - 30);
    expectTruth(scene, [consumer]);
    expect(scene.sim.truth.delivered()).toHaveLength(2);
  });
});

describe('cursors', () => {
  it('can be moved back once, so that one replay begins up to an hour before its cursor', async () => {
    const scene = await startScene({ rate: 10 });
    scene.sim.faults.replayEarlier({ seconds: 3600 });
    const consumer = await subscribe(scene.jetstream, { cursor: String(noonUs) });
    await consumer.received(1);
    expect(times(consumer.frames)[0]).toBeLessThan(noonUs - 3_590_000_000);
    const next = await subscribe(scene.jetstream, { cursor: String(noonUs - 1_000_000) });
    await next.received(1);
    expect(times(next.frames)[0]).toBeGreaterThanOrEqual(noonUs - 1_000_000);
    expect(scene.sim.faults.fired.replay_earlier).toBe(1);
  });

  it('can be clamped, so that an old cursor is moved forward without a notice', async () => {
    const scene = await startScene();
    scene.sim.faults.clampCursor({ seconds: 5 });
    const consumer = await subscribe(scene.jetstream, { cursor: String(noonUs - 60_000_000) });
    await consumer.received(scene.sim.truth.countsBetween(noonUs - 5_000_000, noonUs + 1).events);
    expect(times(consumer.frames)[0]).toBeGreaterThanOrEqual(noonUs - 5_000_000);
    expect(scene.sim.faults.fired.clamp_cursor).toBe(1);
    expectTruth(scene, [consumer]);
  });

  it('can be treated as if they were in the future, so that nothing is replayed', async () => {
    const scene = await startScene();
    scene.sim.faults.futureCursor();
    const consumer = await subscribe(scene.jetstream, { cursor: String(noonUs - 60_000_000) });
    await scene.play(1, consumer);
    expect(times(consumer.frames)[0]).toBeGreaterThan(noonUs);
    expect(scene.sim.faults.fired.future_cursor).toBe(1);
    expectTruth(scene, [consumer]);
  });
});

it('the events of a batch share one time, both live and in a replay from within the batch', async () => {
  const scene = await startScene();
  const consumer = await subscribe(scene.jetstream);
  const { fromSeq, toSeq } = scene.sim.faults.batchTime({ size: 25, seconds: 2 });
  await scene.play(3, consumer);
  const all = times(consumer.frames);
  expect(all).toEqual(all.toSorted((one, other) => Number(one) - Number(other)));
  const batches = [...Map.groupBy(all.slice(0, (toSeq ?? 0) - (fromSeq ?? 0)), (time) => time).values()];
  expect(batches.filter((batch) => batch.length === 25).length).toBeGreaterThan(batches.length - 4);
  const replay = await subscribe(scene.jetstream, { cursor: String(all[40]) });
  await replay.received(consumer.frames.length - 25);
  expect(replay.frames).toEqual(consumer.frames.slice(25));
  expectTruth(scene, [consumer]);
  expect(scene.sim.faults.fired.batch_time).toBe(1);
});

describe('injected frames', () => {
  it('can be malformed in every variant, and are counted by the resulting kind', async () => {
    const scene = await startScene();
    const consumer = await subscribe(scene.jetstream);
    scene.sim.faults.malformed({ events: 42 });
    await scene.play(3, consumer);
    const truth = scene.sim.truth.countsBetween(noonUs + 1, noonUs + 3_000_001);
    expect([truth.notJson, truth.noTime]).toEqual([20, 22]);
    expect(countsOf(consumer.frames)).toEqual(truth);
    expect(scene.sim.truth.deliveredBetween(noonUs + 1, noonUs + 3_000_001)).toEqual(truth);
    expect(scene.sim.faults.fired.malformed).toBe(1);
  });

  it('can have kinds, operations and shapes that do not occur in ordinary traffic', async () => {
    const scene = await startScene();
    const consumer = await subscribe(scene.jetstream);
    scene.sim.faults.unknown({ events: 150 });
    await scene.play(3, consumer);
    const truth = scene.sim.truth.countsBetween(noonUs + 1, noonUs + 3_000_001);
    expect(Object.entries(truth.metrics).filter(([, count]) => count === 0)).toEqual([]);
    expect(countsOf(consumer.frames)).toEqual(truth);
    expect(scene.sim.faults.fired.unknown).toBe(1);
  });

  it('can be huge, as valid posts of the requested size', async () => {
    const scene = await startScene();
    const consumer = await subscribe(scene.jetstream);
    scene.sim.faults.huge({ bytes: 3_000_000, events: 2 });
    await scene.play(2, consumer);
    const sizes = consumer.frames.slice(0, 3).map((frame) => Buffer.byteLength(frame));
    expect(sizes.map((size) => Math.round(size / 1_000_000))).toEqual([3, 3, 0]);
    expectTruth(scene, [consumer]);
    expect(scene.sim.faults.fired.huge).toBe(1);
  });

  it('are sent again in a replay', async () => {
    const scene = await startScene();
    const live = await subscribe(scene.jetstream);
    scene.sim.faults.malformed({ events: 5 });
    scene.sim.faults.unknown({ events: 5, variants: ['sync'] });
    await scene.play(2, live);
    const replay = await subscribe(scene.jetstream, { cursor: String(noonUs + 1) });
    await replay.received(live.frames.length);
    expect(replay.frames).toEqual(live.frames);
  });
});

it('a host refuses a given number of handshakes with a status', async () => {
  const scene = await startScene();
  scene.sim.faults.refuse({ status: 503, times: 2 });
  expect([await refusal(scene.jetstream), await refusal(scene.jetstream)]).toEqual([503, 503]);
  const consumer = await subscribe(scene.jetstream);
  await scene.play(1, consumer);
  expect(scene.sim.faults.fired.refuse).toBe(2);
});
