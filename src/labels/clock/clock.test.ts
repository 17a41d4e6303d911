import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { hour, micros, minute, second } from '../../store/time.ts';
import { ClockWatch, repeat, stoppable, Turns } from './clock.ts';

const begun = 1_780_000_000 * second;

/** Creates two clocks that a test sets, and the watch that compares them. */
function clocks() {
  let wall = begun;
  let monotonic = 0;
  const watch = new ClockWatch({ wall: () => micros(wall), monotonic: () => monotonic });
  return {
    watch,
    pass(real: number, shown = real) {
      monotonic += real;
      wall += shown;
    },
    wall: () => micros(wall),
  };
}

describe('the clock watch', () => {
  test('reports no step while both clocks agree or drift slowly', () => {
    const { watch, pass } = clocks();
    for (let i = 0; i < 2_000; i++) {
      pass(10 * second, 10 * second + 5_000);
      expect(watch.look()).toBe(null);
    }
    expect(watch.doubtful).toBe(false);
  });

  test('reports a step forward as the skipped interval', () => {
    const { watch, pass } = clocks();
    pass(minute, minute + hour);
    expect(watch.look()).toEqual({ start: begun + minute, end: begun + minute + hour });
    expect(watch.look()).toBe(null);
    expect(watch.doubtful).toBe(true);
  });

  test('reports whole microseconds, even if the monotonic clock has fractions', () => {
    const { watch, pass } = clocks();
    pass(0.25, hour);
    expect(watch.look()).toEqual({ start: begun, end: begun + hour });
  });

  test('reports a step back as the repeated interval', () => {
    const { watch, pass } = clocks();
    pass(minute, minute - hour);
    expect(watch.look()).toEqual({ start: begun + minute - hour, end: begun + minute });
    expect(watch.doubtful).toBe(true);
  });

  test('reports a suspend, during which only the wall clock advanced', () => {
    const { watch, pass } = clocks();
    pass(0, 8 * hour);
    expect(watch.look()).toEqual({ start: begun, end: begun + 8 * hour });
  });

  test('tolerates a difference of at most one minute', () => {
    const { watch, pass } = clocks();
    pass(second, second + minute);
    expect(watch.look()).toBe(null);
    pass(second, second + 1);
    expect(watch.look()).not.toBe(null);
  });

  test('treats the clock as doubtful after an upstream contradicts a step, until an upstream agrees', () => {
    const { watch, pass, wall } = clocks();
    pass(0, hour);
    watch.look();
    watch.onUpstreamTime(micros(wall() - hour));
    expect(watch.doubtful).toBe(true);
    watch.onUpstreamTime(micros(wall() - minute));
    expect(watch.doubtful).toBe(false);
  });

  test('treats the clock as unconfirmed after a step until an upstream agrees', () => {
    const { watch, pass, wall } = clocks();
    expect([watch.confirmed, watch.doubtful]).toEqual([false, false]);
    watch.onUpstreamTime(micros(wall() - minute));
    expect(watch.confirmed).toBe(true);
    pass(0, hour);
    watch.look();
    expect(watch.confirmed).toBe(false);
    watch.onTrustedTime(wall(), wall());
    expect([watch.confirmed, watch.doubtful]).toEqual([true, false]);
  });

  test('trusts no time from a step on, which `look` still reports, until an upstream agrees', () => {
    const { watch, pass, wall } = clocks();
    pass(minute);
    expect(watch.undoubtedTime).toBe(begun + minute);
    pass(second, second + 3 * hour);
    expect(watch.undoubtedTime).toBe(null);
    expect(watch.look()).toEqual({ start: begun + minute + second, end: begun + minute + second + 3 * hour });
    expect(watch.undoubtedTime).toBe(null);
    pass(second, second - 3 * hour);
    watch.look();
    watch.onTrustedTime(wall(), wall());
    expect(watch.undoubtedTime).toBe(begun + minute + 2 * second);
  });

  test('treats an unconfirmed clock as doubtful if the response of an upstream contradicts it', () => {
    const { watch, wall } = clocks();
    watch.onUpstreamTime(micros(wall() - hour));
    expect(watch.doubtful).toBe(false);
    watch.onTrustedTime(micros(wall() - hour), wall());
    expect(watch.doubtful).toBe(true);
    watch.onUpstreamTime(wall());
    watch.onTrustedTime(micros(wall() - hour), wall());
    expect([watch.confirmed, watch.doubtful]).toEqual([true, false]);
  });

  test('compares the time in a response with the clock at the time of the request', () => {
    const { watch, pass, wall } = clocks();
    const askedAt = wall();
    pass(10 * minute);
    watch.onTrustedTime(micros(askedAt - minute - 1), askedAt);
    expect(watch.confirmed).toBe(false);
    watch.onTrustedTime(askedAt, askedAt);
    expect(watch.confirmed).toBe(true);
  });
});

