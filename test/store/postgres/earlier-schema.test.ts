import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { labelers, labelNumber, noon, observationOf, subjects } from '../../../harness/conformance/labels.ts';
import { batch, later, problems } from '../../../harness/conformance/suite.ts';
import { everything, fill } from '../../../harness/copy/content.ts';
import { statement } from '../../../harness/postgres/appending.ts';
import { toSchema3 } from '../../../harness/postgres/earlier-store.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { copyStore } from '../../../src/store/copy/copy-store.ts';
import type { CopyTarget } from '../../../src/store/copy/parts.ts';
import { openStoreReader } from '../../../src/store/open.ts';
import type { StoreWriter } from '../../../src/store/port.ts';
import { type PostgresPlace, parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { openPostgresSource } from '../../../src/store/postgres/copy/source.ts';
import { openPostgresTarget } from '../../../src/store/postgres/copy/target.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';
import { dayOf, dayStart, micros } from '../../../src/store/time.ts';

const [alice = '', , web = ''] = subjects;
const long = `did:web:${'a'.repeat(300)}.example`;
/** Number of rows that make an account hot. */
const many = 70;

describe.skipIf(!hasPostgres())('a store of schema 3 in PostgreSQL', () => {
  let server: PostgresServer;
  let count = 0;
  let place: PostgresPlace;
  let url = '';
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  beforeEach(() => {
    url = server.url(`earlier_${++count}`);
    place = parsePostgresUrl(url);
  });

  const write = (at = noon): Promise<StoreWriter> => openPostgresWriter({ place, at });
  /** Labels of hot accounts: one with a key that became shorter, and others. */
  const hot = (from: number) =>
    [alice, web, long].flatMap((did, at) =>
      Array.from({ length: many }, (_, i) =>
        observationOf(labelNumber(from + 1_000 * at + i, { uri: `at://${did}/app.bsky.feed.post/${from + i}` })),
      ),
    );
  const append = (store: StoreWriter, at: number, observations: ReturnType<typeof hot>) =>
    store.append({ at: micros(at), observations, refusals: [], positions: [] });

  it('is refused by readers until its writer has migrated it', async () => {
    const writer = await write();
    await writer.append(batch(noon, [1]));
    await writer.close();
    await toSchema3(url);
    await expect(openStoreReader(url)).rejects.toMatchObject({
      code: 'not_a_store',
      message: expect.stringMatching(/was written by an earlier version; start almanac labels/),
    });
    await (await write()).close();
    const reader = await openStoreReader(url);
    expect((await reader.frontier()).observedThrough).toBe(noon);
    await reader.close();
  });

  it('has the same content after its migration, whose open day then has rows of both forms', async () => {
    const first = await write();
    const through = await fill(first, 3);
    const at = later(through, 1);
    await append(first, at, hot(0));
    const before = await everything(first, at, first);
    await first.close();
    expect(await toSchema3(url)).toBeGreaterThan(500);

    const writer = await write(at);
    expect(await everything(writer, at, writer)).toEqual(before);
    expect(await problems(writer)).toEqual([]);
    // Labels of the earlier version are known, and the counts of its hot accounts grow.
    expect(await append(writer, at + 1, hot(0))).toMatchObject({ accepted: 0 });
    expect(await append(writer, at + 2, hot(10_000))).toMatchObject({ accepted: 3 * many });
    expect(await problems(writer)).toEqual([]);
    const span = { start: dayStart(dayOf(at)), end: dayStart(dayOf(at) + 1) };
    for (const account of [alice, web, long]) {
      const tally = await writer.tallyAccount({ account, ...span, budget: 10 });
      expect(tally.days[0]?.counts?.rows).toBe(2 * many);
      const { rows } = await writer.readAccount({ account, ...span, order: 'oldest', after: null, limit: 500 });
      expect(rows).toHaveLength(2 * many);
    }
    await writer.close();
  });

  it('can be copied after its migration, and the copy has only rows of the new form', async () => {
    const first = await write();
    const through = await fill(first, 5);
    await first.close();
    await toSchema3(url);
    const writer = await write(micros(through));
    const before = await everything(writer, through);
    await writer.close();
    const to = parsePostgresUrl(server.url(`earlier_copy_${count}`));
    const source = await openPostgresSource(place);
    const target = await openPostgresTarget(to, (await source.look()).epoch.generationId, noon);
    await copyStore({ source, target, once: false, report: () => undefined, wait: () => Promise.resolve() });
    await target.close();
    await source.close();
    const copy = await openPostgresWriter({ place: to, at: micros(through) });
    expect({ ...(await everything(copy, through)), frontier: before.frontier }).toEqual(before);
    expect(await problems(copy)).toEqual([]);
    const [labeler = ''] = labelers;
    expect(await copy.keys(labeler)).toEqual(before.keys);
    await copy.close();
  });

  it('in an unfinished copy is migrated too, and the day in which the copy was interrupted is copied again', async () => {
    const writer = await write();
    const through = await fill(writer, 5);
    const before = await everything(writer, through);
    await writer.close();
    const source = await openPostgresSource(place);
    onTestFinished(() => source.close());
    const schema = `earlier_copy_${count}`;
    const to = parsePostgresUrl(server.url(schema));
    const open = async () => openPostgresTarget(to, (await source.look()).epoch.generationId, noon);
    const copy = async (target: CopyTarget): Promise<unknown> => {
      const options = { source, once: false, report: () => undefined, wait: () => Promise.resolve() };
      return copyStore({ ...options, target }).finally(() => target.close());
    };
    // The copy ends before the table of its second day is attached.
    let days = 0;
    const target = await open();
    const index = async (day: number): Promise<void> => {
      if (++days > 1) throw new Error('interrupted');
      await target.index(day);
    };
    await expect(copy({ ...target, index })).rejects.toThrow('interrupted');
    await toSchema3(server.url(schema));
    const tables = `SELECT relname FROM pg_class WHERE relname LIKE 'observation_2%' AND relkind = 'r' AND NOT relispartition
      AND relnamespace = '${schema}'::regnamespace`;
    const [begun, ...others] = await statement(server, tables);
    expect(others).toEqual([]);
    await statement(server, `ALTER TABLE ${schema}.${String(begun?.relname)} RENAME COLUMN body TO sig`);

    await copy(await open());
    const copied = await openPostgresWriter({ place: to, at: micros(through) });
    onTestFinished(() => copied.close());
    expect({ ...(await everything(copied, through)), frontier: before.frontier }).toEqual(before);
    expect(await problems(copied)).toEqual([]);
  });
});
