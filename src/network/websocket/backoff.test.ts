import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBackoff } from './backoff.ts';

it('the backoff doubles the maximum wait up to the cap, and restarts from the first maximum after a reset', () => {
  const backoff = createBackoff({ firstMs: 1000, capMs: 30_000, random: () => 0.999_999 });
  const six = (): number[] => Array.from({ length: 6 }, () => backoff.next());
  expect(six()).toEqual([999, 1999, 3999, 7999, 15_999, 29_999]);
  expect(backoff.next()).toBe(29_999);
  backoff.reset();
  expect(six()).toEqual([999, 1999, 3999, 7999, 15_999, 29_999]);
});

it('the backoff draws each wait uniformly from zero to its maximum', () => {
  const draws = [0, 0.5, 0.25];
  const backoff = createBackoff({ firstMs: 1000, capMs: 30_000, random: () => draws.shift() ?? 0 });
  expect([backoff.next(), backoff.next(), backoff.next()]).toEqual([0, 1000, 1000]);
});

it('the backoff stays within its bounds for any random numbers', () => {
  const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(fc.nat(10_000), fc.nat(100_000), fc.infiniteStream(draw), (firstMs, capMs, draws) => {
      const backoff = createBackoff({ firstMs, capMs, random: () => draws.next().value });
      let bound = firstMs;
      for (let i = 0; i < 100; i += 1) {
        const wait = backoff.next();
        expect(Number.isSafeInteger(wait) && wait >= 0 && wait <= Math.min(bound, capMs)).toBe(true);
        bound *= 2;
      }
    }),
  );
});
