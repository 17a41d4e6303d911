import { connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { labelers, noon, subjects } from '../../../harness/conformance/labels.ts';
import { around, batch, later, problems } from '../../../harness/conformance/suite.ts';
import { listenForTest } from '../../../harness/net/listen.ts';
import { startAppending } from '../../../harness/postgres/appending.ts';
import { startLossyProxy } from '../../../harness/postgres/lost-replies.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { until } from '../../../harness/process/until.ts';
import { inspect, openStoreReader } from '../../../src/store/open.ts';
import type { Batch, StoreWriter } from '../../../src/store/port.ts';
import { type PostgresPlace, parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { Session } from '../../../src/store/postgres/base/session.ts';
import { migrations } from '../../../src/store/postgres/schema/migrations.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';
import { day, dayStart } from '../../../src/store/time.ts';

const [alice = ''] = subjects;
const leaseMs = 600;

describe.skipIf(!hasPostgres())('a store in PostgreSQL', () => {
  let server: PostgresServer;
  let count = 0;
  let url = '';
  let place: PostgresPlace;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    url = server.url(`store_${++count}`);
    place = parsePostgresUrl(url);
  });

  const write = (at = noon, windowDays = 30): Promise<StoreWriter> =>
    openPostgresWriter({ place, at, leaseMs, windowDays });
  const change = async (sql: string): Promise<void> => {
    const session = new Session(place, 'primary', 1);
    await session.write((queries) => queries.run(sql));
    await session.close();
  };
  const rows = async <Row extends object>(sql: string): Promise<Row[]> => {
    const session = new Session(place, 'primary', 1);
    const found = await session.read((queries) => queries.rows<Row>(sql));
    await session.close();
    return found;
  };
  /** Opens a connection as another program would. */
  const connected = async (): Promise<pg.Client> => {
    const client = new pg.Client({ host: server.socket, user: 'almanac', database: 'postgres' });
    await client.connect();
    return client;
  };

  it('refuses the batches of a suspended writer after another process has become the writer', async () => {
    const appending = startAppending(url, leaseMs);
    while (!(await appending.line())?.startsWith('ack'));
    appending.child.kill('SIGSTOP');
    const second = await write();
    const before = await second.frontier();
    appending.child.kill('SIGCONT');
    let last: string | null = null;
    for (let line = await appending.line(); line !== null; line = await appending.line()) last = line;
    expect(last).toBe('refused fenced');
    expect(await second.frontier()).toEqual(before);
    expect(await problems(second)).toEqual([]);
    await second.close();
  });

  it.each<[string, (writer: StoreWriter) => Promise<unknown>]>([
    ['a batch', (writer) => writer.append(batch(noon, [2]))],
    ['a heartbeat', (writer) => writer.beat(noon)],
    ['a note', (writer) => writer.putNote('a', 'b')],
    ['a purge', (writer) => writer.purge(noon)],
    ['upkeep', (writer) => writer.maintain(noon)],
  ])('refuses changes by a writer that has lost the lease (%s)', async (_, work) => {
    const writer = await write();
    await writer.append(batch(noon, [1]));
    await change('UPDATE store SET token = token + 1');
    await expect(work(writer)).rejects.toMatchObject({ code: 'fenced', fatal: true });
    expect((await writer.frontier()).end).toBe(noon + 1);
    await writer.close();
  });

  it('continues after the last stamp in the database if the reply to a commit was lost', async () => {
    const writer = await write();
    await writer.append(batch(noon, [1]));
    const client = await connected();
    await client.query(`BEGIN; SELECT 1 FROM ${place.schema}.store FOR UPDATE`);
    const lost = writer.append(batch(noon, [2])).catch((error: unknown) => error);
    const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%last_stamp%'`;
    // Do not use a transaction, within which the list of connections would be read only once.
    const observer = await connected();
    await until('the end of the waiting connection', async () => (await observer.query(end)).rowCount === 1);
    await observer.end();
    expect(await lost).toMatchObject({ name: 'StoreError', retry: true });
    await client.query(`UPDATE ${place.schema}.store SET last_stamp = last_stamp + 7; COMMIT`);
    await client.end();
    expect(await writer.append(batch(noon, [3]))).toMatchObject({ accepted: 1, first: noon + 8 });
    await writer.close();
  });

  it('counts nothing twice if the reply to a commit was lost and its batch is appended again', async () => {
    const replies = await startLossyProxy(server);
    const through = { ...place, hosts: [{ host: '127.0.0.1', port: replies.port }] };
    const writer = await openPostgresWriter({ place: through, at: noon, leaseMs: 3_600_000 });
    onTestFinished(() => writer.close());
    await writer.append(batch(noon, [1]));

    const [repeat, ...fresh] = batch(noon, [1, 2, 5]).observations;
    if (repeat === undefined) throw new Error('no observation');
    const refusals: Batch['refusals'] = [{ source: labelers[0] ?? '', reason: 'late', count: 3 }];
    const sent: Batch = { at: later(noon, 1_000), observations: [repeat, ...fresh], refusals, positions: [] };
    replies.lose();
    const lost = writer.append(sent).catch((error: unknown) => error);
    await until('the commit', async () => (await rows('SELECT 1 FROM observation')).length === 3);
    replies.restore();
    expect(await lost).toMatchObject({ code: 'unreachable', retry: true });

    const [another] = batch(noon, [7]).observations;
    if (another === undefined) throw new Error('no observation');
    const again = { ...sent, at: later(noon, 2_000), observations: [another, ...sent.observations] };
    expect(await writer.append(again)).toEqual({
      accepted: 3,
      duplicates: [1],
      first: later(noon, 1_000),
      last: later(noon, 2_000),
    });
    const counted = async () => {
      const sums = { late: 0, duplicate: 0 };
      for (const { reason, count } of await writer.refusals(around(noon))) {
        if (reason === 'late' || reason === 'duplicate') sums[reason] += count;
      }
      return sums;
    };
    expect(await counted()).toEqual({ late: 3, duplicate: 1 });
    // The same labels are repeats from then on.
    expect(await writer.append({ ...again, at: later(noon, 3_000) })).toMatchObject({ accepted: 0 });
    expect(await counted()).toEqual({ late: 6, duplicate: 5 });
    expect(await problems(writer)).toEqual([]);
  });

  /** Resets the database to its state after the batch with label 1, like a failover that lost the later commits. */
  const loseCommits = async (writer: StoreWriter): Promise<void> => {
    await writer.append(batch(noon, [1]));
    const [row] = await rows<{ last: number; through: number }>(
      'SELECT last_stamp AS last, observed_through AS through FROM store',
    );
    await writer.append(batch(later(noon, 1_000), [2]));
    const session = new Session(place, 'primary', 1);
    await session.write(async (queries) => {
      await queries.run('DELETE FROM observation WHERE at > $1', [row?.last ?? null]);
      await queries.run('UPDATE store SET last_stamp = $1, observed_through = $2', [
        row?.last ?? null,
        row?.through ?? null,
      ]);
    });
    await session.close();
  };

  it('stops the writer if the database has lost commits, and lets a new writer accept the lost labels again', async () => {
    const writer = await write();
    await loseCommits(writer);
    const again = batch(later(noon, 2_000), [2]);
    for (let i = 0; i < 2; i++) {
      await expect(writer.append(again)).rejects.toMatchObject({ code: 'commits_lost', fatal: true });
    }
    await writer.close();
    const second = await write(later(noon, 3_000));
    expect(await second.append(batch(later(noon, 3_000), [1, 2]))).toMatchObject({ accepted: 1, duplicates: [0] });
    await second.close();
  });

  it('stores no heartbeat after the database has lost commits, because the next start would otherwise not detect the loss', async () => {
    const writer = await write();
    await writer.beat(noon);
    await loseCommits(writer);
    await expect(writer.beat(later(noon, 2_000))).rejects.toMatchObject({ code: 'commits_lost', fatal: true });
    expect(await writer.heartbeat()).toBe(noon);
    await writer.close();
  });

  it('stops the writer if the database lost commits while the reply to a commit was lost', async () => {
    const writer = await write();
    await loseCommits(writer);
    await change('ALTER TABLE store RENAME TO moved');
    await expect(writer.append(batch(later(noon, 2_000), [3]))).rejects.toMatchObject({ name: 'StoreError' });
    await change('ALTER TABLE moved RENAME TO store');
    const again = batch(later(noon, 2_000), [2]);
    await expect(writer.append(again)).rejects.toMatchObject({ code: 'commits_lost', fatal: true });
    await writer.close();
  });

  it('stops the writer if the database lost a commit that stored only a position', async () => {
    const writer = await write();
    await writer.append(batch(noon, [1]));
    await writer.append(batch(later(noon, 1_000), []));
    await change(`UPDATE store SET observed_through = ${noon}`);
    await expect(writer.append(batch(later(noon, 2_000), [2]))).rejects.toMatchObject({ code: 'commits_lost' });
    await writer.close();
  });

  it("refuses a writer if the database has lost the writer's opening, even if another writer followed the same predecessor", async () => {
    const before = 'SELECT token, holder, renewed_at, expires_at FROM store';
    await (await write()).close();
    await change(`CREATE TABLE kept AS ${before}`);
    const lost = await write();
    // The failover restores the former writer's row, and the next writer follows that row too.
    await change('UPDATE store SET (token, holder, renewed_at, expires_at) = (SELECT * FROM kept)');
    const next = await write();
    await expect(lost.beat(noon)).rejects.toMatchObject({ code: 'fenced', fatal: true });
    await lost.close();
    await next.beat(noon);
    await next.close();
  });

  it('names the current writer when it refuses a second writer', async () => {
    const writer = await write();
    await expect(write()).rejects.toMatchObject({
      code: 'second_writer',
      message: expect.stringContaining(`pid ${process.pid}`),
    });
    await writer.close();
  });

  it("accepts further batches after the server closed the writer's connections, and stores no label twice", async () => {
    const writer = await write();
    await writer.append(batch(noon, [1, 2]));
    const client = await connected();
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
    await client.end();
    const again = async () => {
      for (;;) {
        const result = await writer.append(batch(noon, [1, 2, 3])).catch((error: unknown) => error);
        if (!(result instanceof Error)) return result;
        expect(result).toMatchObject({ name: 'StoreError', retry: true });
      }
    };
    expect(await again()).toMatchObject({ accepted: 1, duplicates: [0, 1] });
    expect(await problems(writer)).toEqual([]);
    await writer.close();
  });

  it('stores nothing of waiting batches, if the database does not advance the last stamp with them', async () => {
    const writer = await write();
    await writer.append(batch(noon, [0, 1, 2, 3, 4, 5]));
    const client = await connected();
    await client.query(`SET search_path TO ${place.schema};
      CREATE FUNCTION ignored() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER ignored BEFORE UPDATE OF last_stamp ON store FOR EACH ROW
      WHEN (NEW.last_stamp > ${noon + 6}) EXECUTE FUNCTION ignored()`);
    await client.end();
    const begun = writer.append(batch(noon, [6]));
    await new Promise(setImmediate);
    const waiting = [writer.append(batch(noon, [7])), writer.append(batch(noon, [8]))];
    expect(await Promise.allSettled([begun, ...waiting])).toMatchObject([
      { value: { accepted: 1, first: noon + 6 } },
      { reason: { code: 'commits_lost' } },
      { reason: { code: 'commits_lost' } },
    ]);
    expect(await writer.frontier()).toMatchObject({ end: noon + 7 });
    expect(await problems(writer)).toEqual([]);
    await writer.close();
  });

  it('reports a server that does not exist as unreachable, which can be retried', async () => {
    const missing = parsePostgresUrl('postgres://almanac@127.0.0.1:1/postgres');
    await expect(openPostgresWriter({ place: missing, at: noon })).rejects.toMatchObject({
      code: 'unreachable',
      retry: true,
    });
  });

  it('rejects append, beat and maintain when a proxy stops forwarding, and lets the writer be closed', async () => {
    const proxied: Socket[] = [];
    let isForwarding = true;
    const proxy = createServer((client) => {
      const upstream = connect(`${server.socket}/.s.PGSQL.5432`);
      proxied.push(client, upstream);
      upstream.on('error', () => undefined);
      client.on('data', (data) => isForwarding && upstream.write(data));
      upstream.on('data', (data) => isForwarding && client.write(data));
      client.on('close', () => upstream.destroy());
    });
    const { port } = await listenForTest(proxy);
    const through = { ...place, hosts: [{ host: '127.0.0.1', port }] };
    const limits = { statementMs: 60_000, replyMs: 60_000 };
    // The limits do not pass before the proxy stops, and pass at once afterwards, also for a statement on its way then.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const writer = await openPostgresWriter({ place: through, at: noon, leaseMs, limits });
    await writer.append(batch(noon, [1]));
    isForwarding = false;
    const passing = setInterval(() => vi.advanceTimersByTime(60_000), 10);
    onTestFinished(() => clearInterval(passing));
    const lost = { code: 'unreachable', retry: true };
    await Promise.all([
      expect(writer.append(batch(noon, [2]))).rejects.toMatchObject(lost),
      expect(writer.beat(noon)).rejects.toMatchObject(lost),
      expect(writer.maintain(noon)).rejects.toMatchObject(lost),
    ]);
    await writer.close();
    await until('the end of all connections', () => proxied.every((socket) => socket.destroyed));
  });

  it('does not report a transaction as committed if its caller ignores a failed statement', async () => {
    const session = new Session(place, 'primary', 1);
    onTestFinished(() => session.close());
    const ignoring = session.write((queries) => queries.rows('SELECT 1 / 0').catch(() => []));
    await expect(ignoring).rejects.toMatchObject({ code: 'unexpected' });
  });

  it('tries the servers of its URL in order', async () => {
    const two: PostgresPlace = { ...place, hosts: [{ host: '127.0.0.1', port: 1 }, ...place.hosts] };
    const writer = await openPostgresWriter({ place: two, at: noon });
    expect(await writer.append(batch(noon, [1]))).toMatchObject({ accepted: 1 });
    await writer.close();
  });

  it('drops a day without waiting for a reader, and removes its table once the reader has finished', async () => {
    const writer = await write(noon, 1);
    for (let d = 0; d < 4; d++) await writer.append(batch(later(noon, d * day), [d]));
    const reader = await connected();
    await reader.query(`BEGIN; SELECT count(*) FROM ${place.schema}.observation`);
    const now = later(noon, 3 * day);
    expect((await writer.maintain(now)).expired).toEqual(['2024-10-04']);
    expect(await writer.frontier()).toMatchObject({ floor: dayStart(20_001) });
    expect(await writer.append(batch(now, [9]))).toMatchObject({ accepted: 1 });
    const tables = async () => {
      const { rows } = await reader.query<{ name: string }>(
        `SELECT relname AS name FROM pg_class
         WHERE relname = 'observation_2024_10_04' AND relnamespace = '${place.schema}'::regnamespace`,
      );
      return rows.length;
    };
    expect(await tables()).toBe(1);
    await reader.query('ROLLBACK');
    await writer.maintain(now);
    expect(await tables()).toBe(0);
    expect(await problems(writer)).toEqual([]);
    await reader.end();
    await writer.close();
  });

  it.each([
    ['a changed row', "UPDATE observation SET val = 'other' WHERE at = (SELECT min(at) FROM observation)"],
    ['a missing row', 'DELETE FROM observation WHERE at = (SELECT min(at) FROM observation)'],
    ['a changed flag', 'UPDATE observation SET flags = flags | 4 WHERE at = (SELECT min(at) FROM observation)'],
    ['a changed counter of an hour', 'UPDATE counter_hour SET applied = applied + 1'],
    ['a missing counter of a minute', 'DELETE FROM counter_minute'],
    ['a changed counter of a labeler', 'UPDATE labeler_count SET applied = applied + 1 WHERE kind = 1'],
    ['a changed count of an account', 'UPDATE account_group SET removed = removed + 1'],
    ['a wrong last stamp', 'UPDATE store SET last_stamp = started_at'],
  ])('is reported as damaged by verify (after %s)', async (_, sql) => {
    const writer = await write();
    await writer.append(
      batch(
        noon,
        Array.from({ length: 70 }, (__, i) => 4 * i),
      ),
    );
    expect(await problems(writer)).toEqual([]);
    await change(sql);
    expect(await problems(writer)).not.toEqual([]);
    await writer.close();
  });

  it('never returns a row that differs from the accepted label', async () => {
    const writer = await write();
    await writer.append(batch(noon, [0]));
    await change('UPDATE observation SET body = set_byte(body, 6, get_byte(body, 6) # 1)');
    const asked = { account: alice, ...around(noon), order: 'oldest', after: null, limit: 9 } as const;
    await expect(writer.readAccount(asked)).rejects.toMatchObject({ code: 'damaged' });
    await writer.close();
  });

  it('stores a label about a DID of 12 KB, and finds it', async () => {
    const writer = await write();
    const did = `did:web:${'x'.repeat(12_000)}.example`;
    const [observation] = batch(noon, [1]).observations;
    if (!observation) throw new Error('the batch is empty');
    const uri = `at://${did}/app.bsky.feed.post/1`;
    const label = { ...observation.label, uri, val: `${'v'.repeat(3_000)}\0\u0001` };
    await writer.append({ ...batch(noon, []), observations: [{ ...observation, label }] });
    const asked = { account: did, ...around(noon), order: 'newest', after: null, limit: 9 } as const;
    expect((await writer.readAccount(asked)).rows.map((row) => row.label)).toEqual([label]);
    expect(await problems(writer)).toEqual([]);
    await writer.close();
  });

  it('waits until each commit is on disk, even if the server does not require it', async () => {
    const session = new Session({ ...place, schema: 'public' }, 'primary', 1);
    const show = "SELECT current_setting('synchronous_commit') AS value";
    const [[before], [within]] = [await session.read((q) => q.rows(show)), await session.write((q) => q.rows(show))];
    expect([before, within]).toEqual([{ value: 'off' }, { value: 'on' }]);
    await session.close();
  });

  it('is refused if a newer version wrote it', async () => {
    await (await write()).close();
    await change('INSERT INTO migration(version, applied_at) VALUES (99, 0)');
    await expect(write()).rejects.toMatchObject({ code: 'schema_newer' });
    await expect(openStoreReader(url)).rejects.toMatchObject({ code: 'schema_newer' });
  });

  it('is migrated by a newer version only after the running writer has exited', async () => {
    const writer = await write();
    const versions = [...migrations, 'CREATE TABLE added(one integer)'];
    const newer = () => openPostgresWriter({ place, at: noon, leaseMs, versions });
    await expect(newer()).rejects.toMatchObject({ code: 'second_writer' });
    expect(await rows('SELECT max(version) AS version FROM migration')).toEqual([{ version: migrations.length }]);
    await writer.close();
    await (await newer()).close();
    expect(await rows('SELECT * FROM added')).toEqual([]);
  });

  it('is migrated only once by processes that start at the same time, one of which becomes the writer', async () => {
    const opened = await Promise.allSettled([write(), write(), write()]);
    const writers = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const refused = opened.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    expect(writers).toHaveLength(1);
    for (const reason of refused) expect(reason).toMatchObject({ code: 'second_writer' });
    const versions = migrations.map((_, i) => ({ version: i + 1 }));
    expect(await rows('SELECT version FROM migration ORDER BY version')).toEqual(versions);
    await writers[0]?.close();
  });

  it('can be inspected for its days, its writer and its size', async () => {
    const writer = await write();
    await writer.append(batch(noon, [1]));
    await writer.beat(noon);
    const found = {
      schema: migrations.length,
      heartbeat: noon,
      writing: true,
      sealedDays: 0,
      openDays: 1,
      missingDays: [],
    };
    expect(await inspect(url)).toMatchObject({ ...found, bytes: expect.any(Number) });
    await writer.close();
    expect(await inspect(url)).toMatchObject({ writing: false });
  });
});
