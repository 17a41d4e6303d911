import { expect, it } from 'vitest';
import { StoreError } from '../store/errors.ts';
import { isDamage, refusalOf } from './app.ts';

it('answers 503 for a damaged store, and reports it to the operator', () => {
  const error = new StoreError(
    'damaged',
    'days/2024-10-04.sealed.sqlite: block 7 of observation is not as it was sealed',
  );
  expect(refusalOf(error)).toEqual({ code: 'store_busy', retryAfterSeconds: expect.any(Number) });
  expect(isDamage(error)).toBe(true);
  expect(isDamage(new StoreError('busy', 'for a moment'))).toBe(false);
});
