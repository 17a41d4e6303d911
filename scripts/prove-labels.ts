/** Proves the label instrument against the truth: ten seeds of 300 labelers, or as many as the arguments say. */
import { proveTruth } from '../test/truth/run.ts';

const seeds = Number(process.argv[2] ?? 10);
const labelers = Number(process.argv[3] ?? 300);
for (let seed = 1; seed <= seeds; seed += 1) {
  const { accepted, refused, gaps, sources, problems } = await proveTruth({ seed, labelers });
  const refusedRows = Object.values(refused).reduce((sum, count) => sum + count, 0);
  console.log(
    `seed ${seed}: ${labelers} labelers, ${sources.enrolled} enrolled, ${accepted} accepted, ${refusedRows} refused, ${gaps} gaps, ${problems.length === 0 ? 'as they are' : 'WRONG'}`,
  );
  for (const problem of problems) console.log(`  ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}
