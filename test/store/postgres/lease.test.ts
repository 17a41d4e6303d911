import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { noon } from '../../../harness/conformance/labels.ts';
import { later } from '../../../harness/conformance/suite.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { until } from '../../../harness/process/until.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';
import { hour } from '../../../src/store/time.ts';

const leaseMs = 600;
/** Minimum number of connections for reads and changes of a writer. */
const connections = 4;

describe.skipIf(!hasPostgres())('the lease of a writer', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('is renewed while reads that wait for a lock occupy every other connection', async () => {
    const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url('leased')), at: noon, leaseMs });
    onTestFinished(() => writer.close());
    const [holder, observer] = [new pg.Client(server.client), new pg.Client(server.client)];
    for (const client of [holder, observer]) {
      await client.connect();
      onTestFinished(() => client.end());
    }
    await holder.query('BEGIN; LOCK TABLE leased.source IN ACCESS EXCLUSIVE MODE');
    const interval = { start: noon, end: later(noon, hour) };
    const reads = Promise.allSettled(Array.from({ length: connections }, () => writer.refusals(interval)));
    /** Returns the number of reads that wait for the lock, and the end of the lease. */
    const look = async (): Promise<{ waiting: number; expires: string } | undefined> => {
      const { rows } = await observer.query<{ waiting: number; expires: string }>(
        `SELECT expires_at::text AS expires,
         (SELECT count(*)::int FROM pg_locks WHERE relation = 'leased.source'::regclass AND NOT granted) AS waiting
         FROM leased.store`,
      );
      return rows[0];
    };
    await until('the wait of all reads', async () => (await look())?.waiting === connections);
    const seen = new Set<string | undefined>();
    await until('two renewals of the lease', async () => seen.add((await look())?.expires).size === 3);
    expect(await look()).toMatchObject({ waiting: connections });
    await holder.query('ROLLBACK');
    expect(await reads).toEqual(Array.from({ length: connections }, () => ({ status: 'fulfilled', value: [] })));
  });
});
