import { expect, test } from 'vitest';
import { webRetryAfter } from './web-retry.ts';

const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;
const intervals = { retryMs: minute, refreshMs: day };
const refused = { kind: 'connect', code: 'ECONNREFUSED' } as const;
const unavailable = (retryAfterMs: number) => ({ kind: 'status', status: 503, retryAfterMs, error: null }) as const;

/** Returns the waits after the first failures. */
function waits(count: number, isInUse: boolean): number[] {
  return Array.from({ length: count }, (_, i) =>
    webRetryAfter({ failures: i + 1, isInUse, answer: refused }, intervals),
  );
}

test('the waits for a failing host of did:web double up to 64 minutes', () => {
  const minutes = [1, 2, 4, 8, 16, 32, 64, 64, 64].map((one) => one * minute);
  expect(waits(10, false)).toEqual([10 * second, ...minutes]);
  expect(webRetryAfter({ failures: 5_000, isInUse: false, answer: refused }, intervals)).toBe(64 * minute);
});

test('a labeler in use waits a minute in the first 15 minutes of an outage, and then 15 minutes', () => {
  expect(waits(18, true)).toEqual([
    ...Array.from({ length: 15 }, () => minute),
    ...[15, 15, 15].map((n) => n * minute),
  ]);
});

test.each([
  { isInUse: false, requested: second, wait: 10 * second },
  { isInUse: false, requested: 90 * minute, wait: 90 * minute },
  { isInUse: false, requested: 90 * day, wait: day },
  { isInUse: true, requested: 5 * minute, wait: 5 * minute },
  { isInUse: true, requested: day, wait: 15 * minute },
])('a Retry-After of $requested ms delays the read to $wait ms (in use: $isInUse)', ({ isInUse, requested, wait }) => {
  expect(webRetryAfter({ failures: 1, isInUse, answer: unavailable(requested) }, intervals)).toBe(wait);
});
