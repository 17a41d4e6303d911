/**
 * Compares the label instrument with the simulation's record: ten seeds of 300 labelers, or the numbers in the
 * arguments. `--seed N` runs only that seed.
 */
import { parseArgs } from 'node:util';
import { proveTruth } from '../harness/truth/run.ts';

const { values, positionals } = parseArgs({ options: { seed: { type: 'string' } }, allowPositionals: true });
const [seeds, labelers] = [Number(positionals[0] ?? 10), Number(positionals[1] ?? 300)];
const one = values.seed === undefined ? null : Number(values.seed);
for (let seed = one ?? 1; seed <= (one ?? seeds); seed += 1) {
  const { accepted, refused, gaps, sources, problems } = await proveTruth({ seed, labelers });
  const refusedRows = Object.values(refused).reduce((sum, count) => sum + count, 0);
  console.log(
    `seed ${seed}: ${labelers} labelers, ${sources.enrolled} enrolled, ${accepted} accepted, ${refusedRows} refused, ${gaps} gaps, ${problems.length === 0 ? 'correct' : 'WRONG'}`,
  );
  for (const problem of problems) console.log(`  ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}
