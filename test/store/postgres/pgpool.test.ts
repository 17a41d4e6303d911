import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { noon } from '../../../harness/conformance/labels.ts';
import { freePort } from '../../../harness/net/ports.ts';
import { hasPostgres, startPostgres, startStandby } from '../../../harness/postgres/server.ts';
import { startForeignInTest } from '../../../harness/process/program-in-test.ts';
import { lacks, toolPath } from '../../../harness/process/tools.ts';
import { until } from '../../../harness/process/until.ts';
import { openStoreReader, openStoreWriter } from '../../../src/store/open.ts';

/** Opens a store through a real pgpool (Debian's `pgpool2`) in front of a primary and a standby. */

/** Starts pgpool, which sends reads to the standby if it balances the load. Resolves with its port. */
async function startPgpool(primary: number, standby: number, balances: boolean): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-pgpool-'));
  chmodSync(folder, 0o777);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  const settings = {
    backend_clustering_mode: 'streaming_replication',
    ...{ listen_addresses: '127.0.0.1', port, unix_socket_directories: folder },
    ...{ pcp_port: await freePort(), pcp_socket_dir: folder },
    ...{ backend_hostname0: '127.0.0.1', backend_port0: primary, backend_weight0: 0 },
    ...{ backend_flag0: 'ALWAYS_PRIMARY|DISALLOW_TO_FAILOVER' },
    ...{ backend_hostname1: '127.0.0.1', backend_port1: standby, backend_weight1: 1 },
    ...{ backend_flag1: 'DISALLOW_TO_FAILOVER', load_balance_mode: balances ? 'on' : 'off' },
    ...{ pid_file_name: join(folder, 'pid'), logdir: folder, sr_check_period: 0, sr_check_user: 'almanac' },
    ...{ num_init_children: 8, enable_pool_hba: 'off', memory_cache_enabled: 'off' },
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${quoted(value)}\n`);
  for (const [name, text] of [
    ['pgpool.conf', lines.join('')],
    ['pcp.conf', ''],
    ['pool_hba.conf', ''],
  ] as const)
    writeFileSync(join(folder, name), text);
  const files = ['-f', 'pgpool.conf', '-F', 'pcp.conf', '-a', 'pool_hba.conf'];
  const program = startForeignInTest(toolPath('pgpool'), ['-n', ...files], { cwd: folder, signal: 'SIGINT' });
  await until('pgpool has started', () => {
    program.assertRuns();
    return program.said().includes('successfully started');
  });
  return port;
}

const quoted = (value: string | number): string => (typeof value === 'number' ? String(value) : `'${value}'`);

describe.skipIf(!hasPostgres() || lacks('pgpool'))('a store behind pgpool', () => {
  it('is not opened if pgpool distributes the statements of a transaction, and the message names the setting', async () => {
    const [primaryPort, standbyPort] = [await freePort(), await freePort()];
    const primary = await startPostgres({ port: primaryPort });
    onTestFinished(() => primary.stop());
    const standby = await startStandby(primary, { port: standbyPort });
    onTestFinished(() => standby.stop());
    const urlOf = (port: number) => `postgres://almanac@127.0.0.1:${port}/postgres?schema=pooled`;
    const writer = await openStoreWriter(urlOf(primaryPort), { at: noon, windowDays: 1 });
    await writer.close();
    const balancing = urlOf(await startPgpool(primaryPort, standbyPort, true));
    const named = { code: 'misconfigured', message: expect.stringContaining('pgpool: load_balance_mode = off') };
    await expect(openStoreReader(balancing)).rejects.toMatchObject(named);
    await expect(openStoreWriter(balancing, { at: noon })).rejects.toMatchObject(named);
    const plain = urlOf(await startPgpool(primaryPort, standbyPort, false));
    await (await openStoreReader(plain)).close();
    await (await openStoreWriter(plain, { at: noon, windowDays: 1 })).close();
  });
});
