/**
 * Compares the label instrument with the simulation's record: ten seeds of 300 labelers, or the numbers given as
 * arguments. `--seed N` runs only that seed. `--state FILE` runs only the first seed that has no result in the file,
 * and adds its result; call the script once per seed. `--standby` also runs a standby, which replaces the instrument
 * several times.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { proveTruth } from '../harness/truth/run.ts';

const { values, positionals } = parseArgs({
  options: { seed: { type: 'string' }, state: { type: 'string' }, standby: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [count, labelers] = [Number(positionals[0] ?? 10), Number(positionals[1] ?? 300)];
const all = Array.from({ length: count }, (_, i) => i + 1);

/** Result of one seed, as a line of the state file. */
interface Result {
  readonly seed: number;
  readonly labelers: number;
  readonly problems: readonly string[];
}

/** Returns the results in a state file. Omits results for a different number of labelers. */
function resultsIn(path: string): readonly Result[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  const results = lines.filter((line) => line !== '').map((line): Result => JSON.parse(line));
  return results.filter((result) => result.labelers === labelers);
}

/** Runs one seed, prints its result and returns its problems. */
async function prove(seed: number): Promise<readonly string[]> {
  const { accepted, refused, gaps, sources, problems } = await proveTruth({ seed, labelers, standby: values.standby });
  const refusedRows = Object.values(refused).reduce((sum, rows) => sum + rows, 0);
  console.log(
    `seed ${seed}: ${labelers} labelers, ${sources.enrolled} enrolled, ${accepted} accepted, ${refusedRows} refused, ${gaps} gaps, ${problems.length === 0 ? 'correct' : 'WRONG'}`,
  );
  for (const problem of problems) console.log(`  ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  return problems;
}

async function proveNext(path: string): Promise<void> {
  const done = new Set(resultsIn(path).map(({ seed }) => seed));
  const seed = all.find((one) => !done.has(one));
  if (seed !== undefined) {
    const result: Result = { seed, labelers, problems: await prove(seed) };
    appendFileSync(path, `${JSON.stringify(result)}\n`);
  }
  const results = resultsIn(path).filter((result) => result.seed <= count);
  const correct = results.filter(({ problems }) => problems.length === 0).length;
  console.log(`${correct} of ${results.length} seeds passed, ${count - results.length} remain`);
}

if (values.state !== undefined) await proveNext(values.state);
else for (const seed of values.seed === undefined ? all : [Number(values.seed)]) await prove(seed);
