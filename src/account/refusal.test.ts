import { expect, it } from 'vitest';
import { StoreError } from '../store/errors.ts';
import { isFatal, refusalOf } from './app.ts';

it.each(['damaged', 'io_failed', 'misconfigured', 'unexpected'] as const)(
  'the store error %s is reported as store_busy and requires action by the operator',
  (code) => {
    const error = new StoreError(
      code,
      'days/2024-10-04.sealed.sqlite: block 7 of observation differs from what was sealed',
    );
    expect(refusalOf(error)).toEqual({ code: 'store_busy', retryAfterSeconds: expect.any(Number) });
    expect(isFatal(error)).toBe(true);
  },
);

it('the store error busy is reported as store_busy but requires no action by the operator', () => {
  const error = new StoreError('busy', 'another process holds a file');
  expect(refusalOf(error)).toEqual({ code: 'store_busy', retryAfterSeconds: expect.any(Number) });
  expect(isFatal(error)).toBe(false);
});
