import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** PostgreSQL for tests: a server of its own, in a temporary directory, which ends with the process that started it. */

const versions = '/usr/lib/postgresql';
/** Directory of the newest installed version's commands, which Debian does not add to the path. */
const bin = (existsSync(versions) ? readdirSync(versions) : [])
  .sort((a, b) => Number(b) - Number(a))
  .map((version) => join(versions, version, 'bin'))
  .find((folder) => existsSync(join(folder, 'initdb')));

/** A running server. */
export interface PostgresServer {
  /** Directory of its socket, which is the `host` of its clients. */
  readonly socket: string;
  /** Returns the URL of a store in a schema. */
  url(schema: string): string;
  /** Ends the server at once, like a crash, and removes its data. */
  stop(): Promise<void>;
}

/** Runs a server until it ends or this script is asked to end, and then removes the directory `$0`. */
const script = `trap 'kill -QUIT $server' TERM INT
"$@" &
server=$!
wait $server
wait $server
rm -rf "$0"`;

let reported = false;

/**
 * Returns true if PostgreSQL is installed. If it is not, reports it once; in CI, where it must be, throws instead.
 */
export function hasPostgres(): boolean {
  if (bin !== undefined) return true;
  const missing = 'PostgreSQL is not installed: apt-get install postgresql; its tests are SKIPPED';
  if (process.env.CI) throw new Error(missing);
  if (!reported) process.stderr.write(`\n*** ${missing} ***\n`);
  reported = true;
  return false;
}

/** Starts a server. Without `durable`, commits do not wait for the disk. */
export async function startPostgres({ durable = false } = {}): Promise<PostgresServer> {
  if (bin === undefined) throw new Error('PostgreSQL is not installed');
  const folder = mkdtempSync(join(tmpdir(), 'almanac-pg-'));
  const isRoot = process.getuid?.() === 0;
  // PostgreSQL does not run as root.
  const user = isRoot ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
  chmodSync(folder, 0o755);
  if (isRoot) run('chown', ['postgres', folder]);
  const data = join(folder, 'data');
  run('setpriv', [
    ...user,
    join(bin, 'initdb'),
    '-D',
    data,
    '-A',
    'trust',
    '-U',
    'almanac',
    '--no-sync',
    '-k',
    '-E',
    'UTF8',
    '--locale=C',
  ]);
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    fsync: durable ? 'on' : 'off',
    synchronous_commit: durable ? 'on' : 'off',
    shared_buffers: '64MB',
    max_wal_size: '512MB',
    max_connections: '60',
    autovacuum_naptime: '10s',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // The script ends the server and removes its data also if the process that started it is killed.
  const server = spawn(
    'setpriv',
    [
      '--pdeathsig',
      'TERM',
      'sh',
      '-c',
      script,
      folder,
      'setpriv',
      ...user,
      join(bin, 'postgres'),
      '-D',
      data,
      ...options,
    ],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: '/',
      detached: true,
    },
  );
  const ended = once(server, 'exit');
  await ready(server.stderr);
  const stop = async (): Promise<void> => {
    server.kill('SIGTERM');
    await ended;
  };
  process.once('exit', () => server.kill('SIGTERM'));
  return { socket: folder, url: (schema) => `postgres://almanac@/postgres?host=${folder}&schema=${schema}`, stop };
}

/** Resolves when the server accepts connections. */
async function ready(output: NodeJS.ReadableStream): Promise<void> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: output })) {
    lines.push(line);
    if (line.includes('ready to accept connections')) {
      output.resume();
      return;
    }
  }
  throw new Error(`PostgreSQL did not start: ${lines.slice(-5).join('\n')}`);
}

function run(command: string, args: readonly string[]): void {
  const done = spawnSync(command, args, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${command} failed: ${done.stderr}`);
}
