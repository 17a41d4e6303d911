import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noon } from '../../../harness/conformance/labels.ts';
import { batch, later } from '../../../harness/conformance/suite.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { everyRow } from '../../../harness/store/scan.ts';
import { openStoreReader, openStoreWriter } from '../../../src/store/open.ts';
import { type PostgresPlace, parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { initializeStore } from '../../../src/store/postgres/schema/migrate.ts';
import { day, dayStart } from '../../../src/store/time.ts';

describe.skipIf(!hasPostgres())('a store in PostgreSQL with the roles of store init', () => {
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

  /** Chooses names that SQL accepts only in quotation marks. */
  const nameWithKeywords = (): { writer: string; reader: string } => {
    url = server.url('order');
    place = parsePostgresUrl(url);
    return { writer: 'select', reader: 'user' };
  };

  const connected = async (user: string): Promise<pg.Client> => {
    const client = new pg.Client({ host: server.socket, user, database: 'postgres' });
    await client.connect();
    return client;
  };

  it.each([
    ['is', () => ({ writer: `writer_${count}`, reader: `reader_${count}` })],
    ['whose names are SQL keywords is', () => nameWithKeywords()],
  ])('%s written by one role and read by the other, which cannot change data or tables', async (_, named) => {
    const roles = named();
    await initializeStore(place, roles, noon);
    await initializeStore(place, roles, noon);
    const as = (role: string) => url.replace('almanac@', `${role}@`);
    const writer = await openStoreWriter(as(roles.writer), { at: noon, windowDays: 1 });
    for (let d = 0; d < 4; d++) await writer.append(batch(later(noon, d * day), [d]));
    expect((await writer.maintain(later(noon, 3 * day))).expired).toEqual(['2024-10-04']);
    const reader = await openStoreReader(as(roles.reader));
    expect(await everyRow(reader, { start: dayStart(20_001), end: dayStart(20_004) })).toHaveLength(3);
    await reader.close();
    const client = await connected(roles.reader);
    await client.query('SET default_transaction_read_only = off');
    for (const sql of [
      `INSERT INTO "${place.schema}".note(name, content) VALUES ('a', 'b')`,
      `DROP TABLE "${place.schema}".note`,
      `CREATE TABLE "${place.schema}".other(x int)`,
    ]) {
      await expect(client.query(sql)).rejects.toMatchObject({ code: '42501' });
    }
    await client.end();
    await expect(openStoreWriter(as(roles.reader), { at: noon })).rejects.toMatchObject({ name: 'StoreError' });
    const owner = await connected(roles.writer);
    await expect(owner.query('CREATE ROLE another')).rejects.toMatchObject({ code: '42501' });
    await owner.end();
    await writer.close();
  });

  it('is not created in an existing schema that the writer cannot use, and the message states what is missing', async () => {
    const roles = { writer: `writer_${count}`, reader: `reader_${count}` };
    const { schema } = place;
    const admin = await connected('almanac');
    await admin.query(`CREATE SCHEMA ${schema}`);
    await expect(initializeStore(place, roles, noon)).rejects.toThrow(
      `the schema ${schema} exists and belongs to almanac, so ${roles.writer} may not create tables in it: run ALTER SCHEMA "${schema}" OWNER TO "${roles.writer}", or choose another schema with ?schema=NAME in the URL`,
    );
    // A failed attempt leaves no role.
    expect((await admin.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [roles.writer])).rows).toEqual([]);
    await admin.query(`CREATE ROLE ${roles.writer} LOGIN; ALTER SCHEMA ${schema} OWNER TO ${roles.writer}`);
    await admin.query(`CREATE TABLE ${schema}.day (one integer); CREATE TABLE ${schema}.other (one integer)`);
    await expect(initializeStore(place, roles, noon)).rejects.toThrow(
      `the schema ${schema} contains tables of another program (day): remove them, or choose another schema`,
    );
    await admin.query(`DROP TABLE ${schema}.day`);
    await initializeStore(place, roles, noon);
    await initializeStore(place, roles, noon);
    await admin.end();
    const writer = await openStoreWriter(url.replace('almanac@', `${roles.writer}@`), { at: noon, windowDays: 1 });
    await writer.close();
  });

  it('is reported as missing to a writer that may not create it', async () => {
    const roles = { writer: `writer_${count}`, reader: `reader_${count}` };
    await initializeStore(place, roles, noon);
    const elsewhere = server.url(`missing_${count}`).replace('almanac@', `${roles.writer}@`);
    await expect(openStoreWriter(elsewhere, { at: noon })).rejects.toMatchObject({
      code: 'not_a_store',
      message: expect.stringContaining('almanac store init'),
    });
  });
});
