import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { noon } from '../../../harness/conformance/labels.ts';
import { later, problems } from '../../../harness/conformance/suite.ts';
import { startAppending, statement } from '../../../harness/postgres/appending.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { until } from '../../../harness/process/until.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { minConnections, openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';
import { hour } from '../../../src/store/time.ts';

const leaseMs = 600;

describe.skipIf(!hasPostgres())('the lease of a writer', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('of a process that died is taken once it has expired', async () => {
    const place = parsePostgresUrl(server.url('left'));
    const writer = await openPostgresWriter({ place, at: noon, leaseMs });
    await writer.close();
    const client = new pg.Client(server.client);
    await client.connect();
    onTestFinished(() => client.end());
    // A process that dies does not give up its lease.
    await client.query('UPDATE "left".store SET expires_at = clock_timestamp() + interval \'1 second\'');
    const next = await openPostgresWriter({ place, at: noon, leaseMs });
    expect((await next.epoch()).startedAt).toBe(noon);
    await next.close();
  });

  it.each(['1 hour', '30 days'])(
    'of a process that died is taken if it was not renewed for two lease durations, because the clock of the database may have been set back (by %s)',
    async (ahead) => {
      const schema = `ahead_${ahead.replace(' ', '_')}`;
      const place = parsePostgresUrl(server.url(schema));
      await (await openPostgresWriter({ place, at: noon, leaseMs })).close();
      const left = `clock_timestamp() + interval '${ahead}'`;
      await statement(
        server,
        `UPDATE ${schema}.store SET renewed_at = ${left}, expires_at = ${left} + interval '1 second'`,
      );
      const next = await openPostgresWriter({ place, at: noon, leaseMs });
      expect((await next.epoch()).startedAt).toBe(noon);
      await next.close();
    },
  );

  it('of a suspended process is taken likewise, and the process then stores nothing more', async () => {
    const url = server.url('silent');
    const appending = startAppending(url, leaseMs);
    onTestFinished(async () => void (await appending.end('SIGKILL')));
    while (!(await appending.line())?.startsWith('ack'));
    appending.child.kill('SIGSTOP');
    await statement(server, "UPDATE silent.store SET expires_at = clock_timestamp() + interval '1 hour'");
    const next = await openPostgresWriter({ place: parsePostgresUrl(url), at: noon, leaseMs });
    const before = await next.frontier();
    appending.child.kill('SIGCONT');
    let last: string | null = null;
    for (let line = await appending.line(); line !== null; line = await appending.line()) last = line;
    expect(last).toBe('refused fenced');
    expect(await next.frontier()).toEqual(before);
    expect(await problems(next)).toEqual([]);
    await next.close();
  });

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
    let isLocked = true;
    // A read gives up after a time, which a slow machine may exceed, so each of them is repeated.
    const readWhileLocked = async (): Promise<void> => {
      while (isLocked) await writer.refusals(interval).catch(() => undefined);
    };
    const reads = Promise.all(Array.from({ length: minConnections }, readWhileLocked));
    /** Returns the number of reads that wait for the lock, and the end of the lease. */
    const look = async (): Promise<{ waiting: number; expires: string } | undefined> => {
      const { rows } = await observer.query<{ waiting: number; expires: string }>(
        `SELECT expires_at::text AS expires,
         (SELECT count(*)::int FROM pg_locks WHERE relation = 'leased.source'::regclass AND NOT granted) AS waiting
         FROM leased.store`,
      );
      return rows[0];
    };
    const seen = new Set<string>();
    await until('two renewals of the lease while all reads wait', async () => {
      const now = await look();
      if (now?.waiting === minConnections) seen.add(now.expires);
      return seen.size === 3;
    });
    expect(seen.size).toBe(3);
    isLocked = false;
    await holder.query('ROLLBACK');
    await reads;
  });
});
