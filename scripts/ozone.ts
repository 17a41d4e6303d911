/**
 * Observes a real Ozone: installs its dependencies into harness/ozone, starts PostgreSQL and Redis for it, and runs
 * harness/ozone/observe.mjs. Requires Debian's `postgresql` and `redis-server`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const suite = join(import.meta.dirname, '..', 'harness', 'ozone');
const versions = '/usr/lib/postgresql';
/** Directory of PostgreSQL's commands, which Debian does not add to the path. */
const postgresBin = (existsSync(versions) ? readdirSync(versions) : [])
  .map((version) => join(versions, version, 'bin'))
  .find((folder) => existsSync(join(folder, 'initdb')));
const hasRedis = spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;
if (postgresBin === undefined || !hasRedis) {
  console.error(`missing ${hasRedis ? 'PostgreSQL' : 'Redis'}: apt-get install postgresql redis-server`);
  process.exit(1);
}
const [postgresPort, redisPort] = [await freePort(), await freePort()];

/** Returns a free port, because neither PostgreSQL nor Redis can choose one itself. */
async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

function run(command: string, args: readonly string[], cwd = '/'): void {
  const done = spawnSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${command} failed: ${done.stderr}`);
}

/** Runs a command as an ordinary user, because PostgreSQL refuses to run as root. */
function asOrdinary(command: string, ...args: string[]): void {
  if (process.getuid?.() === 0) run('setpriv', ['--reuid=nobody', '--clear-groups', command, ...args]);
  else run(command, args);
}

/** Returns true if npm has completed an installation of the current lock file. */
function isInstalled(): boolean {
  const written = statSync(join(suite, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false });
  return written !== undefined && written.mtimeMs >= statSync(join(suite, 'package-lock.json')).mtimeMs;
}

if (!isInstalled()) run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], suite);
const folder = mkdtempSync(join(tmpdir(), 'almanac-ozone-'));
if (process.getuid?.() === 0) run('chown', ['nobody', folder]);
const data = join(folder, 'data');
const postgres = join(postgresBin, 'pg_ctl');
asOrdinary(join(postgresBin, 'initdb'), '-D', data, '-A', 'trust', '-U', 'pg');
const options = `-p ${postgresPort} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`;
asOrdinary(postgres, '-D', data, '-o', options, '-l', join(folder, 'log'), '-w', 'start');
const redis = spawn('redis-server', [
  '--port',
  String(redisPort),
  '--bind',
  '127.0.0.1',
  '--save',
  '',
  '--dir',
  folder,
]);
try {
  const done = spawnSync(process.execPath, [join(suite, 'observe.mjs')], {
    cwd: suite,
    stdio: 'inherit',
    env: {
      ...process.env,
      DB_POSTGRES_URL: `postgresql://pg@127.0.0.1:${postgresPort}/postgres`,
      REDIS_HOST: `127.0.0.1:${redisPort}`,
      LOG_ENABLED: 'false',
    },
  });
  process.exitCode = done.status ?? 1;
} finally {
  redis.kill();
  asOrdinary(postgres, '-D', data, '-m', 'immediate', 'stop');
  rmSync(folder, { recursive: true, force: true });
}
