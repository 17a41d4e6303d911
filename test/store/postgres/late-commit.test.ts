import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { noon } from '../../../harness/conformance/labels.ts';
import { batch, later, problems } from '../../../harness/conformance/suite.ts';
import { statement } from '../../../harness/postgres/appending.ts';
import { startLossyProxy } from '../../../harness/postgres/lost-replies.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { until } from '../../../harness/process/until.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';

describe.skipIf(!hasPostgres())('a commit that the server stores after its connection was lost', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  /** Makes commits that move the last stamp wait, as for a synchronous standby, and returns a function that ends this. */
  const delayCommits = async (schema: string): Promise<() => Promise<void>> => {
    const client = new pg.Client(server.client);
    await client.connect();
    onTestFinished(() => client.end());
    // The lost connection does not end the commit: PostgreSQL does not check it while it waits for a standby.
    await client.query(`SELECT pg_advisory_lock(1); SET search_path TO ${schema};
      CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM set_config('client_connection_check_interval', '0', true), set_config('lock_timeout', '0', true);
        PERFORM pg_advisory_xact_lock_shared(1);
        RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER delaying AFTER UPDATE OF last_stamp ON store DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.last_stamp <> OLD.last_stamp) EXECUTE FUNCTION delay()`);
    return async () => void (await client.query('SELECT pg_advisory_unlock(1)'));
  };
  const waiting = (event: string): Promise<void> =>
    until(`a wait for ${event}`, async () => {
      const sql = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event = '${event}'`;
      return (await statement(server, sql)).length === 1;
    });

  it('is not treated as a loss if it is stored during the next attempt, which reports its rows as accepted', async () => {
    const replies = await startLossyProxy(server);
    const place = parsePostgresUrl(server.url('late'));
    const through = { ...place, hosts: [{ host: '127.0.0.1', port: replies.port }] };
    const writer = await openPostgresWriter({ place: through, at: noon, leaseMs: 3_600_000 });
    onTestFinished(() => writer.close());
    await writer.append(batch(noon, [1]));
    const endDelay = await delayCommits('late');

    const sent = batch(later(noon, 1_000), [2, 3]);
    replies.lose();
    const lost = writer.append(sent).catch((error: unknown) => error);
    await waiting('advisory');
    replies.restore();
    expect(await lost).toMatchObject({ code: 'unreachable', retry: true });

    const again = writer.append({ ...sent, at: later(noon, 2_000) });
    await waiting('transactionid');
    await endDelay();
    expect(await again).toEqual({
      ...{ accepted: 2, duplicates: [], first: later(noon, 1_000), last: later(noon, 1_001) },
    });
    expect(await writer.append(batch(later(noon, 3_000), [3, 4]))).toEqual({
      ...{ accepted: 1, duplicates: [0], first: later(noon, 3_000), last: later(noon, 3_000) },
    });
    expect(await problems(writer)).toEqual([]);
  });
});