/** Runs a task that fails once and then aborts; returns the log lines and the errors that were passed to `fail`. */
async function failingWith(error: Error) {
  const stop = new AbortController();
  const lines: [level: string, message: string][] = [];
  const log = {
    warn: (message: string) => void lines.push(['warn', message]),
    error: (message: string) => void lines.push(['error', message]),
  } as unknown as Log;
  const failures: unknown[] = [];
  let runs = 0;
  const work = async (): Promise<void> => {
    runs += 1;
    if (runs === 1) throw error;
    stop.abort();
  };
  await repeat(1, work, stop.signal, log, (failure) => failures.push(failure));
  return { lines, failures, runs };
}

test.each([
  ['a transient error of the store', new StoreError('disk_full', 'no space left')],
  ['an error that is not an error of the store', new TypeError('ours')],
])('a periodic task that fails with %s is retried, and the log states the retry', async (_, error) => {
  expect(await failingWith(error)).toEqual({
    lines: [['warn', 'a periodic task failed and will be retried']],
    failures: [],
    runs: 2,
  });
});

test('a periodic task that fails with a permanent error of the store is reported and logged as permanently failed', async () => {
  const error = new StoreError('damaged', 'the files are inconsistent');
  expect(await failingWith(error)).toMatchObject({
    lines: [['error', 'a periodic task failed permanently']],
    failures: [error],
  });
});

describe('stoppable work', () => {
  test('ends when its owner aborts it, without an effect on the outer signal', () => {
    const outer = new AbortController();
    const work = stoppable(outer.signal);
    expect(work.signal.aborted).toBe(false);
    work.abort();
    expect([work.signal.aborted, outer.signal.aborted]).toEqual([true, false]);
  });

  test('ends when the outer signal aborts, even if that happened before', () => {
    const outer = new AbortController();
    const before = stoppable(outer.signal);
    outer.abort();
    expect([before.signal.aborted, stoppable(outer.signal).signal.aborted]).toEqual([true, true]);
  });

  test('leaves no listener on the outer signal once it was aborted', () => {
    const outer = new AbortController();
    for (let i = 0; i < 100; i += 1) stoppable(outer.signal).abort();
    expect(getEventListeners(outer.signal, 'abort')).toEqual([]);
  });
});

test('a turn is over after two milliseconds, and the next turn begins after other work of the event loop', async () => {
  let now = 0;
  const turns = new Turns(() => now);
  now = 1;
  expect(turns.isOver).toBe(false);
  now = 2;
  expect(turns.isOver).toBe(true);
  let ran = false;
  setImmediate(() => {
    ran = true;
  });
  await turns.next();
  expect([ran, turns.isOver]).toEqual([true, false]);
});

test('work that takes longer than twenty seconds fails, so that the overview stops waiting for the labelers', async () => {
  let now = 0;
  const turns = new Turns(() => now);
  now = 19_999;
  await turns.next();
  now = 20_000;
  await expect(turns.next()).rejects.toThrow('longer than 20000 ms');
});
