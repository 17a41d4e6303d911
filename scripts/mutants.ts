/**
 * Applies deliberate bugs one at a time, and runs the tests that must detect each of them: `npm run mutants`. The
 * catalogues are in harness/mutants. `--only TEXT` runs the mutants whose id, description or file contains the text.
 * `--state FILE` stores the results, so that an interrupted run can be continued. Exits with 1 unless each selected
 * mutant is killed or equivalent; a mutant that was not run, or that no test reaches, counts as not killed.
 *
 * `--generated` generates mutants from the sources instead. Each mutant runs against the unit tests that are nearest to
 * its file in the import graph. If these pass, it runs against the nearest tests of the system tier that start no
 * program. `--sample N` (1,500) and `--seed N` (1) select the mutants, and `--minutes N` limits the duration.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { applied, type Mutant, parseCatalogue } from './mutants/catalogue.ts';
import { confidence, type MutantKind } from './mutants/generated.ts';
import { drawnMutants } from './mutants/generated-sample.ts';
import { makeWorkspace } from './mutants/workspace.ts';

/**
 * Result of a mutant. `untested`: no test of the unit or system tier imports the file. `ended`: the tests exceeded
 * their timeout or their process exited. Such a mutant counts as killed, but is reported separately, because a busy
 * machine can also be the cause.
 */
type Result = 'killed' | 'ended' | 'survived' | 'untested';

/** A mutant, from a catalogue or generated, with its tests. */
interface Run {
  readonly key: string;
  /** Kind of a generated mutant; null for a mutant from a catalogue. */
  readonly kind: MutantKind | null;
  readonly title: string;
  readonly file: string;
  /** Test files by stage. A stage runs only if the previous stage passes. */
  readonly stages: readonly (readonly string[])[];
  readonly equivalent: boolean;
  readonly apply: (text: string) => string;
}

const root = join(import.meta.dirname, '..');
const folder = join(root, 'harness', 'mutants');
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    state: { type: 'string' },
    generated: { type: 'boolean', default: false },
    sample: { type: 'string', default: '1500' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: 'Infinity' },
  },
});

const workspace = makeWorkspace(root);
const all = values.generated ? drawnRuns() : catalogueRuns();
const wanted = all.filter(({ title, file }) => values.only === undefined || `${title} ${file}`.includes(values.only));
const results = new Map<string, Result>(values.state && existsSync(values.state) ? readState(values.state) : []);

function catalogueRuns(): Run[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.mutants'))
    .sort()
    .flatMap((name) => parseCatalogue(readFileSync(join(folder, name), 'utf8'), name))
    .map((mutant) => ({
      ...{
        key: keyOf(mutant),
        kind: null,
        title: `${mutant.id}: ${mutant.models}`,
        file: mutant.file,
        stages: [mutant.tests],
      },
      ...{ equivalent: mutant.equivalent !== null, apply: (text) => applied(mutant, text) },
    }));
}

/**
 * Returns the key under which a result is stored. It includes the mutant's lines and tests, so that a changed mutant is
 * run again.
 */
function keyOf({ id, before, after, tests }: Mutant): string {
  return JSON.stringify([id, before, after, tests]);
}

function drawnRuns(): Run[] {
  return drawnMutants(root, Number(values.sample), Number(values.seed)).map(({ mutant, stages }) => ({
    ...{ key: mutant.id, kind: mutant.kind, file: mutant.file, stages, equivalent: false },
    title: `${mutant.file}:${mutant.line}: ${mutant.before.slice(0, 60)} -> ${mutant.after}`,
    apply: (text) => text.slice(0, mutant.start) + mutant.after + text.slice(mutant.start + mutant.before.length),
  }));
}

function readState(path: string): [string, Result][] {
  return Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, Result>);
}

/** Cache of the results of test files without any mutant, by the names of the files. */
const health = new Map<string, boolean>();

async function isHealthy(tests: readonly string[]): Promise<boolean> {
  const name = tests.join(' ');
  const known = health.get(name) ?? (await workspace.run(tests)) === 'passed';
  health.set(name, known);
  return known;
}

async function resultOf({ file, stages, apply }: Run): Promise<Result | 'unknown'> {
  if (stages.length === 0) return 'untested';
  let healthy = false;
  for (const tests of stages) {
    if (!(await isHealthy(tests))) continue;
    healthy = true;
    const original = workspace.read(file);
    workspace.write(file, apply(original));
    const outcome = await workspace.run(tests);
    workspace.write(file, original);
    if (outcome !== 'passed') return outcome === 'failed' ? 'killed' : 'ended';
  }
  return healthy ? 'survived' : 'unknown';
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // The listener remains, because npm repeats the signal of a terminal while the workspace is being removed.
  process.on(signal, () => {
    workspace.remove();
    process.exit(1);
  });
}

const endsAt = performance.now() + Number(values.minutes) * 60_000;
try {
  // Apply all mutants before the first run, so that a mutant that no longer applies fails immediately.
  for (const { file, apply } of all) apply(workspace.read(file));
  for (const run of wanted) {
    if (performance.now() > endsAt) break;
    if (run.equivalent || results.has(run.key)) continue;
    const result = await resultOf(run);
    process.stdout.write(
      `${result.padEnd(8)} ${run.title}${result === 'unknown' ? ': its tests also fail without the mutant' : ''}\n`,
    );
    if (result === 'unknown') continue;
    results.set(run.key, result);
    if (values.state) writeFileSync(values.state, JSON.stringify(Object.fromEntries(results)));
  }
} finally {
  workspace.remove();
}

function report(name: string, runs: readonly Run[]): void {
  const count = (result: Result): number => runs.filter(({ key }) => results.get(key) === result).length;
  const [ended, untested] = [count('ended'), count('untested')];
  const killed = count('killed') + ended;
  const tested = killed + count('survived');
  const same = runs.filter(({ equivalent }) => equivalent).length;
  const [low, high] = confidence(killed, tested).map((share) => (100 * share).toFixed(0));
  const parts = [
    `${killed} of ${tested} killed`,
    ...(values.generated && tested > 0 ? [`${low} to ${high} % with 95 % confidence`] : []),
    ...(ended > 0 ? [`${ended} of these by a timeout or the end of the process`] : []),
    ...(untested > 0 ? [`${untested} in files that no test of these tiers imports`] : []),
    ...(same > 0 ? [`${same} equivalent`] : []),
  ];
  process.stdout.write(`${name}: ${parts.join(', ')}\n`);
}

for (const [room, runs] of Map.groupBy(wanted, ({ file }) => file.split('/').slice(0, 2).join('/'))) report(room, runs);
for (const [kind, runs] of Map.groupBy(wanted, (run) => run.kind)) if (kind !== null) report(kind, runs);
report('all', wanted);
const isKilled = (key: string): boolean => ['killed', 'ended'].includes(results.get(key) ?? '');
process.exitCode = wanted.some(({ key, equivalent }) => !equivalent && !isKilled(key)) ? 1 : 0;
