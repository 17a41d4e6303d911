/**
 * `npm run test:proof -- [FILE …]`: runs the proof tier, or those of its files whose path contains one of the arguments.
 * A file that fails runs once more, alone. The run fails if a file failed twice, or if too many files needed a second
 * run. The last lines report every second run.
 */
import { runProofs } from './run-proofs.ts';
import { proofTier } from './tiers.ts';

const asked = process.argv.slice(2);
const files = proofTier.filter((file) => asked.length === 0 || asked.some((text) => file.includes(text)));
if (files.length === 0) {
  console.error(`test:proof: no file of the proof tier matches ${asked.join(' ')}`);
  process.exitCode = 1;
} else {
  process.exitCode = runProofs(files).isPassed ? 0 : 1;
}
