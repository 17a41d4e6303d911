import { expect, it } from 'vitest';
import { StoreError } from '../store/errors.ts';
import { isFatal, refusalOf } from './app.ts';

it.each(['damaged', 'io_failed', 'unexpected'] as const)(
  'the store error %s results in a 503 response and an alarm for the operator',
  (code) => {
    const error = new StoreError(
      code,
      'days/2024-10-04.sealed.sqlite: block 7 of observation differs from what was sealed',
    );
    expect(refusalOf(error)).toEqual({ code: 'store_busy', retryAfterSeconds: expect.any(Number) });
    expect(isFatal(error)).toBe(true);
  },
);

it('a busy store results in a 503 response without an alarm for the operator', () => {
  const error = new StoreError('busy', 'another process holds a file');
  expect(refusalOf(error)).toEqual({ code: 'store_busy', retryAfterSeconds: expect.any(Number) });
  expect(isFatal(error)).toBe(false);
});
