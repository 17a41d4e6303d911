import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labelNumber, noon, observationOf } from '../../../harness/conformance/labels.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { type Queries, Session } from '../../../src/store/postgres/base/session.ts';
import { readerOver } from '../../../src/store/postgres/read/reader.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';
import { day, dayOf, micros } from '../../../src/store/time.ts';

const account = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
/** Interval of ten days around the rows. */
const asked = { account, start: noon, end: micros(noon + 10 * day) };

/** A query's plan, and the blocks that the server touched to answer it. */
interface Explained {
  readonly Plan: { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
}

const done = () => Promise.resolve();
const unexplained: Explained = { Plan: { 'Shared Hit Blocks': Number.NaN, 'Shared Read Blocks': 0 } };

describe.skipIf(!hasPostgres())('a server with many rows', () => {
  let server: PostgresServer;
  let session: Session;
  beforeAll(async () => {
    server = await startPostgres();
    const place = parsePostgresUrl(server.url('blocks'));
    const writer = await openPostgresWriter({ place, at: noon });
    for (let i = 0; i < 20_000; i += 2_000) {
      const observations = Array.from({ length: 2_000 }, (_, n) =>
        observationOf(labelNumber(i + n, { uri: n % 20 === 0 ? account : `did:web:other${i + n}.example` })),
      );
      await writer.append({ at: noon, observations, refusals: [], positions: [] });
    }
    await writer.close();
    session = new Session(place, 'primary', 1);
    await session.write(async (queries) => {
      await queries.run(`INSERT INTO account_group SELECT d, 'other' || n, 1, 0, ''::bytea, 'spam', 1, 0
        FROM generate_series(${dayOf(asked.start)}, ${dayOf(asked.end - 1)}) AS d, generate_series(1, 20000) AS n`);
      await queries.run('ANALYZE observation');
      await queries.run('ANALYZE account_group');
    });
  });
  afterAll(async () => {
    await session.close();
    await server.stop();
  });

  /** Returns the most blocks that a query of some work touched. */
  async function mostBlocks(work: (explaining: Session) => Promise<unknown>): Promise<number> {
    const blocks: number[] = [];
    const explaining = (queries: Queries): Queries => ({
      ...queries,
      run: (sql, values) => queries.run(sql, values),
      rows: async (sql, values) => {
        const [row] = await queries.rows<{ 'QUERY PLAN': string }>(
          `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`,
          values,
        );
        const [{ Plan: plan } = unexplained] = JSON.parse(row?.['QUERY PLAN'] ?? '[]') as Explained[];
        blocks.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
        return queries.rows(sql, values);
      },
    });
    const read: Session['read'] = (queries, options) => session.read((own) => queries(explaining(own)), options);
    await work(Object.assign(Object.create(session) as Session, { read }));
    return Math.max(...blocks);
  }

  it('reads only the rows of the page of an account with many rows', async () => {
    const page = { ...asked, order: 'newest', after: null, limit: 100 } as const;
    // All rows of the account occupy more than 400 blocks.
    expect(await mostBlocks((own) => readerOver(own, done).readAccount(page))).toBeLessThan(150);
  });

  it('reads only the groups of the account whose rows it counts', async () => {
    const query = { ...asked, account: 'did:web:none.example', budget: 1_000 };
    // The index of all groups occupies more than 2,000 blocks.
    expect(await mostBlocks((own) => readerOver(own, done).tallyAccount(query))).toBeLessThan(150);
  });
});
