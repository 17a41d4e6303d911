import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Parameters, RunDetails } from 'fast-check';

/** A run of at least this many cases must produce every kind of response. The replay of a failure has fewer cases. */
export const enoughCases = 5_000;

/**
 * Returns the parameters of a run, including its failure report. The seed is fixed so that the test suite is
 * repeatable. `npm run model` draws a new seed for each part.
 */
export function modelRun<T>(cases: number): Parameters<[T]> & { readonly seed: number; readonly numRuns: number } {
  const { MODEL_CASES, MODEL_SEED } = process.env;
  return {
    numRuns: MODEL_CASES === undefined ? cases : Number(MODEL_CASES),
    seed: Number(MODEL_SEED ?? 1),
    reporter: report,
  };
}

/** Throws an error with the seed, the smallest failing case and the difference if the run failed. */
function report<T>(details: RunDetails<[T]>): void {
  const { failed, seed, counterexamplePath, counterexample, errorInstance, numRuns } = details;
  if (!failed) return;
  const failure = { seed, path: counterexamplePath, case: counterexample };
  const error = new Error(`case ${numRuns} differs from the model: ${JSON.stringify(failure, asText)}`);
  error.cause = errorInstance;
  throw error;
}

/** JSON replacer that formats an artifact: returns bytes as text, and other values unchanged. */
function asText(_key: string, value: unknown): unknown {
  const bytes = value as { readonly type?: string; readonly data?: readonly number[] } | null;
  return bytes?.type === 'Buffer' ? Buffer.from(bytes.data ?? []).toString() : value;
}

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
