import { afterAll, describe, expect, test } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { minutesOf, readStore } from '../../harness/weather/weather-kept.ts';
import { type Station, startMs, startStation } from '../../harness/weather/weather-station.ts';
import { openWindowStore } from '../../src/weather/window/window-store.ts';

/** A weather host that lies in every field, on a clock that stops where the lies do: what follows is exact. */

const minuteUs = 60_000_000;
const ending: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(ending.splice(0).map((end) => end())));

/** A clock that runs at a speed until it is stopped, and is then moved by hand; it never runs backwards. */
interface StoppableClock {
  now(): number;
  run(speed: number): void;
  advance(milliseconds: number): void;
}

function stoppableClock(speed: number): StoppableClock {
  let at = { base: Date.now(), shown: startMs, speed };
  const now = (): number => at.shown + (Date.now() - at.base) * at.speed;
  return {
    now,
    run: (next) => {
      at = { base: Date.now(), shown: Math.ceil(now()), speed: next };
    },
    advance: (milliseconds) => {
      at = { ...at, shown: at.shown + milliseconds };
    },
  };
}

const seen = ({ told }: Station): number => Object.values(told.outcomes).reduce((sum, n) => sum + n, 0);
const sent = ({ sim }: Station): number => sim.truth.deliveries.reduce((sum, { frames }) => sum + frames, 0);

/** Turns of the event loop, host and instrument in it, after which nothing was under way. */
const quietTurns = 60;

/** Waits until the host has sent, and the instrument has taken, all that happened before the clock stopped. */
async function settled(station: Station): Promise<void> {
  let last = -1;
  let turns = 0;
  await until(
    'nothing more comes',
    () => {
      const now = seen(station) + sent(station);
      turns = now === last ? turns + 1 : 0;
      last = now;
      return turns > quietTurns;
    },
    60_000,
  );
}

/** Starts the instrument again on a stopped clock. */
async function restarted(station: Station): Promise<void> {
  const { live } = station.told.connections;
  await station.restart();
  await until('it is connected', () => station.told.connections.live > live);
  await settled(station);
}

/** Lets time pass on a stopped clock, second by second, each once the events of the last one are committed. */
async function passes(station: Station, clock: StoppableClock, seconds: number): Promise<void> {
  const before = { seen: seen(station), sent: sent(station) };
  const fromUs = clock.now() * 1000;
  for (let second = 1; second <= seconds; second += 1) {
    clock.advance(1000);
    const { events, notJson, noTime } = station.sim.truth.countsBetween(fromUs + 1, clock.now() * 1000);
    await until(
      `second ${second} is committed`,
      () =>
        sent(station) - before.sent >= events + notJson + noTime &&
        seen(station) - before.seen >= sent(station) - before.sent,
    );
  }
}

/** Every whole minute that begins a minute after the instant or later, as it was kept and as the host delivered it. */
function minutesAfter(station: Station, instantUs: number) {
  const kept = readStore(station.folder, station.artifact().source.endpoint);
  const from = Math.ceil((instantUs + minuteUs) / minuteUs) * minuteUs;
  const toUs = Math.min(kept.toUs, Math.floor(station.clock() * 1000));
  const whole = ({ startUs }: { startUs: number }): boolean => startUs >= from && startUs + minuteUs <= toUs;
  return {
    kept: minutesOf(kept).filter(whole),
    delivered: station.sim.truth
      .deliveredMinutes(from, toUs)
      .map(({ startUs, events, metrics }) => ({ startUs, events, metrics }))
      .filter(whole),
    watchedFromUs: kept.observed.findLast(({ to }) => to > from)?.from ?? Number.POSITIVE_INFINITY,
    rows: kept.rows.length,
    spans: kept.observed.length,
  };
}

describe.concurrent('a host that lies in every field for an hour', () => {
  test.each([
    { seqs: false, again: false },
    { seqs: true, again: false },
    { seqs: true, again: true },
  ])(
    'is counted again within a minute after it stops (seqs: $seqs, restarted: $again)',
    async ({ seqs, again }) => {
      const clock = stoppableClock(20);
      const station = await startStation({ clock: clock.now, sim: { seed: 3, rate: 10, seqCursors: seqs } });
      ending.push(station.end);
      await until('live events are counted', () => station.told.lagSeconds < 5);

      station.sim.faults.liar();
      clock.run(300);
      const over = clock.now() + 3_600_000;
      await until('an hour passes', () => clock.now() >= over, 60_000);
      clock.run(0);
      await settled(station);
      if (again) await station.weather().stop();
      station.sim.faults.honest();
      const stoppedUs = clock.now() * 1000;
      if (again) await restarted(station);
      await passes(station, clock, 240);
      await station.weather().stop();

      const { kept, delivered, watchedFromUs, rows, spans } = minutesAfter(station, stoppedUs);
      expect(delivered.length).toBeGreaterThanOrEqual(2);
      expect(kept).toEqual(delivered);
      expect(watchedFromUs).toBeLessThanOrEqual(stoppedUs + minuteUs);
      // A day of minutes, and what is within the clock's tolerance: the lies made nothing that outgrows it.
      expect(rows).toBeLessThan(1440 + 120);
      expect(spans).toBeLessThan(rows * 17);
      expect(station.lines.length).toBeLessThan(20_000);
    },
    180_000,
  );
});

describe.concurrent('a stored position that no host can have given', () => {
  const later = Date.parse('2135-01-01T00:00:00Z') * 1000;

  test.each([
    ['a number beyond all others', { kind: 'seq', value: Number.MAX_SAFE_INTEGER, timeUs: startMs * 1000 }],
    ['a number far ahead of the stream', { kind: 'seq', value: 900_000_000_000_000, timeUs: startMs * 1000 }],
    ['a time in 2135', { kind: 'time', value: later, timeUs: later }],
  ] as const)(
    '%s: counting resumes within a minute, with a gap',
    async (_, position) => {
      const clock = stoppableClock(20);
      const sim = { rate: 10, seqCursors: position.kind === 'seq' };
      const station = await startStation({ clock: clock.now, backfillHours: 0, sim });
      ending.push(station.end);
      clock.run(0);
      await station.weather().stop();
      const store = openWindowStore(station.folder);
      const { id, revision } = store.series(station.artifact().source.endpoint);
      store.commit({ series: id, after: revision, gains: [], live: { ...position, counted: 1 }, backfill: null });
      store.close();

      const beganUs = clock.now() * 1000;
      await restarted(station);
      await passes(station, clock, 240);
      await station.weather().stop();
      const { kept, delivered } = minutesAfter(station, beganUs);
      expect(delivered.length).toBeGreaterThanOrEqual(2);
      expect(kept).toEqual(delivered);
      expect(Date.parse(station.artifact().window.end)).toBeLessThan(clock.now() + 61_000);
    },
    120_000,
  );
});
