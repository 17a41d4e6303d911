import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';

/** Asserts equality. Builds a message only on failure, because a run makes millions of comparisons. */

export function same(got: unknown, wanted: unknown): void {
  if (!Object.is(got, wanted) && !isDeepStrictEqual(got, wanted)) assert.deepStrictEqual(got, wanted);
}

export function includes<T>(listed: readonly T[], wanted: T): void {
  if (!listed.includes(wanted)) assert.fail(`${String(wanted)} is not one of ${listed.join(', ')}`);
}

export function holds(condition: boolean, claim: string): void {
  if (!condition) assert.fail(`assertion failed: ${claim}`);
}
