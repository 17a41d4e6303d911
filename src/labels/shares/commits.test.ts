import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreError } from '../../store/errors.ts';
import { changedGaps } from '../../store/gaps.ts';
import type { GapChange, StoredGap } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { wait } from '../clock/clock.ts';
import { GapWriter, GroupedCommits } from './commits.ts';

let stop: AbortController;
let commits: number[][];
let breaks: number[];
/** Time of the queues' clock in milliseconds; only commits advance it. */
let nowMs: number;

beforeEach(() => {
  stop = new AbortController();
  commits = [];
  breaks = [];
  nowMs = 0;
});
afterEach(() => stop.abort());

interface QueueOptions {
  readonly bytes?: number;
  /** Duration of a commit, in milliseconds. */
  readonly commitMs?: number;
  /** Duration of each break in milliseconds, regardless of the requested duration. */
  readonly breakMs?: number;
  readonly commit?: (changes: readonly number[]) => void;
}

/**
 * Creates a queue of numbers. The result of a number is true if the number is even. Numbers from 10,000 on belong to
 * seeded labelers, and the others to new labelers.
 */
function queueOf({ bytes = 1, commitMs = 0, breakMs = 0, commit = () => undefined }: QueueOptions = {}) {
  return new GroupedCommits<number, boolean>({
    bytesOf: () => bytes,
    shareOf: (change) => {
      const source = `did:web:${change}.example`;
      return { priority: change >= 10_000 ? 'seeded' : 'new', domain: source, source };
    },
    signal: stop.signal,
    wait: (ms, signal) => {
      breaks.push(ms);
      return wait(breakMs, signal);
    },
    monotonic: () => nowMs,
    commit: async (changes) => {
      commit(changes);
      nowMs += commitMs;
      commits.push([...changes]);
      return changes.map((change) => change % 2 === 0);
    },
  });
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe('grouped commits', () => {
  test('combine the changes of one turn in one commit, and return the result of each change', async () => {
    const queue = queueOf();
    expect(await Promise.all([1, 2, 3].map((change) => queue.put(change)))).toEqual([false, true, false]);
    expect(commits.map((group) => group.toSorted())).toEqual([[1, 2, 3]]);
  });

  test('store 2,500 changes of a single turn in 25 commits', async () => {
    const queue = queueOf();
    await Promise.all(numbers(2_500).map((change) => queue.put(change)));
    expect(commits.map(({ length }) => length)).toEqual(Array.from({ length: 25 }, () => 100));
    expect(commits.flat().toSorted((a, b) => a - b)).toEqual(numbers(2_500));
  });

  test('let timers run between two commits', async () => {
    const order: string[] = [];
    const queue = queueOf({
      breakMs: 1,
      commit: () => {
        order.push('commit');
        setTimeout(() => order.push('timer'), 0);
      },
    });
    await Promise.all(numbers(300).map((change) => queue.put(change)));
    expect(order.slice(0, 5)).toEqual(['commit', 'timer', 'commit', 'timer', 'commit']);
  });

  test('store the changes of a seeded labeler before most of the earlier changes of new labelers', async () => {
    const queue = queueOf();
    await Promise.all([...numbers(900), 10_000, 10_001].map((change) => queue.put(change)));
    expect(commits.findIndex((group) => group.includes(10_001))).toBe(0);
  });

  test('store at most 2 MiB in one commit, unless a single change is larger', async () => {
    for (const [bytes, sizes] of [
      [1024 * 1024, [2, 2, 1]],
      [3 * 1024 * 1024, [1, 1, 1, 1, 1]],
    ] as const) {
      commits = [];
      const queue = queueOf({ bytes });
      await Promise.all(numbers(5).map((change) => queue.put(change)));
      expect(commits.map(({ length }) => length)).toEqual(sizes);
    }
  });

  test('pause after a commit for four times as long as the commit took, but for at most two seconds', async () => {
    const queue = queueOf({ commitMs: 50 });
    await queue.put(1);
    await expect.poll(() => breaks.length).toBe(1);
    const slow = queueOf({ commitMs: 600 });
    await slow.put(1);
    await expect.poll(() => breaks.length).toBe(2);
    expect(breaks).toEqual([200, 2_000]);
  });

  test('are reported as full while 1,000 changes or 8 MiB are waiting', async () => {
    const queue = queueOf();
    const large = queueOf({ bytes: 4 * 1024 * 1024 });
    const waiting: Promise<boolean | null>[] = numbers(999).map((change) => queue.put(change));
    waiting.push(large.put(1));
    expect([queue.isFull, large.isFull]).toEqual([false, false]);
    waiting.push(queue.put(1), large.put(1));
    expect([queue.isFull, large.isFull]).toEqual([true, true]);
    await Promise.all(waiting);
    expect([queue.isFull, large.isFull]).toEqual([false, false]);
  });

  test('reject exactly the changes whose commit the store rejects permanently', async () => {
    const queue = queueOf({
      commit: (changes) => {
        if (changes.includes(0)) throw new StoreError('damaged', 'the files are inconsistent');
      },
    });
    const results = await Promise.allSettled(numbers(101).map((change) => queue.put(change)));
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(100);
    expect(results[0]?.status).toBe('rejected');
    expect(commits.map(({ length }) => length)).toEqual([1]);
  });

  test('repeat a commit that the store rejects temporarily, after at least half a second', async () => {
    let attempts = 0;
    const queue = queueOf({
      commit: () => {
        attempts += 1;
        if (attempts < 3) throw new StoreError('disk_full', 'no space is left');
      },
    });
    expect(await Promise.all([1, 2].map((change) => queue.put(change)))).toEqual([false, true]);
    expect(commits).toEqual([[1, 2]]);
    expect(Math.min(...breaks.slice(0, 2))).toBeGreaterThanOrEqual(500);
  });

  test.each(['before a commit', 'during a commit', 'in a break', 'before a repetition'])(
    'resolve the remaining changes with null if the instrument stops %s',
    async (when) => {
      const queue = queueOf({
        breakMs: when === 'in a break' || when === 'before a repetition' ? 3_600_000 : 0,
        commit: () => {
          if (when === 'during a commit') stop.abort();
          if (when === 'before a repetition') throw new StoreError('disk_full', 'no space is left');
        },
      });
      const waiting = numbers(150).map((change) => queue.put(change));
      if (when === 'before a commit') stop.abort();
      if (when === 'in a break' || when === 'before a repetition') {
        await expect.poll(() => breaks.length).toBe(1);
        stop.abort();
      }
      const results = await Promise.all([...waiting, queue.put(1)]);
      const stored = when === 'during a commit' || when === 'in a break' ? 100 : 0;
      expect(results.filter((result) => result !== null)).toHaveLength(stored);
      expect(commits.flat()).toHaveLength(stored);
    },
  );
});

function writer() {
  const state = { now: 0, fails: false };
  const commits: (readonly GapChange[])[] = [];
  const gaps = new GapWriter({
    store: {
      changeGaps: (changes) => {
        if (state.fails) return Promise.reject(new StoreError('disk_full', 'no room'));
        commits.push(changes);
        return Promise.resolve();
      },
    },
    monotonic: () => state.now,
    minIntervalMs: 10_000,
  });
  return { state, commits, gaps };
}

const gap = (source: string, start: number, end: number, reason: StoredGap['reason'] = 'cursor_reset'): StoredGap => ({
  source,
  start: micros(start),
  end: micros(end),
  reason,
});

test('repeated records of a growing gap are written as one gap, and gaps of several sources share a commit', async () => {
  const { gaps, commits } = writer();
  for (let end = 1; end <= 1_000; end += 1) gaps.record(gap('a', 0, end));
  gaps.record(gap('b', 5, 6));
  await gaps.tick();
  expect(commits).toEqual([
    [
      { kind: 'record', gap: gap('a', 0, 1_000) },
      { kind: 'record', gap: gap('b', 5, 6) },
    ],
  ]);
});

test('gaps of one source are written at most every ten seconds, and immediately before a position of the source', async () => {
  const { gaps, commits, state } = writer();
  for (let second = 0; second < 60; second += 1) {
    state.now = second * 1_000_000;
    gaps.record(gap('a', second * 10, second * 10 + 5));
    await gaps.tick();
  }
  expect(commits).toHaveLength(6);
  gaps.record(gap('a', 900, 905));
  gaps.record(gap('b', 1, 2));
  await gaps.flush(['a', 'c']);
  expect(commits.at(-1)?.every((change) => change.gap.source === 'a')).toBe(true);
  expect(commits.at(-1)?.at(-1)).toEqual({ kind: 'record', gap: gap('a', 900, 905) });
});

test('records and withdrawals of gaps keep their order', async () => {
  const { gaps, commits } = writer();
  gaps.record(gap('a', 0, 10));
  gaps.withdraw(gap('a', 0, 10));
  gaps.record(gap('a', 5, 10));
  await gaps.flush();
  expect(commits.flat().map(({ kind }) => kind)).toEqual(['record', 'withdraw', 'record']);
});

test('gap changes that the store rejected stay pending and are written before later changes', async () => {
  const { gaps, commits, state } = writer();
  gaps.record(gap('a', 0, 1));
  state.fails = true;
  const failing = gaps.flush(['a']);
  gaps.withdraw(gap('a', 0, 1));
  const next = gaps.flush(['a']);
  await expect(failing).rejects.toMatchObject({ code: 'disk_full' });
  // The position must not be committed before the gap that it implies.
  await expect(next).rejects.toMatchObject({ code: 'disk_full' });
  state.fails = false;
  await gaps.flush();
  expect(commits.flat().map(({ kind }) => kind)).toEqual(['record', 'withdraw']);
});

test('pending changes beyond the maximum become one gap that covers the time of all pending gaps', async () => {
  const { gaps, commits } = writer();
  for (let i = 0; i < 65; i += 1) gaps.record(gap('a', i * 10, i * 10 + 5));
  await gaps.flush();
  expect(commits.flat()).toEqual([{ kind: 'record', gap: gap('a', 0, 645, 'unknown') }]);
});

/** Returns the gaps of a store with one source after the changes. */
function storedAfter(changes: readonly GapChange[]): StoredGap[] {
  return changes.reduce<StoredGap[]>(changedGaps, []);
}

/** Creates the n-th of many separate gaps. */
const nth = (n: number): StoredGap => gap('a', n * 10, n * 10 + 5);

test('many withdrawals of pending gaps neither lose nor add a gap, because a gap and its withdrawal are removed together', async () => {
  const { gaps, commits } = writer();
  const changes: GapChange[] = [];
  for (let n = 0; n < 200; n += 1) {
    changes.push({ kind: 'record', gap: nth(n) });
    // Withdraw the end of every gap, and then the rest of every gap except every twentieth gap.
    changes.push({ kind: 'withdraw', gap: gap('a', n * 10 + 3, n * 10 + 5) });
    if (n % 20 !== 0) changes.push({ kind: 'withdraw', gap: nth(n) });
  }
  for (const change of changes) gaps.change(change);
  await gaps.flush();
  expect(commits.flat().length).toBeLessThanOrEqual(64);
  expect(storedAfter(commits.flat())).toEqual(storedAfter(changes));
  expect(storedAfter(changes)).toHaveLength(10);
});

test('if too many withdrawals of stored gaps are pending, the oldest withdrawals are dropped, so that their gaps remain recorded', async () => {
  const { gaps, commits } = writer();
  const stored: GapChange[] = Array.from({ length: 100 }, (_, n) => ({ kind: 'record', gap: nth(n) }));
  for (let n = 0; n < 100; n += 1) gaps.withdraw(nth(n));
  await gaps.flush();
  expect(commits.flat()).toHaveLength(64);
  expect(storedAfter([...stored, ...commits.flat()])).toEqual(Array.from({ length: 36 }, (_, n) => nth(n)));
});

test('a gap that is recorded after the maximum number of withdrawals is not joined with the withdrawn gaps', async () => {
  const { gaps, commits } = writer();
  const stored: GapChange[] = Array.from({ length: 64 }, (_, n) => ({ kind: 'record', gap: nth(n) }));
  for (let n = 0; n < 64; n += 1) gaps.withdraw(nth(n));
  gaps.record(nth(90));
  await gaps.flush();
  expect(storedAfter([...stored, ...commits.flat()])).toEqual([nth(0), nth(90)]);
});

test('the gap writer ignores an empty gap', async () => {
  const { gaps, commits } = writer();
  gaps.record(gap('a', 5, 5));
  gaps.withdraw(gap('a', 7, 6));
  await gaps.flush();
  expect(commits).toEqual([]);
});

test('gap changes that are added during a failing write are written after the changes of that write', async () => {
  const kinds: string[] = [];
  const failing = Promise.withResolvers<void>();
  let writes = 0;
  const gaps = new GapWriter({
    store: {
      changeGaps: (changes) => {
        writes += 1;
        if (writes === 1) return failing.promise;
        kinds.push(...changes.map(({ kind }) => kind));
        return Promise.resolve();
      },
    },
    monotonic: () => 0,
    minIntervalMs: 0,
  });
  gaps.record(gap('a', 0, 1));
  const first = gaps.flush();
  await expect.poll(() => writes).toBe(1);
  gaps.withdraw(gap('a', 0, 1));
  failing.reject(new Error('full'));
  await expect(first).rejects.toThrow('full');
  await gaps.flush();
  expect(kinds).toEqual(['record', 'withdraw']);
});

test('a change contains the gap limit of its labeler if the labeler has one, and no limit if the change belongs to the instrument', async () => {
  const commits: (readonly GapChange[])[] = [];
  const gaps = new GapWriter({
    store: { changeGaps: (changes) => Promise.resolve(void commits.push(changes)) },
    monotonic: () => 0,
    minIntervalMs: 10_000,
    maxGapsOf: (source) => (source === 'new' ? 64 : undefined),
  });
  gaps.record(gap('new', 0, 1));
  gaps.record(gap('seeded', 0, 1));
  gaps.record({ ...gap('', 0, 1), source: null });
  await gaps.tick();
  expect(commits.flat().map(({ maxGaps }) => maxGaps)).toEqual([64, undefined, undefined]);
});
