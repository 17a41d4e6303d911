import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { minutesOf, readStore } from '../../harness/weather/weather-kept.ts';
import { type Station, startMs, startStation } from '../../harness/weather/weather-station.ts';
import type { Wire } from '../../sim/events/wire.ts';
import { openWindowStore } from '../../src/weather/window/window-store.ts';

/**
 * Tests with a weather host that sends false values, or with a stored position that no host can have sent. The clock
 * stops when the false values stop, and all later counts must be exact.
 */

const dictionary = readFileSync(new URL('../fixtures/jetstream/dictionary.zstd', import.meta.url));
const minuteUs = 60_000_000;
const ending: (() => Promise<void>)[] = [];
afterAll(() => Promise.all(ending.splice(0).map((end) => end())));

/** A clock that runs at a given speed, can be stopped and then advanced by hand, and never runs backwards. */
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

/** Number of turns of the event loop without activity after which the host and the instrument count as idle. */
const quietTurns = 60;

/**
 * Waits until the host has sent, and the instrument has read, all events from before the clock was stopped. A false
 * frame may end the connection: the instrument then reads no event until it is connected again, however long that takes.
 */
async function settled(station: Station): Promise<void> {
  let last = -1;
  let turns = 0;
  await until('no further event arrives', () => {
    const now = seen(station) + sent(station);
    turns = now === last && station.told.isLive ? turns + 1 : 0;
    last = now;
    return turns > quietTurns;
  });
}

/** Restarts the instrument on a stopped clock. */
async function restarted(station: Station): Promise<void> {
  await station.restart();
  await settled(station);
}

/**
 * Advances a stopped clock second by second, waiting each time until the events of the previous second are committed.
 */
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
  // Late events from before the clock was stopped may have been counted above in place of the last events, which are
  // then still in transit.
  const lastUs = lastEventUs(station, fromUs, clock.now() * 1000);
  await until('the last events are committed', () => station.told.committedToUs >= lastUs);
}

/** Returns the time of the last event of an interval, or the start of an interval without events. */
function lastEventUs({ sim }: Station, fromUs: number, toUs: number): number {
  let [last, after] = [fromUs, toUs + 1];
  while (after - last > 1) {
    const middle = Math.floor((last + after) / 2);
    if (sim.truth.countsBetween(middle, toUs + 1).events > 0) last = middle;
    else after = middle;
  }
  return last;
}

/**
 * Returns every whole minute that begins at least a minute after `instantUs`, as stored and as delivered by the host.
 */
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

describe.concurrent('a host that sends false values in every field for an hour', () => {
  test.each<{ wire: Wire; seqs: boolean; again: boolean; compress: boolean }>([
    { wire: 'jetstream.legacy', seqs: false, again: false, compress: false },
    { wire: 'jetstream.legacy', seqs: true, again: false, compress: false },
    { wire: 'jetstream.legacy', seqs: true, again: true, compress: false },
    { wire: 'jetstream.subscribeEvents', seqs: true, again: false, compress: false },
    { wire: 'jetstream.subscribeEvents', seqs: true, again: true, compress: false },
    { wire: 'jetstream.subscribeEvents', seqs: true, again: false, compress: true },
    { wire: 'jetstream.subscribeEvents', seqs: true, again: true, compress: true },
  ])(
    'is counted exactly within a minute after the false values stop ($wire, seqs: $seqs, restarted: $again, compressed: $compress)',
    async ({ wire, seqs, again, compress }) => {
      const clock = stoppableClock(20);
      const zstdDictionary = compress ? { zstdDictionary: dictionary } : {};
      const sim = { seed: 3, rate: 10, seqCursors: seqs, ...zstdDictionary };
      // Only the live reader requests compression. A backfill can end before it has read all frames of the host, so the
      // test could not determine when the frames of a second have been read.
      const backfillHours = compress ? 0 : 0.05;
      const station = await startStation({ wire, compress, backfillHours, clock: clock.now, sim });
      ending.push(station.end);
      await until('live events are counted', () => station.told.lagSeconds < 5);

      station.sim.faults.liar();
      clock.run(300);
      const over = clock.now() + 3_600_000;
      await until('an hour passes', () => clock.now() >= over, 60_000);
      clock.run(0);
      await settled(station);
      const { parse_error, no_time_us, future, implausible } = station.told.outcomes;
      const noticed = seqs ? { parse_error, no_time_us, future, implausible } : { parse_error, no_time_us, future };
      for (const [outcome, frames] of Object.entries(noticed)) expect(frames, outcome).toBeGreaterThan(0);
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
      // Allow for the minutes of a day and of the clock tolerance. False values must not create more rows than that.
      expect(rows).toBeLessThan(1440 + 120);
      expect(spans).toBeLessThan(rows * 17);
      expect(station.lines.length).toBeLessThan(20_000);
    },
  );
});

describe.concurrent('a stored position that no host can have sent', () => {
  const later = Date.parse('2135-01-01T00:00:00Z') * 1000;

  test.each([
    ['a number greater than all others', { kind: 'seq', value: Number.MAX_SAFE_INTEGER, timeUs: startMs * 1000 }],
    ['a number far ahead of the stream', { kind: 'seq', value: 900_000_000_000_000, timeUs: startMs * 1000 }],
    ['a time in 2135', { kind: 'time', value: later, timeUs: later }],
  ] as const)(
    'is abandoned with a recorded gap, so that counting resumes within a minute (%s)',
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
  );
});
