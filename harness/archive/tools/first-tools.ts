import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../process/at-exit.ts';
import { root } from '../../process/imports.ts';

const run = promisify(execFile);
const folder = join(root, 'harness', 'archive', 'tools');
const python = join(root, '.data', 'archive-tools-python');
/** The virtual environment comes first, then the directory of xsv, which Cargo installs. */
const path = [join(python, 'bin'), process.env.PATH ?? '', join(process.env.HOME ?? '/root', '.cargo', 'bin')].join(
  delimiter,
);

/** Command that a new user types first into a tool, as in `commands.tsv`. */
export interface FirstCommand {
  readonly tool: string;
  /** The command prints the mean of the label applications, or their sum by day. */
  readonly asks: 'mean' | 'days';
  readonly command: string;
}

/** The first commands of all tools, on the current tables. */
export const firstCommands: readonly FirstCommand[] = readFileSync(join(folder, 'commands.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [tool = '', asks, command = ''] = line.split('\t');
    return { tool, asks: asks === 'days' ? 'days' : 'mean', command };
  });

const olderColumns =
  'hour timestamptz, applications bigint, removals bigint, repeats bigint, observed_seconds float8, labeler_seconds float8, ' +
  's1 int, s2 int, s3 int, s4 int, s5 int, s6 int, s7 int, s8 int, s9 int';

/** Returns the same command on the tables of older days, which have an empty cell for each hour that was not observed. */
export function onOlderTables(command: string): string {
  return command
    .replaceAll('labels-totals', 'labels-by-hour')
    .replaceAll('" $2 |', '" $1 |')
    .replaceAll('$3', '$2')
    .replaceAll('[2]', '[1]')
    .replace(/\bday hour applications/, 'hour applications')
    .replace('"$day" = day', '"$hour" = hour')
    .replace('mean 3', 'mean 2')
    .replace('using 3', 'using 2')
    .replace('(:, 3)', '(:, 2)')
    .replace('[.C2:.C99]', '[.B2:.B99]')
    .replace(/\(day date, hour [^)]*\)/, `(${olderColumns})`);
}

/** Installs the packages of npm and PyPI that the commands need, once for each list of packages. */
export async function installPackages(): Promise<void> {
  const lock = join(folder, 'package-lock.json');
  if (!isNewer(join(folder, 'node_modules', '.package-lock.json'), lock)) {
    await run('npm', ['ci', '--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  }
  const [wanted, installed] = [join(folder, 'requirements.txt'), join(python, 'installed')];
  if (!isNewer(installed, wanted)) {
    await run('python3', ['-m', 'venv', python]);
    await run(join(python, 'bin', 'pip'), ['install', '-q', '--disable-pip-version-check', '-r', wanted]);
    writeFileSync(installed, '');
  }
}

function isNewer(file: string, than: string): boolean {
  const written = statSync(file, { throwIfNoEntry: false });
  return written !== undefined && written.mtimeMs >= statSync(than).mtimeMs;
}

/** Returns true if the first program of the command is not installed. */
export function isNotInstalled({ command }: FirstCommand): boolean {
  const [program = ''] = command.split(' ');
  return program !== 'while' && !path.split(delimiter).some((one) => existsSync(join(one, program)));
}

/**
 * Runs a command in a directory of its own with copies of the tables in `from`, in a time zone. Resolves with the
 * output; null if the command fails.
 */
export async function output(command: string, from: string, environment: NodeJS.ProcessEnv): Promise<string | null> {
  const { folder: own, remove } = temporaryFolder('tool');
  try {
    cpSync(from, own, { recursive: true });
    symlinkSync(join(folder, 'node_modules'), join(own, 'node_modules'));
    const describe = readFileSync(join(folder, 'describe.vdj'), 'utf8');
    writeFileSync(
      join(own, 'describe.vdj'),
      existsSync(join(own, 'labels-by-hour.csv')) ? onOlderTables(describe) : describe,
    );
    const env = { ...process.env, PATH: path, NODE_PATH: join(folder, 'node_modules'), ...environment };
    // Without `--norc`, a bash whose input is a socket can take itself for a remote shell, and ~/.bashrc can change PATH.
    const asked = run('bash', ['--norc', '-eo', 'pipefail', '-c', command], { cwd: own, env, timeout: 100_000 });
    asked.child.stdin?.end();
    const { stdout, stderr } = await asked;
    // gnuplot prints to the error output.
    return stdout.trim() || stderr.trim();
  } catch {
    return null;
  } finally {
    remove();
  }
}
