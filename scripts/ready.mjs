/**
 * Prepares a checkout: installs the packages if any package in the lock file is missing, and builds the program if a
 * source has changed since the last build. Reports each step. Runs on any Node version.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamps = join(root, 'dist');

function digest(paths) {
  const hash = createHash('sha256');
  for (const path of paths)
    hash
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)))
      .update('\0');
  return hash.digest('hex');
}

function filesUnder(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

function stampIs(name, value) {
  const path = join(stamps, `.${name}`);
  return existsSync(path) && readFileSync(path, 'utf8') === value;
}

function stamp(name, value) {
  mkdirSync(stamps, { recursive: true });
  writeFileSync(join(stamps, `.${name}`), value);
}

function run(command, args) {
  const path = `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`;
  // Print the steps to stderr, because stdout belongs to the command that follows.
  const done = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], env: { ...process.env, PATH: path } });
  if (done.status !== 0) {
    process.stderr.write(
      `almanac: ${command} ${args.join(' ')} failed; if another start of this clone was installing or building at the same time, run it again\n`,
    );
    process.exit(done.status ?? 1);
  }
}

/**
 * Returns true if every package that the lock file requires on this platform is installed, whatever tool installed it.
 */
function installed() {
  const hidden = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const found = JSON.parse(readFileSync(hidden, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || optional || found[path]?.version === version,
  );
}

function install() {
  if (installed()) return;
  process.stderr.write('almanac: installing the packages once (npm ci)\n');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}

/** Builds the program if a source has changed since the last build. */
export function build() {
  const own = ['package-lock.json', 'scripts/build.mjs', 'scripts/packages/licences.mjs'];
  const sources = digest([...own, ...filesUnder('src'), ...filesUnder('sim')]);
  if (stampIs('built', sources) && existsSync(join(root, 'dist', 'almanac.js'))) return;
  process.stderr.write('almanac: building the program once\n');
  run('node', ['scripts/build.mjs']);
  stamp('built', sources);
}

export function ready() {
  install();
  build();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) ready();
