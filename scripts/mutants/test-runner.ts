/**
 * Runs test files again and again in one process that stays, which costs a quarter of a new one for each run. Takes
 * `{ tests, changed }` through its channel and answers `passed` or `failed`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVitest } from 'vitest/node';

/** What the runner is asked for: test files, and the sources that changed since it was asked last. */
export interface RunRequest {
  readonly tests: readonly string[];
  readonly changed: readonly string[];
}

/** Without the build of the program, which would follow every mutant. */
const configName = 'vitest.mutants.config.ts';
writeFileSync(
  configName,
  `import config from './vitest.config.ts';
export default { ...config, test: { ...config.test, globalSetup: [] } };
`,
);

const vitest = await createVitest('test', {
  watch: false,
  maxWorkers: 1,
  reporters: [{}],
  config: configName,
});

async function run({ tests, changed }: RunRequest): Promise<'passed' | 'failed'> {
  for (const file of changed) vitest.invalidateFile(join(process.cwd(), file));
  const all = await vitest.globTestSpecifications([...tests]);
  const wanted = new Set(tests.map((test) => join(process.cwd(), test)));
  const specifications = all.filter(({ moduleId }) => wanted.has(moduleId));
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, false);
  // Those of earlier runs are among them.
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
