import { expect, test } from 'vitest';
import { StoreError } from '../../store/errors.ts';
import type { GapChange, StoredGap } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { GapWriter } from './gap-writer.ts';

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

test('pending changes beyond the maximum become one gap that covers all of them', async () => {
  const { gaps, commits } = writer();
  for (let i = 0; i < 65; i += 1) gaps.record(gap('a', i * 10, i * 10 + 5));
  await gaps.flush();
  expect(commits.flat()).toEqual([{ kind: 'record', gap: gap('a', 0, 645, 'unknown') }]);
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
