/**
 * Runs all static checks of the source: format, lint, wording, types, dead code, generated files and the OpenAPI
 * documents. Exits with 1 if a check fails.
 */
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const steps = [
  ['format and lint', 'biome', ['check', '--error-on-warnings', '.']],
  ['language', 'node', ['scripts/language/check.mjs']],
  ['types', 'tsc', ['-p', 'tsconfig.json']],
  ['typed lint', 'eslint', ['--max-warnings', '0', '.']],
  ['dead code', 'knip', []],
  ['generated files', 'node', ['scripts/generate.ts', '--check']],
  [
    'OpenAPI lint',
    'redocly',
    ['lint', 'assets/openapi.json', 'assets/account-openapi.json', 'assets/labelers-openapi.json'],
  ],
];

/** Steps in the order of the list that have not been started. The checks share nothing, so one runs per core. */
const waiting = [...steps.entries()];
const done = [];

async function work() {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [index, [, command, args]] = next;
    done[index] = await run(command, args);
  }
}

/** Runs a command, and returns its output and whether it succeeded. */
function run(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = [];
    child.stdout.on('data', (bytes) => output.push(bytes));
    child.stderr.on('data', (bytes) => output.push(bytes));
    child.on('error', (error) => resolve({ isPassed: false, output: `${error.message}\n` }));
    child.on('close', (code) => resolve({ isPassed: code === 0, output: Buffer.concat(output).toString() }));
  });
}

await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));

const failed = [];
for (const [index, [name, command, args]] of steps.entries()) {
  process.stdout.write(`check: ${name}\n${done[index].output}`);
  if (done[index].isPassed) continue;
  failed.push(name);
  process.stderr.write(`check: ${name} failed (${command} ${args.join(' ')})\n`);
}
if (failed.length > 0) {
  process.stderr.write(`check: failed: ${failed.join(', ')}\n`);
  process.exit(1);
}
process.stdout.write('check: all checks passed\n');
