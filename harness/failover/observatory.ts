import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SimAddresses } from '../../sim/index.ts';
import { storeProcesses } from '../../src/store/open.ts';
import type { StoreProcesses } from '../../src/store/standby/standby.ts';
import { labelsArgs } from '../kills/six-labelers.ts';
import { startProgram } from '../process/program.ts';
import { until } from '../process/until.ts';
import type { Cluster } from './cluster.ts';
import { type KeptProcess, keepProcess } from './kept-process.ts';
import { createLink } from './link.ts';

/** Two instruments, one of them the standby of the other, and two account processes. All four use the same cluster. */
export interface Observatory {
  readonly instruments: readonly KeptProcess[];
  readonly accounts: readonly KeptProcess[];
  readonly accountUrls: readonly string[];
  /** URL of the store on the primary. Connections to it bypass the links that faults cut. */
  readonly store: string;
  /** URL of the store on any server. Connections to it bypass the links that faults cut. */
  readonly anyServer: string;
  roles(): Promise<StoreProcesses>;
  /**
   * Resolves when one instrument writes, the other is ready to take over, and both account processes serve `account`.
   */
  whole(account: string): Promise<void>;
  /** Stops all processes. Resolves with the exit codes of the instruments. */
  stop(): Promise<readonly (number | string)[]>;
}

const wholeMs = 180_000;
/** Fixed ports of the account processes, as behind a proxy. */
const accountPorts = [8401, 8402];

/** Creates the store in the cluster and starts the processes. */
export async function startObservatory(cluster: Cluster, sim: SimAddresses, folder: string): Promise<Observatory> {
  const { machines, password, authority } = cluster;
  const addresses = machines.map(({ address }) => address);
  const tls = `sslmode=verify-full&sslrootcert=${authority}`;
  const url = (user: string, hosts: string, more = ''): string =>
    `postgres://${user}@${hosts}/almanac?${tls}${more === '' ? '' : `&${more}`}`;
  process.env.PGPASSWORD = password;
  const env = { PGPASSWORD: password };
  await createStore(cluster, url('postgres', addresses.join()), env);

  const artifacts = ['a', 'b'].map((name) => join(folder, `artifacts-${name}`));
  const instruments: KeptProcess[] = [];
  for (const [at, directory] of artifacts.entries()) {
    const link = await createLink(addresses);
    const args = [
      ...['labels', '--standby', ...labelsArgs(sim, url('almanac_writer', link.hosts), directory)],
      ...['--state', join(folder, `state-${at}`)],
    ];
    instruments.push(keepProcess(`instrument ${at + 1}`, link, args, env));
    // Wait here so that the first instrument becomes the writer.
    await until(
      'an instrument writes',
      async () => (await roles().catch(() => null))?.writer?.state === 'ready',
      wholeMs,
    );
  }
  const secret = join(folder, 'secret');
  writeFileSync(secret, randomBytes(32).toString('hex'), { mode: 0o600 });
  const accounts: KeptProcess[] = [];
  for (const [at, port] of accountPorts.entries()) {
    // Give each process a different order, so that they prefer different servers.
    const link = await createLink([...addresses.slice(at + 1), ...addresses.slice(0, at + 1)]);
    const args = [
      ...['account', '--store', url('almanac_reader', link.hosts, 'target_session_attrs=prefer-standby')],
      ...['--port', String(port), '--data', join(folder, `account-${at}`), '--secret-file', secret],
      ...['--no-handles', '--client-cost', '0'],
    ];
    accounts.push(keepProcess(`account ${at + 1}`, link, args, env));
  }
  const accountUrls = accountPorts.map((port) => `http://127.0.0.1:${port}`);
  const store = url('almanac_writer', addresses.join());
  function roles(): Promise<StoreProcesses> {
    return storeProcesses(url('almanac_writer', addresses.join(), 'target_session_attrs=primary'));
  }
  const observatory: Observatory = {
    instruments,
    accounts,
    accountUrls,
    store: `${store}&target_session_attrs=primary`,
    anyServer: `${store}&target_session_attrs=prefer-standby`,
    roles,
    async whole(account) {
      await until(
        'an instrument writes and another one is ready',
        async () => {
          const found = await roles().catch(() => null);
          return found?.writer?.state === 'ready' && found.standby?.state === 'ready';
        },
        wholeMs,
      );
      await until(
        'both account processes respond',
        async () => (await Promise.all(accountUrls.map((one) => isServed(one, account)))).every(Boolean),
        wholeMs,
      );
    },
    async stop() {
      const [, ...codes] = await Promise.all([
        Promise.all(accounts.map((account) => account.stop())),
        ...instruments.map((instrument) => instrument.stop()),
      ]);
      for (const { link } of [...instruments, ...accounts]) link.close();
      return codes;
    },
  };
  return observatory;
}

async function createStore(cluster: Cluster, url: string, env: Readonly<Record<string, string>>): Promise<void> {
  await cluster.sql('postgres', ["CREATE DATABASE almanac TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'"]);
  const program = startProgram(['store', 'init', '--store', url], { env });
  if ((await program.ended()) !== 0) throw new Error(`almanac store init failed: ${program.stderr.join('\n')}`);
  await cluster.sql(
    'almanac',
    ['almanac_writer', 'almanac_reader'].map((role) => `ALTER ROLE ${role} PASSWORD '${cluster.password}'`),
  );
}

async function isServed(url: string, account: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/account?did=${account}&days=7`, { signal: AbortSignal.timeout(10_000) });
    await response.text();
    return response.status === 200;
  } catch {
    return false;
  }
}
