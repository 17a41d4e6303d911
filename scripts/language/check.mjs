/**
 * Rejects the wording of rules.mjs in source and documentation that git does not ignore. exceptions.txt lists the
 * files that have not been rewritten yet, one path per line. The list may only shrink: a listed file without a match
 * is an error, too.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rules } from './rules.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));
const exceptionsPath = join(here, 'exceptions.txt');
const checked = /\.(?:tsx?|mjs|md)$/;
const excluded = /^(?:test\/fixtures\/|scripts\/language\/|src\/client\/schemas\.ts$)/;

function trackedFiles() {
  const { stdout, status, error } = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw error ?? new Error('git ls-files failed');
  return stdout
    .split('\0')
    .filter((path) => checked.test(path) && !excluded.test(path) && existsSync(join(root, path)));
}

function matchesIn(path) {
  const text = readFileSync(join(root, path), 'utf8');
  return rules.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map(({ 0: match, index }) => {
      const line = text.slice(0, index).split('\n').length;
      return `${path}:${line}: "${match.replaceAll(/\s+/g, ' ')}": write ${instead}`;
    }),
  );
}

const exceptions = new Set(readFileSync(exceptionsPath, 'utf8').split('\n').filter(Boolean));
const problems = [];
const unused = new Set(exceptions);
for (const path of trackedFiles()) {
  const matches = matchesIn(path);
  if (matches.length === 0) continue;
  if (exceptions.has(path)) unused.delete(path);
  else problems.push(...matches);
}
for (const path of unused) problems.push(`${path}: no match; remove it from scripts/language/exceptions.txt`);
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exit(1);
}
