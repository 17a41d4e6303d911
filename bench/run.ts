/**
 * Runs the named benchmarks, or all of them, and passes the options to each: `npm run bench -- [NAME …] [options]`.
 * Exits with 1 if a name is unknown or a benchmark fails.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../src/main/command.ts';

/** All benchmarks, in the order in which they run. */
const benches = [
  'facts',
  'classifier',
  'frames',
  'weather',
  'weather-hosts',
  'store',
  'labels',
  'labelers/artifact',
  'archive/year',
  'account',
  'labelers',
  'observatory',
];

const words = process.argv.slice(2);
const options = words.filter((word) => word.startsWith('--'));
const names = words.filter((word) => !word.startsWith('--'));
const strangers = names.filter((name) => !benches.includes(name));
if (strangers.length > 0) {
  console.error(`unknown benchmark ${strangers.join(', ')}; choose from ${benches.join(', ')}`);
  process.exit(1);
}
for (const name of benches.filter((bench) => names.length === 0 || names.includes(bench))) {
  console.log(`# ${name}`);
  const done = spawnSync(process.execPath, [join(packageRoot(), 'bench', `${name}.ts`), ...options], {
    stdio: 'inherit',
  });
  if (done.status !== 0) process.exitCode = 1;
}
