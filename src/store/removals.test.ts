import { expect, it } from 'vitest';
import type { Purge } from './removals.ts';
import { removalSentence, removedRowsSentence, spaceRemovalSentence } from './removals.ts';
import { day, micros } from './time.ts';

const at = (days: number) => micros(20_000 * day + days * day);
const purge = (change: Partial<Purge>): Purge => ({
  ...{ source: 'did:web:a.example', requestedAt: at(0), completedAt: at(1), rows: 5, daysLeft: 0 },
  ...change,
});

it('the removal sentence states the number of labelers and the day, but names no labeler', () => {
  expect(removalSentence([])).toBeNull();
  expect(removalSentence([purge({ rows: 0 })])).toBeNull();
  expect(removalSentence([purge({})])).toBe(
    "Rows of 1 labeler were removed at the operator's request, the last on 2024-10-05.",
  );
  expect(removalSentence([purge({}), purge({ completedAt: at(3) }), purge({ completedAt: null, rows: 2 })])).toBe(
    "Rows of 2 labelers were removed at the operator's request, the last on 2024-10-07. " +
      "Rows of 1 labeler are being removed at the operator's request (since 2024-10-04).",
  );
});

it('the sentence about spaces states the number of labels, the day, and whether the removal is incomplete', () => {
  const reason = 'inside spaces, whose records are not public. An earlier version accepted them.';
  expect(spaceRemovalSentence(null)).toBeNull();
  expect(spaceRemovalSentence({ rows: 1, completedAt: at(0) })).toBe(
    `Removed by 2024-10-04: 1 label on a subject ${reason}`,
  );
  expect(spaceRemovalSentence({ rows: 7, completedAt: null })).toBe(
    `Removed so far (the removal is incomplete): 7 labels on subjects ${reason}`,
  );
});

it('the sentences about requested removals and about spaces are joined', async () => {
  const store = (purges: Purge[], rows: number | null) => ({
    purges: () => Promise.resolve(purges),
    spaceRemoval: () => Promise.resolve(rows === null ? null : { rows, completedAt: at(0) }),
  });
  expect(await removedRowsSentence(store([], null))).toBeNull();
  expect(await removedRowsSentence(store([purge({})], 3))).toMatch(
    /^Rows of 1 labeler .*\. Removed by 2024-10-04: 3 labels /,
  );
});
