import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noon, subjects } from '../../../harness/conformance/labels.ts';
import { around, batch, later } from '../../../harness/conformance/suite.ts';
import { freePort } from '../../../harness/net/ports.ts';
import { pauseReplay, replayed, resumeReplay, statement } from '../../../harness/postgres/appending.ts';
import { hasPostgres, type PostgresServer, startPostgres, startStandby } from '../../../harness/postgres/server.ts';
import { until } from '../../../harness/process/until.ts';
import { everyRow } from '../../../harness/store/scan.ts';
import type { StoreReader, StoreWriter } from '../../../src/store/port.ts';
import { type PostgresPlace, parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { type Queries, Session } from '../../../src/store/postgres/base/session.ts';
import { openPostgresReader } from '../../../src/store/postgres/read/reader.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';

const [alice = ''] = subjects;
/** Numbers of Alice's labels. */
const aliceNumbers = [0, 4, 8] as const;

describe.skipIf(!hasPostgres())('a reader on a PostgreSQL standby', () => {
  const ports = { primary: 0, standby: 0 };
  let primary: PostgresServer;
  let standby: PostgresServer;
  let schema = '';
  let count = 0;
  let writer: StoreWriter;
  let reader: StoreReader;
  beforeAll(async () => {
    ports.primary = await freePort();
    ports.standby = await freePort();
    // Only the tests change the tables, so that recovery cancels only what they expect.
    primary = await startPostgres({ port: ports.primary, settings: { autovacuum: 'off' } });
    // Make recovery cancel a query immediately instead of after 30 s.
    const settings = { max_standby_streaming_delay: '0' };
    standby = await startStandby(primary, { port: ports.standby, settings });
  });
  afterAll(async () => {
    await standby.stop();
    await primary.stop();
  });
  beforeEach(async () => {
    schema = `store_${++count}`;
    writer = await openPostgresWriter({ place: parsePostgresUrl(primary.url(schema)), at: noon });
    await writer.append(batch(noon, [aliceNumbers[0]]));
    const place = parsePostgresUrl(standby.url(schema));
    await until('the store on the standby', async () => {
      const found = await statement(standby, `SELECT to_regclass('${schema}.store') AS found`);
      return found[0]?.found !== null;
    });
    reader = await openPostgresReader(place);
    await received(noon + 1);
  });
  afterEach(async () => {
    await resumeReplay(standby);
    await reader.close();
    await writer.close();
  });

  const received = (end: number): Promise<void> =>
    until('the replication', async () => ((await reader.frontier()).replicatedThrough ?? 0) >= end);

  it('reports its progress, and refuses a later interval instead of omitting rows', async () => {
    expect(await reader.frontier()).toEqual({ ...(await writer.frontier()), replicatedThrough: noon + 1 });
    await pauseReplay(standby);
    await writer.append(batch(later(noon, 1_000), [aliceNumbers[1]]));
    expect(await reader.frontier()).toMatchObject({ end: noon + 1, replicatedThrough: noon + 1 });
    const early = { start: noon, end: later(noon, 1) };
    const late = { start: noon, end: later(noon, 1_001) };
    const alicesRows = { account: alice, order: 'oldest', after: null, limit: 10 } as const;
    expect((await reader.readAccount({ ...alicesRows, ...early })).rows).toHaveLength(1);
    const refused = { code: 'behind', retry: true };
    await expect(reader.readAccount({ ...alicesRows, ...late })).rejects.toMatchObject(refused);
    await expect(reader.tallyAccount({ account: alice, ...late, budget: 10 })).rejects.toMatchObject(refused);
    const split = { account: alice, ...late, maxRows: 10, budget: 10 };
    await expect(reader.accountIntervals(split)).rejects.toMatchObject(refused);
    await expect(reader.countsByLabeler(late)).rejects.toMatchObject(refused);
    await expect(reader.gaps(late)).rejects.toMatchObject(refused);
    await expect(reader.coverage({ ...late, labelers: [] })).rejects.toMatchObject(refused);
    await resumeReplay(standby);
    await received(late.end);
    expect((await reader.readAccount({ ...alicesRows, ...late })).rows).toHaveLength(2);
  });

  it('counts no page as observed from which it may lack earlier data, so that it falls silent with the writer', async () => {
    const at = later(noon, 5_000_000);
    const positions = [{ source: 'did:web:a.example', endpoint: 'https://a.example', value: '1' }];
    await writer.append({ ...batch(at, []), positions });
    await until('the page on the standby', async () => (await reader.positions()).length > 0);
    expect(await writer.frontier()).toMatchObject({ observedThrough: at });
    expect(await reader.frontier()).toMatchObject({ observedThrough: noon, replicatedThrough: noon + 1 });
  });

  describe('of a store whose writer stores marks', () => {
    const markAt = later(noon, 20_000_000);
    beforeEach(async () => {
      await writer.close();
      writer = await openPostgresWriter({
        place: parsePostgresUrl(primary.url(schema)),
        at: noon,
        markClock: () => markAt,
      });
      await received(markAt);
    });

    it('reports progress up to the newest mark, even if no label arrives', async () => {
      expect(await reader.frontier()).toMatchObject({ end: noon + 1, replicatedThrough: markAt });
    });

    it('does not miss a row from before the replicated time, because the writer assigns no earlier stamp, even after the writer is reopened', async () => {
      const earlier = later(noon, 19_000_000);
      expect(await writer.append(batch(earlier, [aliceNumbers[1]]))).toMatchObject({ first: markAt });
      await writer.close();
      writer = await openPostgresWriter({ place: parsePostgresUrl(primary.url(schema)), at: noon });
      const early = writer.append(batch(later(noon, 14_000_000), [aliceNumbers[2]]));
      await expect(early).rejects.toMatchObject({ code: 'clock_behind' });
    });

    it('sees no heartbeat, because marks, unlike heartbeats, do not state that all gaps are recorded', async () => {
      expect(await writer.heartbeat()).toBe(null);
    });
  });

  /** Ends everything that could conflict with a later read on the standby: the lease of the writer is renewed. */
  const quiet = async (): Promise<void> => {
    await writer.close();
    await replayed(primary, standby);
  };
  /** Runs statements on the primary. Resolves when the standby has replayed them, and has cancelled what conflicts. */
  const replay = async (...statements: readonly string[]): Promise<void> => {
    for (const sql of statements) await statement(primary, sql);
    await replayed(primary, standby);
  };
  /** Sleeps in a query until a conflict cancels it. Rejects when `conflict` has ended, so that a repetition meets no conflict. */
  const cancelled = async (queries: Queries, conflict: () => Promise<void>): Promise<void> => {
    const [slept] = await Promise.allSettled([queries.rows('SELECT pg_sleep(60)'), conflict()]);
    if (slept.status === 'rejected') throw slept.reason;
  };

  it.each<[string, (queries: Queries, conflict: () => Promise<void>) => Promise<unknown>]>([
    ['between two statements', (_, conflict) => conflict()],
    ['within a statement', cancelled],
  ])('repeats a read that recovery cancels (%s)', async (_, work) => {
    await quiet();
    const session = new Session(parsePostgresUrl(standby.url(schema)), 'any', 1);
    let attempts = 0;
    const rows = await session.read(async (queries) => {
      attempts += 1;
      const found = await queries.rows('SELECT 1 FROM observation');
      const removal = [`DELETE FROM ${schema}.observation`, `VACUUM ${schema}.observation`];
      if (attempts === 1) await work(queries, () => replay(...removal));
      return (await queries.rows('SELECT 1 FROM observation')).length + found.length;
    });
    expect({ attempts, rows }).toEqual({ attempts: 2, rows: 0 });
    await session.close();
  });

  it('repeats a read whose partition is dropped, and then refuses the interval', async () => {
    await quiet();
    const [day] = await statement(
      primary,
      `SELECT relname FROM pg_class WHERE relname LIKE 'observation_2%'
      AND relnamespace = '${schema}'::regnamespace`,
    );
    const session = new Session(parsePostgresUrl(standby.url(schema)), 'any', 1);
    let attempts = 0;
    const read = session.read(async (queries) => {
      attempts += 1;
      await queries.rows('SELECT 1 FROM observation');
      if (attempts > 1) return;
      const raising = `UPDATE ${schema}.store SET floor = floor + 86400000000`;
      await cancelled(queries, () => replay(raising, `DROP TABLE ${schema}.${String(day?.relname)}`));
    });
    await read;
    expect(attempts).toBe(2);
    await expect(everyRow(reader, around(noon))).rejects.toMatchObject({ code: 'out_of_window' });
    await session.close();
  });

  it('gives up a read that recovery cancels repeatedly', async () => {
    const wait = () => Promise.resolve();
    const session = new Session(parsePostgresUrl(standby.url(schema)), 'any', 1, undefined, wait);
    let attempts = 0;
    const conflict = Object.assign(new Error('canceling statement due to conflict with recovery'), { code: '40001' });
    const read = session.read(() => {
      attempts += 1;
      return Promise.reject(conflict);
    });
    await expect(read).rejects.toMatchObject({ code: 'busy', retry: true });
    expect(attempts).toBe(16);
    await session.close();
  });

  describe('with several servers in its URL', () => {
    const place = (target: string): PostgresPlace =>
      parsePostgresUrl(
        `postgres://almanac@127.0.0.1:${ports.primary},127.0.0.1:${ports.standby}/postgres?schema=${schema}&target_session_attrs=${target}`,
      );

    it('treats a primary whose lease is not renewed as one that may have been replaced', async () => {
      const either = await openPostgresReader(place('any'));
      expect(await either.frontier()).not.toHaveProperty('replicatedThrough');
      // Set another token, so that the writer of this test cannot renew the lease before the next read.
      const expired = "expires_at = now() - interval '1 second'";
      await statement(primary, `UPDATE ${schema}.store SET token = token + 1, ${expired}`);
      expect(await either.frontier()).toMatchObject({ replicatedThrough: noon + 1 });
      await either.close();
    });

    it('reads from only one of several servers', async () => {
      const either = await openPostgresReader(place('prefer-standby'));
      await pauseReplay(standby);
      await writer.append(batch(later(noon, 1_000), [aliceNumbers[1]]));
      const found = await Promise.all(Array.from({ length: 20 }, () => either.frontier()));
      expect(new Set(found.map(({ end }) => end))).toEqual(new Set([noon + 1]));
      await either.close();
    });
  });
});
