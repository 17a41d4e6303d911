/**
 * Runs test files repeatedly in one persistent process, which takes a quarter of the time of a new process per run.
 * Sends `ready` over its channel, then receives requests `{ tests, changed }` and responds to each with `passed` or
 * `failed`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVitest } from 'vitest/node';

/** A request to the runner: test files, and the sources that changed since the previous request. */
export interface RunRequest {
  readonly tests: readonly string[];
  readonly changed: readonly string[];
}

/** Name of a configuration that does not build the program, because the build would otherwise run for every mutant. */
const configName = 'vitest.mutants.config.ts';
writeFileSync(
  configName,
  `import { tierProjects } from './scripts/tiers/projects.ts';
export default { test: { projects: tierProjects({ builds: false, isolates: true }) } };
`,
);

const vitest = await createVitest('test', {
  watch: false,
  maxWorkers: 1,
  // Stop at the first failing test, which is enough to show that the change was detected.
  bail: 1,
  reporters: [{}],
  config: configName,
});

async function run({ tests, changed }: RunRequest): Promise<'passed' | 'failed'> {
  for (const file of changed) vitest.invalidateFile(join(process.cwd(), file));
  const all = await vitest.globTestSpecifications([...tests]);
  const wanted = new Set(tests.map((test) => join(process.cwd(), test)));
  const specifications = all.filter(({ moduleId }) => wanted.has(moduleId));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, false);
  // Keep only the modules of this run, because the result also contains the modules of earlier runs.
  const own = testModules.filter(({ moduleId }) => wanted.has(moduleId));
  const isWhole = own.length === wanted.size && own.every((module) => module.ok());
  return isWhole && unhandledErrors.length === 0 ? 'passed' : 'failed';
}

process.on('message', (request: RunRequest) => {
  void run(request).then(
    (result) => process.send?.(result),
    () => process.send?.('failed'),
  );
});
process.send?.('ready');
