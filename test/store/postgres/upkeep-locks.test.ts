import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { labelers, noon } from '../../../harness/conformance/labels.ts';
import { around, batch, later, problems } from '../../../harness/conformance/suite.ts';
import { statement } from '../../../harness/postgres/appending.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { until } from '../../../harness/process/until.ts';
import type { StoreWriter } from '../../../src/store/port.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';
import { day, dayStart } from '../../../src/store/time.ts';

const firstDay = 20_000;

describe.skipIf(!hasPostgres())('while the counters of a day are deleted, which may take long,', () => {
  let server: PostgresServer;
  let count = 0;
  let schema = '';
  let writer: StoreWriter;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    schema = `upkeep_${++count}`;
    const place = parsePostgresUrl(server.url(schema));
    writer = await openPostgresWriter({ place, at: noon, leaseMs: 600, windowDays: 1 });
    onTestFinished(() => writer.close());
    for (let d = 0; d < 4; d++) await writer.append(batch(later(noon, d * day), [d, d + 12]));
  });

  /** Makes `work` wait while it deletes counters. Returns its result, and a function that ends the wait. */
  async function held<T>(work: () => Promise<T>) {
    const client = new pg.Client(server.client);
    await client.connect();
    onTestFinished(() => client.end());
    // Unlike a lock, a trigger can wait for as long as the test needs on a busy machine.
    await client.query(`CREATE TABLE ${schema}.held AS SELECT 1;
      CREATE FUNCTION ${schema}.hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        WHILE EXISTS (SELECT 1 FROM ${schema}.held) LOOP PERFORM pg_sleep(0.02); END LOOP; RETURN NULL; END $$;
      CREATE TRIGGER hold BEFORE DELETE ON ${schema}.counter_minute FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.hold()`);
    const done = work();
    // Prevent an unhandled rejection if the test fails before it awaits the result.
    done.catch(() => undefined);
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'DELETE FROM counter_minute%'`;
    await until('the deletion waits', async () => (await statement(server, waiting)).length > 0);
    return { done, release: () => client.query(`DELETE FROM ${schema}.held`) };
  }

  /** Resolves when the lease has been renewed after this call. */
  async function renewed(): Promise<void> {
    const look = async () => (await statement(server, `SELECT renewed_at::text AS at FROM ${schema}.store`))[0]?.at;
    const before = await look();
    await until('a renewal of the lease', async () => (await look()) !== before);
  }

  it('an expiring day is still complete for readers, labels are accepted, and the lease is renewed', async () => {
    const now = later(noon, 3 * day);
    const counts = await writer.countsByLabeler(around(noon));
    const { done, release } = await held(() => writer.maintain(now));
    expect(await writer.append(batch(now, [9]))).toMatchObject({ accepted: 1 });
    await renewed();
    expect(await writer.frontier()).toMatchObject({ floor: noon });
    expect(await writer.countsByLabeler(around(noon))).toEqual(counts);
    await release();
    expect((await done).expired).toEqual(['2024-10-04']);
    expect(await writer.frontier()).toMatchObject({ floor: dayStart(firstDay + 1) });
    await expect(writer.countsByLabeler(around(noon))).rejects.toMatchObject({ code: 'out_of_window' });
    expect(await problems(writer)).toEqual([]);
  });

  it('a purge of an earlier day lets labels be accepted and the lease be renewed', async () => {
    const now = later(noon, 3 * day);
    await writer.requestPurge({ source: labelers[0] ?? '', at: now });
    const { done, release } = await held(() => writer.purge(now));
    expect(await writer.append(batch(now, [10]))).toMatchObject({ accepted: 1 });
    await renewed();
    await release();
    expect(await done).toBe(true);
    while (await writer.purge(now));
    expect(await problems(writer)).toEqual([]);
  });
});
