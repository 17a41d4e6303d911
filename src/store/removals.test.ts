import { expect, it } from 'vitest';
import type { Purge } from './removals.ts';
import { removalSentence } from './removals.ts';
import { day, micros } from './time.ts';

const at = (days: number) => micros(20_000 * day + days * day);
const purge = (change: Partial<Purge>): Purge => ({
  ...{ source: 'did:web:a.example', requestedAt: at(0), completedAt: at(1), rows: 5, daysLeft: 0 },
  ...change,
});

it('the removal sentence contains the number of labelers and the day, but no labeler', () => {
  expect(removalSentence([])).toBeNull();
  expect(removalSentence([purge({ rows: 0 })])).toBeNull();
  expect(removalSentence([purge({})])).toBe(
    "Rows of 1 labeler were removed on the operator's request, the last on 2024-10-05.",
  );
  expect(removalSentence([purge({}), purge({ completedAt: at(3) }), purge({ completedAt: null, rows: 2 })])).toBe(
    "Rows of 2 labelers were removed on the operator's request, the last on 2024-10-07. " +
      "Rows of 1 labeler are being removed on the operator's request, since 2024-10-04.",
  );
});
