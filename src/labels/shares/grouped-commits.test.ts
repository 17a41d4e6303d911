import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StoreError } from '../../store/errors.ts';
import { wait } from '../clock/clock.ts';
import { GroupedCommits } from './grouped-commits.ts';

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
