import { expect, test } from 'vitest';
import type { PriorityClass } from '../state/reading-state.ts';
import type { ShareKey } from './fair-queue.ts';
import { Pace, SourceUsage, sourceRates } from './pace.ts';

/** Creates a simulated clock whose waits advance it to the end of the shortest wait. */
function simulated() {
  let now = 0;
  const waits: { at: number; done: () => void }[] = [];
  const wait = (ms: number): Promise<void> =>
    new Promise((done) => {
      waits.push({ at: now + ms * 1_000, done });
    });
  const pass = async (until: number): Promise<void> => {
    for (;;) {
      await new Promise(setImmediate);
      waits.sort((a, b) => a.at - b.at);
      const [next] = waits;
      if (!next || next.at > until) break;
      waits.shift();
      now = Math.max(now, next.at);
      next.done();
    }
    now = Math.max(now, until);
  };
  return { monotonic: () => now, wait, pass };
}

const shareOf = (source: string): ShareKey => ({
  priority: source.startsWith('seed') ? 'seeded' : 'new',
  domain: source,
  source,
});
const never = new AbortController().signal;

type Rate = (typeof sourceRates)['new']['rows'];

function only(resource: keyof (typeof sourceRates)['new'], rate: Rate): typeof sourceRates {
  const rates = { ...sourceRates.new, [resource]: rate };
  return { seeded: rates, established: rates, new: rates };
}

test('a source is read immediately until its burst is used up, and then at its rate', async () => {
  const { monotonic, wait, pass } = simulated();
  const rates = only('controls', { perSecond: 1, burst: 3 });
  const pace = new Pace({ shareOf, monotonic, wait, usage: new SourceUsage(), rates });
  let frames = 0;
  const flood = async (): Promise<void> => {
    for (;;) {
      await pace.ready('a', never);
      frames += 1;
      pace.charge('a', { controls: 1 });
    }
  };
  void flood();
  await pass(0);
  expect(frames).toBe(4);
  await pass(60_000_000);
  expect(frames).toBe(64);
});

test('bytes beyond the burst throttle only their source', () => {
  const { monotonic, wait } = simulated();
  const pace = new Pace({ shareOf, monotonic, wait, usage: new SourceUsage() });
  pace.charge('a', { bytes: sourceRates.new.bytes.burst + 1 });
  expect([pace.isThrottled('a'), pace.isThrottled('b')]).toEqual([true, false]);
});

test('sources of a class that has used up its processor time take turns in fair order, and other classes do not wait', async () => {
  const { monotonic, wait, pass } = simulated();
  const free = { perSecond: 1e9, burst: 1e9 };
  const rates = only('cpuMs', free);
  const cpu: Readonly<Record<PriorityClass, Rate | null>> = {
    seeded: null,
    established: null,
    new: { perSecond: 100, burst: 100 },
  };
  const usage = new SourceUsage();
  const pace = new Pace({ shareOf, monotonic, wait, usage, rates, cpu });
  const read = async (source: string, cpuMs: number): Promise<void> => {
    for (;;) {
      await pace.ready(source, never);
      pace.charge(source, { cpuMs });
      // An honest source has at most one turn per millisecond.
      await wait(1);
    }
  };
  const heavy = Array.from({ length: 20 }, (_, i) => `heavy${i}`);
  for (const source of heavy) void read(source, 50);
  void read('light', 1);
  void read('seed', 1);
  await pass(20_000_000);
  const spent = heavy.reduce((sum, source) => sum + usage.of(source).cpuMs, 0);
  // The sum consists of the burst of 100 ms, 100 ms in each of 20 seconds, and the first turn of each source, because
  // no estimate exists for a first turn.
  expect(spent + usage.of('light').cpuMs).toBeLessThanOrEqual(100 + 2_000 + 21 * 50);
  expect(spent).toBeGreaterThan(1_500);
  // The source `light` gets every second turn, even if there are many other sources.
  const turns = { heavy: spent / 50, light: usage.of('light').cpuMs };
  expect(turns.light).toBeGreaterThan(0.5 * (turns.heavy - heavy.length));
  expect(usage.of('seed').cpuMs).toBeGreaterThan(9_000);
  expect(pace.throttled.seeded).toBe(0);
});

