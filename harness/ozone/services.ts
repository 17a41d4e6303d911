import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../net/ports.ts';
import { postgresCommands } from '../postgres/server.ts';
import { endingSignals, temporaryFolder } from '../process/at-exit.ts';
import { call } from '../process/program.ts';

const suite = import.meta.dirname;

/** Returns the Debian packages that a real Ozone needs and this machine lacks. */
export function missingServices(): string[] {
  const hasRedis = spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;
  return [...(postgresCommands === undefined ? ['postgresql'] : []), ...(hasRedis ? [] : ['redis-server'])];
}

/** Runs a command as an ordinary user, because PostgreSQL refuses to run as root. */
function asOrdinary(command: string, ...args: string[]): void {
  if (process.getuid?.() === 0) call('setpriv', ['--reuid=nobody', '--clear-groups', command, ...args]);
  else call(command, args);
}

/** Returns true if npm has completed an installation of the current lock file. */
function isInstalled(): boolean {
  const written = statSync(join(suite, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false });
  return written !== undefined && written.mtimeMs >= statSync(join(suite, 'package-lock.json')).mtimeMs;
}

/**
 * Installs the packages of the real Ozone, its directory and its host into this directory, starts PostgreSQL and Redis
 * on free ports of 127.0.0.1, and runs a program of this directory with them. Returns its exit code. A signal that would
 * end this process ends the program, and then both services.
 */
export async function runWithServices(program: string, args: readonly string[] = []): Promise<number> {
  const bin = postgresCommands;
  if (bin === undefined) throw new Error('PostgreSQL is not installed');
  if (!isInstalled()) call('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], suite);
  const [postgresPort, redisPort] = [await freePort(), await freePort()];
  const { folder, remove } = temporaryFolder('ozone');
  if (process.getuid?.() === 0) call('chown', ['nobody', folder]);
  const data = join(folder, 'data');
  const postgres = join(bin, 'pg_ctl');
  asOrdinary(join(bin, 'initdb'), '-D', data, '-A', 'trust', '-U', 'pg');
  const options = `-p ${postgresPort} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`;
  asOrdinary(postgres, '-D', data, '-o', options, '-l', join(folder, 'log'), '-w', 'start');
  const redis = spawn('redis-server', [
    ...['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--dir', folder],
  ]);
  try {
    const child = spawn(process.execPath, [join(suite, program), ...args], {
      cwd: suite,
      stdio: 'inherit',
      env: {
        ...process.env,
        DB_POSTGRES_URL: `postgresql://pg@127.0.0.1:${postgresPort}/postgres`,
        REDIS_HOST: `127.0.0.1:${redisPort}`,
        LOG_ENABLED: 'false',
        // The packages leave their files in the temporary directory.
        TMPDIR: folder,
      },
    });
    return await endOf(child);
  } finally {
    redis.kill();
    asOrdinary(postgres, '-D', data, '-m', 'immediate', 'stop');
    remove();
  }
}

/** Returns the exit code of a program, to which it passes on the signals that would end this process. */
async function endOf(child: ChildProcess): Promise<number> {
  const pass = () => child.kill('SIGTERM');
  for (const signal of endingSignals) process.on(signal, pass);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject).once('close', (code) => resolve(code ?? 1));
    });
  } finally {
    for (const signal of endingSignals) process.off(signal, pass);
  }
}
