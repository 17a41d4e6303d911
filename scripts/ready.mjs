/**
 * Prepares a checkout: installs the packages if a required package of the lock file is missing or has another version,
 * and builds the program if a source has changed since the last build. Reports each step. Runs on any Node version.
 * Simultaneous starts wait for each other: two installs would remove each other's files.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { oneAtATime } from './one-at-a-time.mjs';

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
    process.stderr.write(`almanac: ${command} ${args.join(' ')} failed\n`);
    process.exit(done.status ?? 1);
  }
}

/**
 * Returns true if every package of the lock file that is not optional is installed in the locked version, according to
 * npm's own record in `node_modules`, and the package's files exist. The files are checked because an interrupted
 * install removes files but not the record.
 */
function installed() {
  const hidden = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const found = JSON.parse(readFileSync(hidden, 'utf8')).packages;
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || optional || (found[path]?.version === version && existsSync(join(root, path, 'package.json'))),
  );
}

function install() {
  if (installed()) return;
  process.stderr.write('almanac: installing the packages once (npm ci)\n');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
}

/** Returns a digest of everything from which the program is built. */
function sources() {
  const own = [
    'package-lock.json',
    'scripts/build.mjs',
    'scripts/packages/http-module.mjs',
    'scripts/packages/licences.mjs',
  ];
  return digest([...own, ...filesUnder('src'), ...filesUnder('sim')]);
}

function isBuilt() {
  return stampIs('built', sources()) && existsSync(join(root, 'dist', 'almanac.js'));
}

function prepare(steps) {
  oneAtATime(join(root, '.data', 'preparing'), steps, (holder, lock) =>
    process.stderr.write(`almanac: waiting for process ${holder}, which installs or builds this clone (${lock})\n`),
  );
}

/** Builds the program if a source has changed since the last build. */
export function build() {
  if (!isBuilt()) prepare(buildAlone);
}

function buildAlone() {
  if (isBuilt()) return;
  process.stderr.write('almanac: building the program once\n');
  const built = sources();
  // Compiled code of former sources is never used again.
  rmSync(join(root, '.data', 'compiled'), { recursive: true, force: true });
  run('node', ['scripts/build.mjs']);
  stamp('built', built);
}

export function ready() {
  if (installed() && isBuilt()) return;
  prepare(() => {
    install();
    buildAlone();
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) ready();
