import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { call } from '../process/program.ts';

/**
 * Runs a separate PostgreSQL server for tests, in a temporary directory. It exits together with the process that
 * started it.
 */

const versions = '/usr/lib/postgresql';
/** Directory of the commands of the newest installed version, which Debian does not add to the search path. */
export const postgresCommands = (existsSync(versions) ? readdirSync(versions) : [])
  .sort((a, b) => Number(b) - Number(a))
  .map((version) => join(versions, version, 'bin'))
  .find((folder) => existsSync(join(folder, 'initdb')));

/** A running PostgreSQL server. */
export interface PostgresServer {
  /** Directory of the server's socket, which clients use as `host`. */
  readonly socket: string;
  /** Driver options for a connection to the server. */
  readonly client: { readonly host: string; readonly port: number; readonly user: string; readonly database: string };
  /** Returns the store URL for a schema. */
  url(schema: string): string;
  /** Stops the server immediately, as in a crash, and removes its data. */
  stop(): Promise<void>;
}

/**
 * Shell script that runs the server until it exits or the script receives a signal, and then removes the directory
 * `$0`.
 */
const script = `trap 'kill -QUIT $server' TERM INT
"$@" &
server=$!
wait $server
wait $server
rm -rf "$0"`;

let reported = false;

/**
 * Returns true if PostgreSQL is installed. Otherwise prints one message per process, or throws in CI, where PostgreSQL
 * is required.
 */
export function hasPostgres(): boolean {
  if (postgresCommands !== undefined) return true;
  const missing = 'PostgreSQL is not installed: apt-get install postgresql; its tests are SKIPPED';
  if (process.env.CI) throw new Error(missing);
  if (!reported) process.stderr.write(`\n*** ${missing} ***\n`);
  reported = true;
  return false;
}

/** Options for starting a server. */
interface PostgresOptions {
  /** True to make commits wait for the disk; defaults to false. */
  readonly durable?: boolean;
  /** Port on 127.0.0.1, in addition to the socket. */
  readonly port?: number;
  /** Additional PostgreSQL settings. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Starts a server with an empty database. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = newFolder();
  const auth = ['-A', 'trust', '-U', 'almanac'];
  const fresh = ['--no-sync', '-k', '-E', 'UTF8', '--locale=C'];
  call('setpriv', [...serverUser(), command('initdb'), '-D', dataIn(folder), ...auth, ...fresh]);
  return serve(folder, options);
}

/** Starts a streaming standby of a server. Resolves when the standby accepts connections. */
export async function startStandby(primary: PostgresServer, options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = newFolder();
  const from = ['-h', primary.socket, '-p', String(primary.client.port), '-U', 'almanac'];
  const to = ['-D', dataIn(folder), '-R', '-X', 'stream', '-c', 'fast', '-N'];
  call('setpriv', [...serverUser(), command('pg_basebackup'), ...from, ...to]);
  return serve(folder, { ...options, settings: { wal_retrieve_retry_interval: '100ms', ...options.settings } });
}

function command(name: string): string {
  if (postgresCommands === undefined) throw new Error('PostgreSQL is not installed');
  return join(postgresCommands, name);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * Returns the `setpriv` options that run a server as the user postgres, because PostgreSQL refuses to run as root.
 * Returns an empty list if this process does not run as root.
 */
export function serverUser(): string[] {
  return isRoot() ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
}

/** Creates a temporary directory that belongs to the server's user. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-pg-'));
  chmodSync(folder, 0o755);
  if (isRoot()) call('chown', ['postgres', folder]);
  return folder;
}

function dataIn(folder: string): string {
  return join(folder, 'data');
}

/** Starts a server on existing data in a directory. */
async function serve(folder: string, { durable = false, port, settings }: PostgresOptions): Promise<PostgresServer> {
  const all = {
    listen_addresses: port === undefined ? '' : '127.0.0.1',
    ...(port !== undefined && { port: String(port) }),
    unix_socket_directories: folder,
    fsync: durable ? 'on' : 'off',
    synchronous_commit: durable ? 'on' : 'off',
    shared_buffers: '64MB',
    max_wal_size: '512MB',
    max_connections: '60',
    autovacuum_naptime: '10s',
    ...settings,
  };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const starting = ['setpriv', ...serverUser(), command('postgres'), '-D', dataIn(folder), ...options];
  // Use the script, because it also stops the server and removes its data when this process is killed.
  const server = spawn('setpriv', ['--pdeathsig', 'TERM', 'sh', '-c', script, folder, ...starting], {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: '/',
    detached: true,
  });
  const ended = once(server, 'exit');
  await ready(server.stderr);
  const stop = async (): Promise<void> => {
    server.kill('SIGTERM');
    await ended;
  };
  process.once('exit', () => server.kill('SIGTERM'));
  const at = port === undefined ? `host=${folder}` : `host=${folder}&port=${port}`;
  return {
    socket: folder,
    client: { host: folder, port: port ?? 5432, user: 'almanac', database: 'postgres' },
    url: (schema) => `postgres://almanac@/postgres?${at}&schema=${schema}`,
    stop,
  };
}

/** Resolves when the server's output shows that it accepts connections. */
async function ready(output: NodeJS.ReadableStream): Promise<void> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: output })) {
    lines.push(line);
    if (/ready to accept (?:read-only )?connections/.test(line)) {
      output.resume();
      return;
    }
  }
  throw new Error(`PostgreSQL did not start: ${lines.slice(-5).join('\n')}`);
}
