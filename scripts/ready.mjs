/**
 * Makes a checkout ready to run: installs when the lock file changed since the last install, builds when a
 * source changed since the last build, says which, and does neither twice. Runs on any Node the machine has.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamps = join(root, 'node_modules', '.cache', 'almanac');

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
  const path = join(stamps, name);
  return existsSync(path) && readFileSync(path, 'utf8') === value;
}

function stamp(name, value) {
  mkdirSync(stamps, { recursive: true });
  writeFileSync(join(stamps, name), value);
}

function run(command, args) {
  const path = `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH ?? ''}`;
  // What the steps print goes to stderr: stdout belongs to the command that is being made ready.
  const done = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], env: { ...process.env, PATH: path } });
  if (done.status !== 0) {
    process.stderr.write(`almanac: ${command} ${args.join(' ')} failed\n`);
    process.exit(done.status ?? 1);
  }
}

export function ready() {
  const lock = digest(['package.json', 'package-lock.json']);
  if (!stampIs('installed', lock)) {
    process.stderr.write('almanac: installing packages (npm ci), once\n');
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
    stamp('installed', lock);
  }
  const sources = digest([
    'tsconfig.json',
    'tsconfig.build.json',
    'scripts/build.mjs',
    ...filesUnder('src'),
    ...filesUnder('sim'),
  ]);
  if (!stampIs('built', sources) || !existsSync(join(root, 'dist', 'almanac.js'))) {
    process.stderr.write('almanac: building, once\n');
    run('node', ['scripts/build.mjs']);
    stamp('built', sources);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) ready();
