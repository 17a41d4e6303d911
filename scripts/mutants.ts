/**
 * Applies deliberate bugs one at a time and runs the tests that must notice each: `npm run mutants`. The catalogues are in
 * test/mutants. `--only TEXT` runs the mutants whose id or file contains the text; `--state FILE` keeps the results, so that
 * an interrupted run goes on where it ended. Exits with 1 when a mutant survives.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { applied, type Mutant, parseCatalogue } from './mutants/catalogue.ts';
import { makeWorkspace } from './mutants/workspace.ts';

type Result = 'killed' | 'survived';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'test', 'mutants');
const { values } = parseArgs({ options: { only: { type: 'string' }, state: { type: 'string' } } });

const all = readdirSync(folder)
  .filter((name) => name.endsWith('.mutants'))
  .sort()
  .flatMap((name) => parseCatalogue(readFileSync(join(folder, name), 'utf8'), name));
const wanted = all.filter(({ id, file }) => values.only === undefined || `${id} ${file}`.includes(values.only));
const results = new Map<string, Result>(values.state && existsSync(values.state) ? readState(values.state) : []);

function readState(path: string): [string, Result][] {
  return Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, Result>);
}

/** The result is kept under what was tested: a mutant whose lines or tests change is run again. */
function keyOf({ id, before, after, tests }: Mutant): string {
  return JSON.stringify([id, before, after, tests]);
}

const workspace = makeWorkspace(root);
/** Whether tests pass without any mutant, by their names. */
const health = new Map<string, boolean>();
try {
  // All of them first: a catalogue whose code has moved fails before an hour of runs.
  for (const mutant of all) applied(mutant, workspace.read(mutant.file));
  for (const mutant of wanted) {
    if (mutant.equivalent !== null || results.has(keyOf(mutant))) continue;
    const tests = mutant.tests.join(' ');
    const isHealthy = health.get(tests) ?? (await workspace.run(mutant.tests)) === 'passed';
    health.set(tests, isHealthy);
    if (!isHealthy) {
      process.stdout.write(`unknown  ${mutant.id}: ${tests} fail without any mutant\n`);
      continue;
    }
    const original = workspace.read(mutant.file);
    workspace.write(mutant.file, applied(mutant, original));
    const result = (await workspace.run(mutant.tests)) === 'failed' ? 'killed' : 'survived';
    workspace.write(mutant.file, original);
    results.set(keyOf(mutant), result);
    process.stdout.write(`${result.padEnd(8)} ${mutant.id}: ${mutant.models}\n`);
    if (values.state) writeFileSync(values.state, JSON.stringify(Object.fromEntries(results)));
  }
} finally {
  workspace.remove();
}

const roomOf = ({ file }: Mutant): string => file.split('/').slice(0, 2).join('/');
for (const [room, mutants] of Map.groupBy(wanted, roomOf)) {
  const tested = mutants.filter(({ equivalent }) => equivalent === null);
  const killed = tested.filter((mutant) => results.get(keyOf(mutant)) === 'killed').length;
  const same = mutants.length - tested.length;
  process.stdout.write(`${room}: ${killed} of ${tested.length} killed${same > 0 ? `, ${same} equivalent` : ''}\n`);
}
const isOpen = (mutant: Mutant): boolean => mutant.equivalent === null && results.get(keyOf(mutant)) !== 'killed';
process.exitCode = wanted.some(isOpen) ? 1 : 0;
