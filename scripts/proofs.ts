/**
 * `npm run test:proof -- [FILE …]`: runs the proof tier, or those of its files. A file that fails runs once more, alone.
 * The run fails if a file failed twice, or if too many files needed a second run. The last lines report every second run.
 */

import { filesToRepeat, judgeProofs } from './tiers/proof-verdict.ts';
import { runFiles } from './tiers/run-files.ts';
import { proofsThatRunAlone, proofTier } from './tiers/tiers.ts';

const asked = process.argv.slice(2);
const wanted = proofTier.filter((file) => asked.length === 0 || asked.some((text) => file.includes(text)));
if (wanted.length === 0) {
  console.error(`test:proof: no file of the proof tier matches ${asked.join(' ')}`);
  process.exit(1);
}
const tiers = ['proof'];
const together = wanted.filter((file) => !proofsThatRunAlone.includes(file));
const runs = together.length === 0 ? [] : [runFiles({ tiers, files: together })];
for (const file of wanted) if (proofsThatRunAlone.includes(file)) runs.push(runFiles({ tiers, files: [file] }));
const first = {
  files: runs.flatMap(({ files }) => files),
  strayError: runs.find(({ strayError }) => strayError !== null)?.strayError ?? null,
};
const second = filesToRepeat(first).flatMap((file) => runFiles({ tiers, files: [file] }).files);
const { isPassed, lines } = judgeProofs(first, second);
console.log(`\n${lines.join('\n')}`);
process.exitCode = isPassed ? 0 : 1;
