import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import { labelers, noon } from '../../harness/conformance/labels.ts';
import { batch, problems } from '../../harness/conformance/suite.ts';
import { fillForPurge, hostile, hostileRows, otherRows, requestedAt } from '../../harness/store/purge-store.ts';
import { sealedToday, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import { StoreError, type StoreErrorCode } from '../../src/store/errors.ts';
import type { StoreReader, StoreWriter } from '../../src/store/port.ts';
import type { Faults } from '../../src/store/sqlite/base/connection.ts';
import type { FileEvent } from '../../src/store/sqlite/base/files.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import type { SqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, dayStart, micros } from '../../src/store/time.ts';

/** Tests of a purge in a store with two sealed and three open days, whose first day is damaged. */

const place = useSqliteFolder();
const [, other = ''] = labelers;
let events: FileEvent[];
let intact: Buffer;

beforeEach(async () => {
  await fillForPurge(place.open());
  await place.close();
  events = [];
  intact = readFileSync(place.dayPath(sealedToday));
  chmodSync(place.dayPath(sealedToday), 0o644);
  place.change(sealedToday, 'UPDATE observation SET sig = zeroblob(64) WHERE id = (SELECT max(id) FROM observation)');
});

function open(faults?: Faults): SqliteWriter {
  return place.open({ at: requestedAt, onFile: (event) => events.push(event), ...(faults && { faults }) });
}

async function purge(store: StoreWriter, source = hostile, at = requestedAt): Promise<void> {
  await store.requestPurge({ source, at });
  while (await store.purge(at));
}

/** Returns the number of rows of a labeler on each of the five days. */
async function rowsByDay(store: StoreReader, did = hostile): Promise<number[]> {
  const found: number[] = [];
  for (let d = 20_000; d < 20_005; d++) {
    const counts = await store.countsByLabeler({ start: micros(Math.max(dayStart(d), noon)), end: dayStart(d + 1) });
    const of = counts.find(({ labeler }) => labeler === did);
    found.push((of?.applied ?? 0) + (of?.removed ?? 0));
  }
  return found;
}

/** Replaces the damaged day with the copy from before the damage, while no writer is open. */
function restoreDay(): void {
  rmSync(place.dayPath(sealedToday));
  writeFileSync(place.dayPath(sealedToday), intact);
}

it('a purge leaves an altered sealed day unchanged, reports it once, purges the other days, and stays pending', async () => {
  const altered = readFileSync(place.dayPath(sealedToday));
  const store = open();
  await purge(store);
  await purge(store);
  expect(await rowsByDay(store)).toEqual([hostileRows, 0, 0, 0, 0]);
  expect(readFileSync(place.dayPath(sealedToday)).equals(altered)).toBe(true);
  expect(await store.purges()).toEqual([
    { source: hostile, requestedAt, completedAt: null, rows: 4 * hostileRows, daysLeft: 5 },
  ]);
  expect(events).toEqual([{ name: sealedToday, day: '2024-10-04', action: 'left', reason: expect.any(String) }]);
  expect(events[0]?.reason).toContain(`rows of ${hostile} were not removed from the day`);
  expect(await store.append(batch(requestedAt, [9_000_001]))).toMatchObject({ accepted: 1 });
});

it('a purge with an altered sealed day does not delay the purge of another labeler', async () => {
  const store = open();
  await purge(store);
  await purge(store, other, micros(requestedAt + 1));
  expect(await rowsByDay(store, other)).toEqual([otherRows, 0, 0, 0, 0]);
  expect((await store.purges()).map(({ source, rows }) => [source, rows])).toEqual([
    [hostile, 4 * hostileRows],
    [other, 4 * otherRows],
  ]);
});

it('a purge is completed by a later start after the altered day was restored, and counts each row once', async () => {
  await purge(open());
  await place.close();
  restoreDay();
  const store = open();
  while (await store.purge(requestedAt));
  expect(await rowsByDay(store)).toEqual([0, 0, 0, 0, 0]);
  expect(await store.purges()).toEqual([
    { source: hostile, requestedAt, completedAt: requestedAt, rows: 5 * hostileRows, daysLeft: 0 },
  ]);
  const reader = openSqliteReader(place.path);
  expect(await problems(reader)).toEqual([]);
  await reader.close();
});

it('a purge tries an altered sealed day again at each start, and reports it again', async () => {
  await purge(open());
  await place.close();
  const store = open();
  while (await store.purge(requestedAt));
  expect(events.map(({ name, action }) => [name, action])).toEqual([
    [sealedToday, 'left'],
    [sealedToday, 'left'],
  ]);
  expect((await store.purges())[0]).toMatchObject({ completedAt: null, rows: 4 * hostileRows });
});

it('a purge is completed once the altered day has expired', async () => {
  const store = open();
  await purge(store);
  const later = micros(noon + 32 * day);
  await store.append(batch(later, [9_000_001]));
  expect((await store.maintain(later)).expired).toEqual(['2024-10-04']);
  while (await store.purge(later));
  expect((await store.purges())[0]).toMatchObject({ completedAt: later, rows: 4 * hostileRows, daysLeft: 0 });
});

it('a purge that was interrupted after the altered day counts the rows of the interrupted day', async () => {
  let replaced = 0;
  const store = open((point) => {
    if (point === 'purge.renamed' && ++replaced === 1) throw new Error('cut short');
  });
  await expect(purge(store)).rejects.toThrow('cut short');
  await place.close();
  const again = open();
  while (await again.purge(requestedAt));
  expect(await rowsByDay(again)).toEqual([hostileRows, 0, 0, 0, 0]);
  // The interrupted day counts as one row, because the number of its removed rows is lost.
  expect((await again.purges())[0]).toMatchObject({ completedAt: null, rows: 1 + 3 * hostileRows });
});

it.each<StoreErrorCode>(['io_failed', 'unexpected', 'closed'])(
  'a purge fails with %s, which is not about the content of the day, and reports no day',
  async (code) => {
    const store = open((point) => {
      if (point === 'purge.begun') throw new StoreError(code, 'cut short');
    });
    await expect(purge(store)).rejects.toMatchObject({ code, message: 'cut short' });
    await expect(purge(store)).rejects.toMatchObject({ code, message: 'cut short' });
    expect(events).toEqual([]);
    expect((await store.purges())[0]).toMatchObject({ completedAt: null, rows: 0, daysLeft: 5 });
  },
);
