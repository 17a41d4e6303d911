import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { toolPath } from '../process/tools.ts';
import { newFolder, type PostgresServer, serverUser } from './server.ts';

/** Runs a separate PgBouncer for tests. It exits together with the process that started it. */

/** A running PgBouncer. */
export interface PgBouncer {
  /** Returns the store URL for a schema. */
  url(schema: string): string;
  stop(): Promise<void>;
}

/**
 * Starts PgBouncer in transaction mode. PgBouncer rotates its server connections, so that successive transactions of
 * a client use different connections.
 */
export async function startPgBouncer({ client }: PostgresServer): Promise<PgBouncer> {
  const folder = newFolder();
  const file = join(folder, 'pgbouncer.ini');
  const settings = {
    ...{ listen_port: 6432, unix_socket_dir: folder, auth_type: 'any', pool_mode: 'transaction' },
    ...{ default_pool_size: 20, server_round_robin: 1, max_client_conn: 200, syslog: 0 },
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const database = `* = host=${client.host} port=${client.port} user=${client.user}`;
  writeFileSync(file, ['[databases]', database, '[pgbouncer]', ...lines, ''].join('\n'));
  chmodSync(file, 0o644);
  const bouncer = spawn('setpriv', [...serverUser(), '--pdeathsig', 'KILL', toolPath('pgbouncer'), file], {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: '/',
  });
  const ended = once(bouncer, 'exit');
  process.once('exit', () => bouncer.kill('SIGKILL'));
  const said: string[] = [];
  for await (const line of createInterface({ input: bouncer.stderr })) {
    said.push(line);
    if (line.includes('process up')) break;
  }
  if (bouncer.exitCode !== null) throw new Error(`PgBouncer did not start: ${said.slice(-5).join('\n')}`);
  bouncer.stderr.resume();
  return {
    url: (schema) => `postgres://almanac@/postgres?host=${folder}&port=6432&schema=${schema}`,
    async stop() {
      bouncer.kill('SIGKILL');
      await ended;
    },
  };
}
