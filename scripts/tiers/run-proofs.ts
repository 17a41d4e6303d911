import type { FileResult } from './file-results.ts';
import { filesToRepeat, judgeProofs, type ProofVerdict } from './proof-verdict.ts';
import { runFiles } from './run-files.ts';
import { proofsThatRunAlone } from './tiers.ts';

/** A run of the proof tier. */
interface ProofRun extends ProofVerdict {
  readonly first: readonly FileResult[];
  /** Results of the files that ran a second time. */
  readonly second: readonly FileResult[];
}

/**
 * Runs files of the proof tier: those that measure by time one at a time, after the others. A file that fails runs once
 * more, alone. Prints Vitest's report, and the verdict in the last lines.
 */
export function runProofs(files: readonly string[]): ProofRun {
  const tiers = ['proof'];
  const alone = files.filter((file) => proofsThatRunAlone.includes(file));
  const together = files.filter((file) => !alone.includes(file));
  const groups = [together, ...alone.map((file) => [file])].filter((group) => group.length > 0);
  const runs = groups.map((group) => runFiles({ tiers, files: group }));
  const first = {
    files: runs.flatMap((run) => run.files),
    strayError: runs.find(({ strayError }) => strayError !== null)?.strayError ?? null,
  };
  const second = filesToRepeat(first).flatMap((file) => runFiles({ tiers, files: [file] }).files);
  const verdict = judgeProofs(first, second);
  console.log(`\n${verdict.lines.join('\n')}`);
  return { ...verdict, first: first.files, second };
}
