import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { root } from '../process/imports.ts';
import { call } from '../process/program.ts';
import { until } from '../process/until.ts';
import { createMachine, createNetwork, type Machine } from './machine.ts';

/** A cluster member as Patroni reports it. */
interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
  readonly timeline?: number;
}

/** Three machines that run etcd, Patroni and PostgreSQL with the files in `deploy/postgres`. */
export interface Cluster {
  readonly machines: readonly Machine[];
  /** Path of the certificate of the authority that signed the server certificates. */
  readonly authority: string;
  /** Password shared by all roles. */
  readonly password: string;
  /** Resolves with the machine that has the given role; null if no machine reports a member with this role. */
  machine(role: 'leader' | 'sync_standby' | 'replica'): Promise<Machine | null>;
  /** Resolves when the cluster has one primary, a synchronous standby and another standby, all of them streaming. */
  whole(): Promise<void>;
  /** Runs statements on the primary as its superuser. */
  sql(database: string, statements: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

const names = ['db1', 'db2', 'db3'];
/** Password of all roles. The cluster runs in an isolated network. */
const password = 'a-password-of-the-failover-proof';
/** Maximum time until all members stream again. It allows for a Patroni timeout, a rewind or a new base backup. */
const wholeMs = 180_000;

/**
 * Writes the files of three machines below a directory, starts the machines, waits until the cluster is complete and
 * takes the first backup.
 */
export async function startCluster(folder: string): Promise<Cluster> {
  createNetwork();
  const repository = join(folder, 'repository');
  mkdirSync(repository);
  call('chown', ['postgres:', repository]);
  const addresses = names.map((_, at) => `192.0.2.${11 + at}`);
  const authority = writeCertificates(join(folder, 'tls'), [...addresses, '127.0.0.1']);
  const machines = names.map((name, at) => {
    const home = join(folder, name);
    writeFiles({ name, address: addresses[at] ?? '', home, repository, tls: join(folder, 'tls') });
    return createMachine(name, addresses[at] ?? '', home);
  });
  const stop = async (): Promise<void> => {
    await Promise.all(machines.map((machine) => machine.kill()));
  };
  try {
    await Promise.all(machines.map((machine) => machine.start()));
    const cluster: Cluster = {
      machines,
      authority,
      password,
      machine: async (role) => {
        const views = await Promise.all(machines.map(membersSeenBy));
        // A machine that is cut off reports the roles from before the cut.
        const found = views.flat().find((member) => member.role === role);
        return machines.find(({ name }) => name === found?.name) ?? null;
      },
      whole: () =>
        until(
          'all cluster members are streaming',
          async () => {
            const views = await Promise.all(machines.map(membersSeenBy));
            return views.every(isWhole) && new Set(views.map(rolesIn)).size === 1;
          },
          wholeMs,
        ),
      sql: async (database, statements) => {
        const leader = await cluster.machine('leader');
        await run(leader?.address ?? '', database, statements);
      },
      stop,
    };
    await cluster.whole();
    const leader = await cluster.machine('leader');
    // Take the first backup now: without it, a standby would be copied from the primary.
    for (const command of ['stanza-create', 'check', 'backup']) {
      leader?.run('postgres', ['pgbackrest', '--stanza=almanac', command]);
    }
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}

function isWhole(all: readonly Member[]): boolean {
  const roles = all.map(({ role }) => role).sort();
  const timelines = new Set(all.map(({ timeline }) => timeline));
  return (
    roles.join() === 'leader,replica,sync_standby' &&
    all.every(({ state }) => state === 'running' || state === 'streaming') &&
    timelines.size === 1
  );
}

/** Returns the roles of all members as one string, for comparison. */
function rolesIn(all: readonly Member[]): string {
  return all
    .map(({ name, role }) => `${name} ${role}`)
    .sort()
    .join();
}

/** Returns the members as one machine reports them, or an empty list if the machine does not respond. */
async function membersSeenBy({ address }: Machine): Promise<readonly Member[]> {
  try {
    const response = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(2_000) });
    return ((await response.json()) as { members: Member[] }).members;
  } catch {
    return [];
  }
}

async function run(host: string, database: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ host, user: 'postgres', password, database, ssl: { rejectUnauthorized: false } });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

interface Files {
  readonly name: string;
  readonly address: string;
  readonly home: string;
  readonly repository: string;
  readonly tls: string;
}

/**
 * Writes the files of `deploy/postgres` to the paths where the machine expects them, and fills in the machine's name,
 * address and passwords.
 */
function writeFiles({ name, address, home, repository, tls }: Files): void {
  const below = (path: string): string => join(home, path);
  for (const path of [
    'etc/default',
    'etc/patroni',
    'var/lib/postgresql/patroni',
    'var/lib/etcd',
    'var/spool/pgbackrest',
  ])
    mkdirSync(below(path), { recursive: true });
  const deployed = (file: string): string => readFileSync(join(root, 'deploy/postgres', file), 'utf8');
  writeFileSync(below('etc/patroni/config.yml'), deployed('patroni.yml'));
  const own = deployed('patroni.env').replaceAll('192.0.2.11', address).replace('=db1', `=${name}`);
  writeFileSync(below('etc/patroni/almanac.env'), own.replaceAll(/PASSWORD=$/gm, `PASSWORD=${password}`));
  // Replace the address everywhere except in the member list, which contains the addresses of all machines.
  const etcd = deployed('etcd.env').replaceAll(/^(?!ETCD_INITIAL_CLUSTER=).*$/gm, (line) =>
    line.replaceAll('192.0.2.11', address).replace('NAME=db1', `NAME=${name}`),
  );
  writeFileSync(below('etc/default/etcd'), etcd);
  const backup = deployed('pgbackrest.conf')
    .replace('repo1-type=s3', 'repo1-type=posix')
    .replace('repo1-path=/almanac', `repo1-path=${repository}`)
    .replaceAll(/^repo1-s3-.*\n/gm, '');
  writeFileSync(below('etc/pgbackrest.conf'), backup);
  cpSync(tls, below('etc/patroni/tls'), { recursive: true });
  chmodSync(home, 0o755);
  call('chown', ['-R', 'postgres:', below('etc'), below('var/lib/postgresql'), below('var/spool/pgbackrest')]);
  call('chown', ['-R', 'etcd:', below('var/lib/etcd')]);
  chmodSync(below('etc/patroni/tls/server.key'), 0o600);
}

/**
 * Writes the certificate of a new authority, and a server certificate for the given addresses. Returns the path of the
 * authority's certificate.
 */
function writeCertificates(folder: string, addresses: readonly string[]): string {
  mkdirSync(folder, { recursive: true });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'];
  call(
    'openssl',
    ['req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=failover proof'],
    folder,
  );
  call('openssl', ['req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=database'], folder);
  writeFileSync(join(folder, 'names'), `subjectAltName=${addresses.map((address) => `IP:${address}`).join()}\n`);
  const sign = ['-req', '-in', 'server.csr', '-CA', 'ca.crt', '-CAkey', 'ca.key', '-days', '30'];
  call('openssl', ['x509', ...sign, '-extfile', 'names', '-out', 'server.crt'], folder);
  return join(folder, 'ca.crt');
}
