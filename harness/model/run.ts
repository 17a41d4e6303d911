import type { Parameters, RunDetails } from 'fast-check';

/** Minimum number of cases after which every kind of response must have occurred; the replay of a failure has fewer. */
export const enoughCases = 5_000;

/**
 * Returns the number of cases and the seed of a run, and reports a failure. The seed is fixed so that the test suite is
 * repeatable; `npm run model` draws a new one for each part.
 */
export function modelRun<T>(cases: number): Parameters<[T]> & { readonly seed: number; readonly numRuns: number } {
  const { MODEL_CASES, MODEL_SEED } = process.env;
  return {
    numRuns: MODEL_CASES === undefined ? cases : Number(MODEL_CASES),
    seed: Number(MODEL_SEED ?? 1),
    reporter: report,
  };
}

/** Throws an error with the seed, the minimal failing case and the difference, if a run failed. */
function report<T>(details: RunDetails<[T]>): void {
  const { failed, seed, counterexamplePath, counterexample, errorInstance, numRuns } = details;
  if (!failed) return;
  const failure = { seed, path: counterexamplePath, case: counterexample };
  const error = new Error(`case ${numRuns} differs from the model: ${JSON.stringify(failure, asText)}`);
  error.cause = errorInstance;
  throw error;
}

/** Converts bytes to text, as a replacer for `JSON.stringify`. */
function asText(_key: string, value: unknown): unknown {
  const bytes = value as { readonly type?: string; readonly data?: readonly number[] } | null;
  return bytes?.type === 'Buffer' ? Buffer.from(bytes.data ?? []).toString() : value;
}
