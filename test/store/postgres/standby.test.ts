import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { noon } from '../../../harness/conformance/labels.ts';
import { batch, later } from '../../../harness/conformance/suite.ts';
import { startAppending, statement } from '../../../harness/postgres/appending.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { until } from '../../../harness/process/until.ts';
import { askWriterToStop, storeProcesses } from '../../../src/store/open.ts';
import type { StoreWriter } from '../../../src/store/port.ts';
import { StandbyPlace } from '../../../src/store/postgres/base/lease.ts';
import { type PostgresPlace, parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { Session } from '../../../src/store/postgres/base/session.ts';
import { migrations } from '../../../src/store/postgres/schema/migrations.ts';
import { openPostgresStandby } from '../../../src/store/postgres/standby/standby.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';
import type { StoreStandby } from '../../../src/store/standby/standby.ts';

const leaseMs = 600;

describe.skipIf(!hasPostgres())('the standby of a store in PostgreSQL', () => {
  let server: PostgresServer;
  let count = 0;
  let url = '';
  let place: PostgresPlace;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    url = server.url(`standby_${++count}`);
    place = parsePostgresUrl(url);
  });

  const write = async (asked?: () => void): Promise<StoreWriter> => {
    const writer = await openPostgresWriter({ place, at: noon, leaseMs, ...(asked && { asked }) });
    onTestFinished(() => writer.close());
    return writer;
  };
  const standBy = async (): Promise<StoreStandby> => {
    const standby = await openPostgresStandby({ place, clock: () => noon, leaseMs });
    onTestFinished(() => standby.close());
    return standby;
  };
  const change = async (sql: string): Promise<void> => {
    const session = new Session(place, 'primary', 1);
    await session.write((queries) => queries.run(sql));
    await session.close();
  };
  /** Returns the number of rows that a FROM clause selects. */
  const counted = async (sql: string): Promise<number> => {
    const [row] = await statement(server, `SELECT count(*)::int AS count ${sql}`);
    return Number(row?.count);
  };
  /** Returns the number of sessions that ended by a fatal error, such as a timeout of the server. */
  const fatalEnds = async (): Promise<number> => {
    const [row] = await statement(
      server,
      'SELECT sessions_fatal::int AS count FROM pg_stat_database WHERE datname = current_database()',
    );
    return Number(row?.count);
  };
  /** Returns, for each label, true if a standby knows the label. */
  const known = (standby: StoreStandby, numbers: readonly number[]): boolean[] =>
    batch(noon, numbers).observations.map(({ label }) => standby.knows(standby.identityOf(label)));

  it('follows the rows that the writer stores, and does not store them again when it becomes the writer', async () => {
    const writer = await write();
    await writer.append(batch(noon, [1, 2]));
    const standby = await standBy();
    const stored: string[] = [];
    await standby.follow((identity) => stored.push(identity));
    await writer.append(batch(later(noon, 10), [3]));
    await standby.follow((identity) => stored.push(identity));
    await standby.follow((identity) => stored.push(identity));
    const { observations } = batch(noon, [1, 2, 3, 4]);
    expect(stored).toEqual(observations.slice(0, 3).map(({ label }) => standby.identityOf(label)));
    expect(known(standby, [1, 2, 3, 4])).toEqual([true, true, true, false]);
    await writer.append(batch(later(noon, 20), [4]));
    await expect(standby.takeOver()).rejects.toMatchObject({ code: 'second_writer' });
    await writer.close();
    expect(await standby.writer()).toEqual({ kind: 'none' });
    const next = await standby.takeOver();
    onTestFinished(() => next.close());
    const again = batch(later(noon, 30), [1, 3, 4, 5]);
    expect(await next.append(again)).toMatchObject({ accepted: 1, duplicates: [0, 1, 2], first: noon + 30 });
  });

  it('reads the label identities again after rows were purged', async () => {
    const writer = await write();
    const { observations } = batch(noon, [1]);
    await writer.append(batch(noon, [1]));
    const standby = await standBy();
    await standby.follow();
    await writer.requestPurge({ source: observations[0]?.label.src ?? '', at: later(noon, 1) });
    while (await writer.purge(later(noon, 1)));
    await standby.follow();
    expect(known(standby, [1])).toEqual([false]);
  });

  it('does not know the rows that were purged since it last followed the writer, when it becomes the writer', async () => {
    const writer = await write();
    const [first] = batch(noon, [0]).observations;
    await writer.append(batch(noon, [0, 1]));
    const standby = await standBy();
    await standby.follow();
    await writer.requestPurge({ source: first?.label.src ?? '', at: later(noon, 10) });
    while (await writer.purge(later(noon, 10)));
    await writer.close();
    const next = await standby.takeOver();
    onTestFinished(() => next.close());
    expect(await next.append(batch(later(noon, 20), [0, 1]))).toMatchObject({ accepted: 1, duplicates: [1] });
  });

  it('does not become the writer if the database lost a purge that the standby has already seen', async () => {
    const writer = await write();
    await writer.requestPurge({ source: 'did:web:mod.example', at: later(noon, 10) });
    const standby = await standBy();
    await standby.follow();
    await writer.close();
    await change('UPDATE store SET revision = revision - 1');
    await expect(standby.takeOver()).rejects.toMatchObject({ code: 'commits_lost', fatal: true });
  });

  it('fails if the database lost rows that the standby has already read, even if other rows followed', async () => {
    const writer = await write();
    await writer.append(batch(noon, [1, 2]));
    const standby = await standBy();
    await standby.follow();
    await change(`DELETE FROM observation WHERE at = ${noon + 1}`);
    await writer.append(batch(later(noon, 10), [3]));
    await expect(standby.follow()).rejects.toMatchObject({ code: 'commits_lost', fatal: true });
    await change(`UPDATE store SET last_stamp = ${noon}`);
    await writer.close();
    await expect(standby.takeOver()).rejects.toMatchObject({ code: 'commits_lost', fatal: true });
  });

  it('fails if the database lost rows that the standby has already read, even if the next writer has ended the exports', async () => {
    const writer = await write();
    await writer.append(batch(noon, [1, 2]));
    const standby = await standBy();
    await standby.follow();
    await change(`DELETE FROM observation WHERE at = ${noon + 1}`);
    // Neither this nor the purge of another labeler explains the missing row.
    await writer.endReads(0);
    await writer.requestPurge({ source: 'did:web:another.example', at: later(noon, 5) });
    await writer.append(batch(later(noon, 10), [3]));
    const lost = { code: 'commits_lost', fatal: true };
    await expect(standby.follow()).rejects.toMatchObject(lost);
    await writer.close();
    await expect(standby.takeOver()).rejects.toMatchObject(lost);
  });

  it('does not become the writer if rows were lost since it last followed the writer, even if other rows followed', async () => {
    const writer = await write();
    await writer.append(batch(noon, [1, 2]));
    const standby = await standBy();
    await standby.follow();
    await change(`DELETE FROM observation WHERE at = ${noon + 1}`);
    await writer.append(batch(later(noon, 10), [3]));
    await writer.close();
    await expect(standby.takeOver()).rejects.toMatchObject({ code: 'commits_lost', fatal: true });
  });

  it('continues if the last row that it read was purged with its labeler and other rows followed', async () => {
    const writer = await write();
    const [first] = batch(noon, [0]).observations;
    await writer.append(batch(noon, [1, 0]));
    const standby = await standBy();
    await standby.follow();
    await writer.requestPurge({ source: first?.label.src ?? '', at: later(noon, 10) });
    while (await writer.purge(later(noon, 10)));
    await writer.append(batch(later(noon, 20), [2]));
    await standby.follow();
    expect(known(standby, [0, 1, 2])).toEqual([false, true, true]);
  });

  it('is the only standby of its store, and is listed with the writer until it closes', async () => {
    await expect(standBy()).rejects.toMatchObject({ code: 'not_a_store' });
    await write();
    const standby = await standBy();
    await expect(standBy()).rejects.toMatchObject({
      ...{ code: 'second_writer', message: 'this store already has a standby; a store can have only one' },
    });
    const name = expect.stringContaining(`pid ${process.pid}`);
    expect(await storeProcesses(url)).toMatchObject({
      writer: { state: 'ready', name },
      standby: { state: 'opening', name },
    });
    await standby.ready();
    expect((await storeProcesses(url)).standby?.state).toBe('ready');
    await standby.close();
    expect((await storeProcesses(url)).standby).toBe(null);
  });

  it('is no longer listed after it has ended, although a renewal arrives late', async () => {
    await write();
    const session = new Session(place, 'primary', 2);
    onTestFinished(() => session.close());
    const registration = await StandbyPlace.take(session, 'a standby', leaseMs);
    const [begun, released, renewed] = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const toDatabase = session.write.bind(session);
    vi.spyOn(session, 'write').mockImplementationOnce(async (work, limits) => {
      begun?.resolve();
      await released?.promise;
      return toDatabase(work, limits).finally(() => renewed?.resolve());
    });
    await begun?.promise;
    await registration.release();
    released?.resolve();
    await renewed?.promise;
    expect((await storeProcesses(url)).standby).toBe(null);
  });

  it('fails if another standby has replaced it', async () => {
    await write();
    const standby = await standBy();
    await change('UPDATE succession SET standby = standby + 1');
    await expect.poll(() => standby.writer().catch((error: unknown) => error)).toMatchObject({ code: 'second_writer' });
  });

  it('does not end a lease that the writer has renewed since the standby last checked it', async () => {
    await write();
    const standby = await standBy();
    const first = await standby.writer();
    await expect
      .poll(() => storeProcesses(url).then(({ writer }) => `${writer?.token} ${writer?.beat}`))
      .not.toBe(first.kind === 'writing' ? first.beat : '');
    expect(await standby.endWriter()).toEqual({ kind: 'alive' });
    expect((await storeProcesses(url)).writer?.state).toBe('ready');
  });

  it('ends the lease and the open transaction of a suspended writer, which stores nothing after it resumes', async () => {
    const appending = startAppending(url, leaseMs);
    onTestFinished(async () => void (await appending.end('SIGKILL')));
    while (!(await appending.line())?.startsWith('ack'));
    const standby = await standBy();
    const fatalBefore = await fatalEnds();
    appending.child.kill('SIGSTOP');
    // Act like a standby that has waited for a sign of life: only transactions older than a second are ended, because
    // the server may still begin a transaction that the process requested earlier.
    const silent = `FROM standby_${count}.store WHERE renewed_at < clock_timestamp() - interval '1 second' AND NOT EXISTS
      (SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
       AND xact_start > clock_timestamp() - interval '1 second')`;
    await until('a silent writer', async () => (await counted(silent)) === 1);
    // The last commit of the suspended process may still be in progress on the server.
    await until('the end of the lease', async () => {
      await standby.writer();
      return (await standby.endWriter()).kind === 'ended';
    });
    const locks = `FROM pg_locks WHERE relation = 'standby_${count}.store'::regclass AND mode LIKE 'Row%'`;
    await until('the end of its locks', async () => (await counted(locks)) === 0);
    // The server itself ends a transaction of a suspended process after 5 s, and then counts a fatal error.
    expect(await fatalEnds()).toBe(fatalBefore);
    const next = await standby.takeOver();
    onTestFinished(() => next.close());
    const before = await next.frontier();
    appending.child.kill('SIGCONT');
    let last: string | null = null;
    for (let line = await appending.line(); line !== null; line = await appending.line()) last = line;
    expect(last).toBe('refused fenced');
    expect(await next.frontier()).toEqual(before);
  });

  it('notices that the connections of a killed writer are closed, before its lease expires', async () => {
    const appending = startAppending(url, 60_000);
    onTestFinished(async () => void (await appending.end('SIGKILL')));
    while (!(await appending.line())?.startsWith('ack'));
    const standby = await standBy();
    expect(await standby.writer()).toMatchObject({ kind: 'writing', isGone: false });
    await appending.end('SIGKILL');
    await expect.poll(() => standby.writer()).toMatchObject({ kind: 'writing', isGone: true });
    expect(await standby.endWriter()).toMatchObject({ kind: 'ended' });
    await (await standby.takeOver()).close();
  });

  it('does not treat the writer as gone if connections are missing after a failed check', async () => {
    const appending = startAppending(url, 60_000);
    onTestFinished(async () => void (await appending.end('SIGKILL')));
    while (!(await appending.line())?.startsWith('ack'));
    const standby = await standBy();
    await standby.writer();
    await change('ALTER TABLE store RENAME TO hidden');
    await appending.end('SIGKILL');
    await expect(standby.writer()).rejects.toMatchObject({ code: 'unexpected' });
    await change('ALTER TABLE hidden RENAME TO store');
    const open = `FROM pg_stat_activity WHERE application_name LIKE '%pid ${appending.child.pid}'`;
    await until('the end of its connections', async () => (await counted(open)) === 0);
    expect(await standby.writer()).toMatchObject({ kind: 'writing', isGone: false });
  });

  it('does not treat the writer as gone if it never found a connection of the writer', async () => {
    await write();
    await change("UPDATE store SET holder = 'a writer of an earlier version'");
    expect(await (await standBy()).writer()).toMatchObject({ kind: 'writing', isGone: false });
  });

  it('does not report a connection as missing if a connection pooler lends it to another process', async () => {
    await write();
    await change("UPDATE store SET holder = 'elsewhere pid 7'");
    const pooled = new Session(place, 'primary', 1);
    const lend = (name: string): Promise<number> =>
      pooled.write((queries) => queries.run(`SET application_name = '${name}'`));
    await lend('almanac elsewhere pid 7');
    const standby = await standBy();
    expect(await standby.writer()).toMatchObject({ isGone: false });
    await lend('almanac another pid 8');
    expect(await standby.writer()).toMatchObject({ isGone: false });
    await pooled.close();
    await expect.poll(() => standby.writer()).toMatchObject({ isGone: true });
  });

  it('becomes the writer ahead of a process that starts in the meantime', async () => {
    const writer = await write();
    const standby = await standBy();
    await standby.ready();
    await writer.close();
    await expect(write()).rejects.toMatchObject({ code: 'second_writer' });
    const next = await standby.takeOver();
    await next.close();
    await (await write()).close();
  });

  it('prevents no other process from starting if it died and the clock of the database was set back since', async () => {
    const writer = await write();
    const standby = await standBy();
    await standby.close();
    const left = "clock_timestamp() + interval '1 hour'";
    await change(`UPDATE succession SET standby_ready = true, standby_expires_at = ${left}`);
    await writer.close();
    await write();
    expect(await (await standBy()).writer()).toMatchObject({ kind: 'writing' });
  });

  it('migrates the store of an earlier version when it becomes the writer', async () => {
    const writer = await write();
    await writer.append(batch(noon, [1]));
    const versions = [...migrations, 'CREATE TABLE added(one integer)'];
    const standby = await openPostgresStandby({ place, clock: () => noon, leaseMs, versions });
    await standby.follow();
    await writer.close();
    const next = await standby.takeOver();
    expect(await next.append(batch(later(noon, 1), [1]))).toMatchObject({ accepted: 0 });
    await change('INSERT INTO added VALUES (1)');
    await next.close();
  });

  it('can ask the writer to stop, but only by the token of the current writer', async () => {
    const asked = Promise.withResolvers<void>();
    await write(() => asked.resolve());
    const { writer } = await storeProcesses(url);
    if (!writer) throw new Error('no writer');
    expect(await askWriterToStop(url, { ...writer, token: '7' })).toBe(false);
    expect(await askWriterToStop(url, writer)).toBe(true);
    await asked.promise;
  });
});
