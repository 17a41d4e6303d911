/**
 * `npm run model -- [--cases N] [--state FILE] [--only facts|account|histories]`: sends random cases to the program and
 * compares every response with the models of the contract, and runs random histories of a labeler's frames, pages and
 * restarts, in which every row must be stored or in a gap. The cases run in parts with separate seeds. With a state
 * file, a run continues where the previous run ended. Exits with 1 if a case fails, and prints the seed and the smallest
 * failing case.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const tests = {
  facts: 'test/facts/model.test.ts',
  account: 'test/account/model.test.ts',
  histories: 'src/labels/ingest/intake.test.ts',
};
/** Number of cases per part, which is the most that an interrupted run can lose. */
const casesPerPart = 25_000;

type Name = keyof typeof tests;
interface Progress {
  readonly cases: number;
  readonly failedSeeds: readonly number[];
}

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '1000000' },
    state: { type: 'string' },
    only: { type: 'string', multiple: true },
  },
});
const wanted = Number(values.cases);
if (!(wanted > 0)) throw new Error('--cases must be a number above zero');
const names = (values.only ?? Object.keys(tests)) as Name[];
const unknown = names.find((name) => !Object.hasOwn(tests, name));
if (unknown !== undefined) throw new Error(`unknown model ${unknown}; choose from ${Object.keys(tests).join(', ')}`);

const state: Partial<Record<Name, Progress>> =
  values.state !== undefined && existsSync(values.state)
    ? (JSON.parse(readFileSync(values.state, 'utf8')) as Record<Name, Progress>)
    : {};

for (const name of names) {
  for (let progress = progressOf(name); progress.cases < wanted; progress = progressOf(name)) {
    const cases = Math.min(casesPerPart, wanted - progress.cases);
    const seed = Math.floor(Math.random() * 2 ** 31);
    const failedSeeds = runPart(name, cases, seed) ? progress.failedSeeds : [...progress.failedSeeds, seed];
    state[name] = { cases: progress.cases + cases, failedSeeds };
    if (values.state !== undefined) save(values.state);
    process.stdout.write(`${name}: ${progress.cases + cases} cases, ${failedSeeds.length} parts failed\n`);
  }
}
process.exitCode = names.some((name) => progressOf(name).failedSeeds.length > 0) ? 1 : 0;

function progressOf(name: Name): Progress {
  return state[name] ?? { cases: 0, failedSeeds: [] };
}

function runPart(name: Name, cases: number, seed: number): boolean {
  const vitest = join(import.meta.dirname, '../node_modules/vitest/vitest.mjs');
  const env = { ...process.env, MODEL_CASES: String(cases), MODEL_SEED: String(seed) };
  const { status } = spawnSync(process.execPath, [vitest, 'run', tests[name], '--maxWorkers=1', '--reporter=dot'], {
    env,
    stdio: 'inherit',
  });
  return status === 0;
}

function save(path: string): void {
  writeFileSync(`${path}.new`, JSON.stringify(state, null, 2));
  renameSync(`${path}.new`, path);
}
