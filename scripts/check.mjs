/**
 * Runs all static checks of the source: format, lint, wording, types, dead code, generated files and the OpenAPI
 * documents. Exits with 1 if a check fails.
 */
import { spawnSync } from 'node:child_process';
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

const failed = [];
for (const [name, command, args] of steps) {
  process.stdout.write(`check: ${name}\n`);
  const done = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (done.status !== 0) {
    failed.push(name);
    process.stderr.write(`check: ${name} failed (${command} ${args.join(' ')})\n`);
  }
}
if (failed.length > 0) {
  process.stderr.write(`check: failed: ${failed.join(', ')}\n`);
  process.exit(1);
}
process.stdout.write('check: all checks passed\n');