test('ready() stops waiting for the rate limit of a source when the signal aborts', async () => {
  const { monotonic } = simulated();
  const aborted = new AbortController();
  const wait = (_ms: number, signal: AbortSignal): Promise<void> =>
    signal.aborted
      ? Promise.resolve()
      : new Promise((done) => {
          signal.addEventListener('abort', () => done());
        });
  const pace = new Pace({ shareOf, monotonic, wait, usage: new SourceUsage() });
  pace.charge('a', { controls: 1_000 });
  const waiting = pace.ready('a', aborted.signal);
  expect(pace.throttled.new).toBe(1);
  aborted.abort();
  await waiting;
  expect(pace.throttled.new).toBe(0);
});

test('a source whose class changes while it waits is no longer throttled after the wait', async () => {
  const { monotonic, wait, pass } = simulated();
  let priority: PriorityClass = 'new';
  const rates = only('controls', { perSecond: 1, burst: 1 });
  const usage = new SourceUsage();
  const pace = new Pace({ shareOf: (source) => ({ ...shareOf(source), priority }), monotonic, wait, usage, rates });
  pace.charge('a', { controls: 3 });
  const ready = pace.ready('a', never);
  expect(pace.throttled).toEqual({ seeded: 0, established: 0, new: 1 });
  priority = 'established';
  pace.charge('a', { bytes: 1 });
  expect(pace.throttled).toEqual({ seeded: 0, established: 1, new: 0 });
  await pass(2_000_000);
  await ready;
  expect(pace.throttled).toEqual({ seeded: 0, established: 0, new: 0 });
});

test('a source whose class changes and changes back has no further burst, and its debt is paid in the meantime', async () => {
  const { monotonic, wait, pass } = simulated();
  let priority: PriorityClass = 'established';
  const rates = only('rows', { perSecond: 1, burst: 10 });
  const pace = new Pace({
    ...{ shareOf: (source) => ({ ...shareOf(source), priority }), monotonic, wait, usage: new SourceUsage(), rates },
  });
  const isThrottledAs = (one: PriorityClass): boolean => {
    priority = one;
    return pace.isThrottled('a');
  };
  pace.charge('a', { rows: 15 });
  expect((['established', 'new', 'established', 'new'] as const).map(isThrottledAs)).toEqual([
    ...[true, false],
    ...[true, false],
  ]);
  await pass(5_000_000);
  expect(isThrottledAs('established')).toBe(false);
});

test('an idle source accumulates at most its burst', async () => {
  const { monotonic, wait, pass } = simulated();
  const rates = only('rows', { perSecond: 10, burst: 20 });
  const pace = new Pace({ shareOf, monotonic, wait, usage: new SourceUsage(), rates });
  pace.charge('a', { rows: 1 });
  await pass(3_600_000_000);
  pace.charge('a', { rows: 20 });
  expect(pace.isThrottled('a')).toBe(false);
  pace.charge('a', { rows: 1 });
  expect(pace.isThrottled('a')).toBe(true);
});

const none = { bytesIn: 0, bytesStored: 0, rows: 0, cpuMs: 0, writes: 0, throttledMs: 0 };

test('the costs of a source are summed, and the list of sources is sorted by processor time', () => {
  const usage = new SourceUsage();
  usage.add('a', { bytesIn: 10, cpuMs: 1 });
  usage.add('a', { bytesStored: 5, rows: 2, cpuMs: 1, writes: 1 });
  usage.add('b', { cpuMs: 9, throttledMs: 7 });
  expect(usage.of('a')).toEqual({ ...none, bytesIn: 10, bytesStored: 5, rows: 2, cpuMs: 2, writes: 1 });
  expect(usage.of('c')).toEqual(none);
  expect(usage.list()).toEqual([
    { source: 'b', ...none, cpuMs: 9, throttledMs: 7 },
    { source: 'a', ...usage.of('a') },
  ]);
  expect(usage.list(1).map(({ source }) => source)).toEqual(['b']);
});

test('the source usage drops the cheapest half of the sources when the maximum number of sources is exceeded', () => {
  const usage = new SourceUsage(4);
  for (const [source, cpuMs] of [
    ['a', 4],
    ['b', 3],
    ['c', 2],
    ['d', 1],
    ['e', 5],
  ] as const)
    usage.add(source, { cpuMs });
  expect(usage.list().map(({ source }) => source)).toEqual(['e', 'a', 'b']);
});
