import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { now, viewOf } from '../../../harness/accounts/account-view.ts';
import type { AccountDay } from '../../store/counts.ts';
import { day, micros } from '../../store/time.ts';
import { createCursors } from '../cursor/cursor.ts';
import { downloadParts, downloadsOf } from './account.tsx';

const none = { applied: 0, removed: 0 };

function daysOf(rows: readonly (number | null)[]): AccountDay[] {
  return rows.map((n, i) => ({
    start: micros(i * day),
    end: micros((i + 1) * day),
    counts: n === null ? null : { rows: n, account: none, post: none, record: none },
  }));
}

describe('downloadParts', () => {
  it('returns one part if all rows fit into one download', () => {
    expect(downloadParts({ days: daysOf([3, 0, 7]) }, 10)).toEqual([{ start: 0, end: 3 * day, rows: 10 }]);
  });

  it('returns parts that each fit into one download, and that together cover the interval and contain every row', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 10 }), { minLength: 1, maxLength: 31 }), (rows) => {
        const parts = downloadParts({ days: daysOf(rows) }, 10) ?? [];
        expect(parts.every((part) => part.rows <= 10)).toBe(true);
        expect(parts.reduce((sum, part) => sum + part.rows, 0)).toBe(rows.reduce((a, b) => a + b, 0));
        expect(parts.map(({ start }) => start)).toEqual([0, ...parts.slice(0, -1).map(({ end }) => end)]);
        expect(parts.at(-1)?.end).toBe(rows.length * day);
      }),
    );
  });

  it.each([
    ['was not counted', [1, null]],
    ['has more rows than fit into one download', [1, 11]],
  ])('returns null if a day %s, so that the page never offers an incomplete list as complete', (_, rows) => {
    expect(downloadParts({ days: daysOf(rows) }, 10)).toBeNull();
  });
});

it('the cursor of a download contains the bounds of its page: the last row, the latest accepted page and the time', async () => {
  const cursors = createCursors([Buffer.alloc(32)]);
  const bounds = { maxExportRows: 10, pageRows: 5, ttlMs: 1_000 };
  const view = await viewOf({ labels: [{}] });
  const [only] = downloadsOf(view, '', { cursors, bounds }, now / 1000) ?? [];
  const cursor = cursors.open(only?.href.split('cursor=')[1] ?? '');
  expect(cursor?.snapshot).toMatchObject({
    frontier: view.frontier.end,
    observedThrough: view.frontier.observedThrough,
    createdAt: now / 1000,
    expiresAt: now / 1000 + 1_000,
  });
});
