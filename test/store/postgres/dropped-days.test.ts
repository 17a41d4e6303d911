import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { noon } from '../../../harness/conformance/labels.ts';
import { batch, later } from '../../../harness/conformance/suite.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';
import { day } from '../../../src/store/time.ts';

describe.skipIf(!hasPostgres())('the tables of expired days', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('are all dropped after a read has ended that postponed the drop of any of them', async () => {
    const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url('dropped')), at: noon });
    onTestFinished(() => writer.close());
    for (let d = 0; d < 4; d++) await writer.append(batch(later(noon, d * day), [d]));
    const now = later(noon, 3 * day);
    const client = new pg.Client(server.client);
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('SET search_path TO dropped');
    const expire = (date: string) => client.query(`DELETE FROM day WHERE day = date '${date}' - date '1970-01-01'`);
    const tables = async () => {
      const { rows } = await client.query<{ name: string; pending: boolean | null }>(
        `SELECT relname AS name, inhdetachpending AS pending FROM pg_class LEFT JOIN pg_inherits ON inhrelid = oid
         WHERE relname LIKE 'observation_20%' AND relkind = 'r' ORDER BY relname`,
      );
      return rows;
    };
    const kept = [
      { name: 'observation_2024_10_06', pending: false },
      { name: 'observation_2024_10_07', pending: false },
    ];

    // A read delays the drop of the second day, which expires first: PostgreSQL detaches one table at a time.
    await expire('2024-10-05');
    await client.query('BEGIN; SELECT count(*) FROM observation');
    await writer.maintain(now);
    await client.query('COMMIT');
    expect(await tables()).toEqual([
      { name: 'observation_2024_10_04', pending: false },
      { name: 'observation_2024_10_05', pending: true },
      ...kept,
    ]);
    await expire('2024-10-04');
    await writer.maintain(now);
    expect(await tables()).toEqual(kept);
    expect(await writer.append(batch(now, [9]))).toMatchObject({ accepted: 1 });
  });
});
