import type { FileResult, RunResults } from './file-results.ts';

/**
 * Maximum number of proof files of one run that may need a second run. Proofs depend on real time, load or chance, so
 * one may fail on a correct commit; more than this number at once is a fault of the commit or of the machine.
 */
const maxSecondRuns = 2;

/** The verdict on a run of the proof tier. */
export interface ProofVerdict {
  readonly isPassed: boolean;
  /** Lines to print at the end of the run. The last one states how many tests passed and failed. */
  readonly lines: readonly string[];
}

/** Returns the files that must run a second time, or none if there are so many that the run fails in any case. */
export function filesToRepeat({ files, strayError }: RunResults): readonly string[] {
  const failed = files.filter(({ isPassed }) => !isPassed).map(({ file }) => file);
  return failed.length > maxSecondRuns || strayError !== null ? [] : failed;
}

/**
 * Judges a run of the proof tier: `first` is its first run, `second` contains the files of `filesToRepeat`, each run
 * alone. The run fails if a file failed in both runs, if more than `maxSecondRuns` files failed in the first run, if an
 * error belongs to no file, or if no test passed. Every second run is reported with the first message of its failure.
 */
export function judgeProofs(first: RunResults, second: readonly FileResult[]): ProofVerdict {
  const failed = first.files.filter(({ isPassed }) => !isPassed);
  const lines: string[] = [];
  if (first.strayError !== null) lines.push(`an error outside the test files: ${first.strayError}`);
  if (failed.length > maxSecondRuns) {
    lines.push(`${failed.length} files failed; at most ${maxSecondRuns} may run a second time`);
    lines.push(...failed.map(({ file, message }) => `failed: ${file}: ${message}`));
  } else {
    for (const { file, message } of failed) {
      const again = second.find((result) => result.file === file);
      const outcome = again === undefined ? 'missing' : again.isPassed ? 'passed' : `failed: ${again.message}`;
      lines.push(`second run: ${file}: first ${message}; then ${outcome}`);
    }
  }
  const last = first.files.map((result) => second.find(({ file }) => file === result.file) ?? result);
  const [passed, failures, skipped] = [sum(last, 'passedTests'), sum(last, 'failedTests'), sum(last, 'skippedTests')];
  const isPassed =
    first.strayError === null &&
    failed.length <= maxSecondRuns &&
    passed > 0 &&
    last.every((result) => result.isPassed);
  lines.push(`proofs: ${first.files.length} files, ${failed.length} of them failed in the first run`);
  lines.push(`${passed} passed, ${failures} failed, ${skipped} skipped`);
  return { isPassed, lines };
}

function sum(results: readonly FileResult[], key: 'passedTests' | 'failedTests' | 'skippedTests'): number {
  return results.reduce((total, result) => total + result[key], 0);
}
