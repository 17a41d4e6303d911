import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { labelers, noon } from '../../../harness/conformance/labels.ts';
import { batch, problems } from '../../../harness/conformance/suite.ts';
import { statement } from '../../../harness/postgres/appending.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { fillForPurge, hostile, hostileRows, otherRows, requestedAt } from '../../../harness/store/purge-store.ts';
import { type FileEvent, openStoreWriter } from '../../../src/store/open.ts';
import type { StoreWriter } from '../../../src/store/port.ts';
import { dayStart, micros } from '../../../src/store/time.ts';

/** Tests of a purge in a store with two sealed and three open days. */

const [sealedTable, openTable] = ['observation_2024_10_04', 'observation_2024_10_06'];

describe.skipIf(!hasPostgres())('a purge in PostgreSQL of a labeler with rows on a damaged day', () => {
  let server: PostgresServer;
  let count = 0;
  let schema = '';
  let events: FileEvent[];
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    schema = `damaged_${++count}`;
    events = [];
    const store = await open(noon);
    await fillForPurge(store);
    await store.requestPurge({ source: hostile, at: requestedAt });
    await store.close();
  });

  const open = async (at = requestedAt): Promise<StoreWriter> => {
    const store = await openStoreWriter(server.url(schema), { at, onFile: (event) => events.push(event) });
    onTestFinished(() => store.close());
    return store;
  };
  /** Makes deletions from the table of a day fail as they do if a page of the table is damaged. */
  const damage = async (table = ''): Promise<void> => {
    await statement(
      server,
      `CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'invalid page in block 3' USING ERRCODE = 'XX001'; END $$`,
    );
    await statement(
      server,
      `CREATE TRIGGER failing BEFORE DELETE ON ${schema}.${table} EXECUTE FUNCTION ${schema}.fail()`,
    );
  };
  const rowsByDay = async (store: StoreWriter): Promise<number[]> => {
    const found: number[] = [];
    for (let d = 20_000; d < 20_005; d++) {
      const counts = await store.countsByLabeler({ start: micros(Math.max(dayStart(d), noon)), end: dayStart(d + 1) });
      const of = counts.find(({ labeler }) => labeler === hostile);
      found.push((of?.applied ?? 0) + (of?.removed ?? 0));
    }
    return found;
  };

  it('leaves a sealed day unchanged, reports it once, purges the other days, and stays pending', async () => {
    await damage(sealedTable);
    const store = await open();
    for (let run = 0; run < 2; run++) while (await store.purge(requestedAt));
    expect(await rowsByDay(store)).toEqual([hostileRows, 0, 0, 0, 0]);
    expect(await store.purges()).toEqual([
      { source: hostile, requestedAt, completedAt: null, rows: 4 * hostileRows, daysLeft: 5 },
    ]);
    expect(events).toEqual([
      {
        ...{ name: sealedTable, day: '2024-10-04', action: 'left' },
        reason: expect.stringMatching(/^rows of \S+ were not removed from the day, and .+ block 3 \(XX001\)$/),
      },
    ]);
    expect(await problems(store)).toEqual([]);
    expect(await store.append(batch(requestedAt, [9_000_001]))).toMatchObject({ accepted: 1 });
  });

  it('does not delay the purge of another labeler', async () => {
    await damage(sealedTable);
    const store = await open();
    const other = { source: labelers[1] ?? '', at: micros(requestedAt + 1) };
    await store.requestPurge(other);
    while (await store.purge(other.at));
    expect((await store.purges()).map(({ source, rows }) => [source, rows])).toEqual([
      [hostile, 4 * hostileRows],
      [other.source, 4 * otherRows],
    ]);
    expect(events).toHaveLength(2);
  });

  it('is completed by a later start after the day was repaired, and counts each row once', async () => {
    await damage(sealedTable);
    const store = await open();
    while (await store.purge(requestedAt));
    await store.close();
    await statement(server, `DROP TRIGGER failing ON ${schema}.${sealedTable}`);
    const next = await open();
    while (await next.purge(requestedAt));
    expect(await rowsByDay(next)).toEqual([0, 0, 0, 0, 0]);
    expect(await next.purges()).toEqual([
      { source: hostile, requestedAt, completedAt: requestedAt, rows: 5 * hostileRows, daysLeft: 0 },
    ]);
    expect(await problems(next)).toEqual([]);
  });

  it('ends with the error if the day is not sealed', async () => {
    await damage(openTable);
    const store = await open();
    for (let days = 0; days < 2; days++) expect(await store.purge(requestedAt)).toBe(true);
    await expect(store.purge(requestedAt)).rejects.toMatchObject({ code: 'damaged', fatal: true });
    expect(events).toEqual([]);
  });
});
