import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { labelers, noon } from '../../../harness/conformance/labels.ts';
import { batch, later, problems } from '../../../harness/conformance/suite.ts';
import { statement } from '../../../harness/postgres/appending.ts';
import { startLossyProxy } from '../../../harness/postgres/lost-replies.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { until } from '../../../harness/process/until.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';
import { hour } from '../../../src/store/time.ts';

describe.skipIf(!hasPostgres())('a request to purge a labeler', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('covers the rows of an append that commits while the request waits for it', async () => {
    const [source = ''] = labelers;
    const at = later(noon, 1_000);
    const last = later(noon, hour);
    const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url('purged')), at: noon });
    onTestFinished(() => writer.close());
    await writer.append(batch(noon, [1]));
    const appending = new pg.Client(server.client);
    await appending.connect();
    onTestFinished(() => appending.end());
    await appending.query('BEGIN');
    await appending.query('UPDATE purged.store SET last_stamp = $1', [last]);
    const requested = writer.requestPurge({ source, at });
    await until('the request waits', async () => {
      const { rows } = await appending.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
      return rows.length > 0;
    });
    await appending.query('COMMIT');
    expect(await requested).toBe(true);
    expect(await writer.gaps({ start: noon, end: later(noon, 2 * hour) })).toEqual([
      { source, start: noon, end: last + 1, reason: 'maintenance' },
    ]);
  });

  it('lets the labels be accepted again, even if the commit of their removal was stored without a reply', async () => {
    const [source = ''] = labelers;
    const at = later(noon, 1_000);
    const replies = await startLossyProxy(server);
    const place = parsePostgresUrl(server.url('unanswered'));
    const through = { ...place, hosts: [{ host: '127.0.0.1', port: replies.port }] };
    const writer = await openPostgresWriter({ place: through, at: noon, leaseMs: 3_600_000 });
    onTestFinished(() => writer.close());
    await writer.append(batch(noon, [0, 1]));
    await writer.requestPurge({ source, at });
    replies.lose();
    const lost = writer.purge(at).catch((error: unknown) => error);
    await until('the removal', async () => {
      return (await statement(server, 'SELECT 1 FROM unanswered.purge WHERE removed = 1')).length > 0;
    });
    replies.restore();
    expect(await lost).toMatchObject({ code: 'unreachable', retry: true });
    while (await writer.purge(at));
    expect(await writer.purges()).toMatchObject([{ source, completedAt: at, rows: 1 }]);
    expect(await writer.append(batch(later(noon, 2_000), [0, 1]))).toMatchObject({ accepted: 1, duplicates: [1] });
    expect(await problems(writer)).toEqual([]);
  });
});
