import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { labelers } from '../../harness/conformance/labels.ts';
import { batch, problems } from '../../harness/conformance/suite.ts';
import { startScript } from '../../harness/process/script.ts';
import { everyRow } from '../../harness/store/scan.ts';
import {
  everything,
  otherRows,
  removedAt,
  spaceRows,
  spaceRowsFrom,
  toEarlierState,
  writeSpaceStore,
} from '../../harness/store/space-rows.ts';
import { StoreError } from '../../src/store/errors.ts';
import { isSpaceUri } from '../../src/store/label.ts';
import type { StoreReader, StoreWriter } from '../../src/store/port.ts';
import type { Faults } from '../../src/store/sqlite/base/connection.ts';
import type { FileEvent, OnFile } from '../../src/store/sqlite/base/files.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, dayStart, micros } from '../../src/store/time.ts';

const days = spaceRows.length;

let filled: string;
beforeAll(async () => {
  filled = await mkdtemp(join(tmpdir(), 'almanac-spaces-'));
  await writeSpaceStore(filled);
});
afterAll(() => rm(filled, { recursive: true, force: true }));

let folder: string;
let writer: StoreWriter | null;
beforeEach(async () => {
  writer = null;
  folder = await mkdtemp(join(tmpdir(), 'almanac-spaces-'));
  await cp(filled, folder, { recursive: true });
});
afterEach(async () => {
  await writer?.close();
  await rm(folder, { recursive: true, force: true });
});

function open(onFile?: OnFile, faults?: Faults): StoreWriter {
  writer = openSqliteWriter({ folder, at: removedAt, ...(onFile && { onFile }), ...(faults && { faults }) });
  return writer;
}

async function removeAll(store: StoreWriter): Promise<void> {
  while (await store.purge(removedAt));
}

/** Returns the numbers of rows about spaces and of other rows, by day. */
async function rowsByDay(store: StoreReader): Promise<[spaces: number, other: number][]> {
  const rows = await everyRow(store, everything);
  return spaceRows.map((_, d) => {
    const of = rows.filter(({ observedAt }) => Math.floor(observedAt / day) === 20_000 + d);
    const spaces = of.filter(({ label }) => isSpaceUri(label.uri)).length;
    return [spaces, of.length - spaces];
  });
}

const sealedDay = (name: string): Promise<Buffer> => readFile(join(folder, 'days', `${name}.sealed.sqlite`));

describe('the removal of rows about spaces', () => {
  it('deletes these rows from every day with all their counts, and states their number and the time', async () => {
    const store = open();
    expect(await rowsByDay(store)).toEqual(spaceRows.map((rows) => [rows, otherRows]));
    const other = (await everyRow(store, everything)).filter(({ label }) => !isSpaceUri(label.uri));
    expect(await store.spaceRemoval()).toBeNull();
    await removeAll(store);
    const completed = { rows: spaceRowsFrom(0), completedAt: removedAt };
    for (const reader of [store, openSqliteReader(folder)]) {
      expect(await everyRow(reader, everything)).toEqual(other);
      expect(await problems(reader)).toEqual([]);
      expect(await reader.spaceRemoval()).toEqual(completed);
      const counts = await reader.countsByLabeler(everything);
      expect(counts.reduce((sum, { applied, removed }) => sum + applied + removed, 0)).toBe(days * otherRows);
      const counted = (await reader.labelerCounters(everything)).labelers.flatMap(({ verdicts }) =>
        Object.values(verdicts),
      );
      expect(counted.reduce((sum, n) => sum + n, 0)).toBe(days * otherRows);
      if (reader !== store) await reader.close();
    }
    await store.close();
    expect(await open().spaceRemoval()).toEqual(completed);
  });

  it('raises the revision only for changed days, and leaves the file of a day without such rows unchanged', async () => {
    const store = open();
    const [before, unchanged] = [await store.frontier(), await sealedDay('2024-10-05')];
    const revisions: number[] = [];
    for (let more = true; more; ) {
      more = await store.purge(removedAt);
      revisions.push((await store.frontier()).revision);
    }
    // The first, fourth and fifth of five days contain such rows. The last call only completes the removal.
    const steps = revisions.map((revision, i) => revision > (revisions[i - 1] ?? before.revision));
    expect(steps).toEqual([true, false, false, true, true, false]);
    expect(await sealedDay('2024-10-05')).toEqual(unchanged);
    expect({ ...(await store.frontier()), revision: 0 }).toEqual({ ...before, revision: 0 });
  });

  it('leaves the revision and a sealed day unchanged in a store without such rows', async () => {
    await removeAll(open());
    await writer?.close();
    toEarlierState(folder);
    const store = open();
    const [before, sealed] = [await store.frontier(), await sealedDay('2024-10-04')];
    await removeAll(store);
    expect(await store.frontier()).toEqual(before);
    expect(await sealedDay('2024-10-04')).toEqual(sealed);
    expect(await store.spaceRemoval()).toBeNull();
  });

  it('runs only once, and not in a new store', async () => {
    await removeAll(open());
    await writer?.close();
    const again = open();
    expect(await again.purge(removedAt)).toBe(false);
    const place = join(folder, 'new');
    const fresh = openSqliteWriter({ folder: place, at: removedAt });
    expect(await fresh.purge(removedAt)).toBe(false);
    await fresh.close();
  });

  it('lets the store accept the labels of removed rows again', async () => {
    const store = open();
    const [row] = (await everyRow(store, { start: dayStart(20_004), end: everything.end })).filter(({ label }) =>
      isSpaceUri(label.uri),
    );
    if (!row) throw new Error('the last day has no row about a space');
    const batch = { at: removedAt, observations: [row], refusals: [], positions: [] };
    expect(await store.append(batch)).toMatchObject({ accepted: 0 });
    await removeAll(store);
    expect(await store.append(batch)).toMatchObject({ accepted: 1 });
  });

  it('discards the seal of an open day that was not recorded, so that the day is sealed again without these rows', async () => {
    let isFull = true;
    const store = open(undefined, (point) => {
      if (isFull && point === 'seal.renamed') throw new StoreError('disk_full', 'no room for the name');
    });
    const later = micros(removedAt + 4 * day);
    await store.append(batch(later, [1_000_001]));
    expect(await store.maintain(later)).toMatchObject({
      sealed: [],
      postponed: ['2024-10-06', '2024-10-07', '2024-10-08'],
    });
    isFull = false;
    await removeAll(store);
    expect(await store.maintain(later)).toMatchObject({
      sealed: ['2024-10-06', '2024-10-07', '2024-10-08'],
      postponed: [],
    });
    expect(await rowsByDay(store)).toEqual(spaceRows.map(() => [0, otherRows]));
    expect(await problems(store)).toEqual([]);
  });

  it('is no longer reported once the floor is after its completion', async () => {
    const store = open();
    await removeAll(store);
    await store.append({ at: micros(removedAt + 60 * day), observations: [], refusals: [], positions: [] });
    for (let n = 0; n <= days; n++) await store.maintain(micros(removedAt + (60 + n) * day));
    expect(await store.spaceRemoval()).toBeNull();
  });
});

describe('the removal of rows about spaces with a day that cannot be changed', () => {
  const firstDay = (): string => join(folder, 'days', '2024-10-04.sealed.sqlite');

  /** Overwrites the first page of a sealed day's rows. Returns the intact content. */
  async function damage(): Promise<Buffer> {
    const intact = await readFile(firstDay());
    const db = new Database(firstDay(), { readonly: true });
    const root = db.prepare<[], number>("SELECT rootpage FROM sqlite_schema WHERE name = 'observation'").pluck().get();
    const size = Number(db.pragma('page_size', { simple: true }));
    db.close();
    if (root === undefined) throw new Error('the day has no rows');
    const damaged = Buffer.from(intact).fill(0x5a, (root - 1) * size, root * size);
    await rm(firstDay());
    await writeFile(firstDay(), damaged);
    return intact;
  }

  it('leaves a damaged sealed day unchanged, reports it once, continues with the next day, and stays incomplete', async () => {
    await damage();
    const damaged = await readFile(firstDay());
    const events: FileEvent[] = [];
    const store = open((event) => events.push(event));
    await removeAll(store);
    await removeAll(store);
    expect(events).toEqual([
      expect.objectContaining({ name: '2024-10-04.sealed.sqlite', day: '2024-10-04', action: 'left' }),
    ]);
    expect(events[0]?.reason).toContain('the removal is incomplete');
    expect(await readFile(firstDay())).toEqual(damaged);
    expect(await store.spaceRemoval()).toEqual({ rows: spaceRowsFrom(1), completedAt: null });
    const batch = { at: micros(removedAt + 1), observations: [], refusals: [], positions: [] };
    expect(await store.append(batch)).toMatchObject({ accepted: 0 });
  });

  it('is completed by a later start after the day was repaired', async () => {
    const intact = await damage();
    await removeAll(open());
    await writer?.close();
    await writeFile(firstDay(), intact);
    const store = open();
    await removeAll(store);
    expect(await rowsByDay(store)).toEqual(spaceRows.map(() => [0, otherRows]));
    expect(await store.spaceRemoval()).toEqual({ rows: spaceRowsFrom(0), completedAt: removedAt });
  });

  it('is completed once the damaged day has expired', async () => {
    await damage();
    const store = open();
    await removeAll(store);
    await store.append({ at: micros(removedAt + 31 * day), observations: [], refusals: [], positions: [] });
    await store.maintain(micros(removedAt + 31 * day));
    await removeAll(store);
    expect(await store.spaceRemoval()).toEqual({ rows: spaceRowsFrom(1), completedAt: removedAt });
  });

  it('lets a purge run before it retries an open day on which it failed halfway, and counts only the rows that it removed itself', async () => {
    let commits = 0;
    let isFailing = true;
    const store = open(undefined, (point) => {
      if (isFailing && point === 'purge.removed' && ++commits > 1)
        throw new StoreError('wal_full', 'a reader keeps the log');
    });
    const purgeOnce = () => store.purge(removedAt);
    await expect(removeAll(store)).rejects.toThrow('a reader keeps the log');
    await expect(purgeOnce()).rejects.toThrow('a reader keeps the log');
    const [source = ''] = labelers;
    expect(await store.requestPurge({ source, at: removedAt })).toBe(true);
    // The purge removes the rows of sealed days although the open day still fails.
    for (let n = 0; n < 2; n++) expect(await purgeOnce()).toBe(true);
    const [purge] = await store.purges();
    expect(purge).toMatchObject({ daysLeft: 3 });
    isFailing = false;
    await removeAll(store);
    // The purge removes half of the 800 rows that the first commit left in the fourth day, and 3 of 5 in the last day.
    const purged = 400 + 3;
    expect(await store.spaceRemoval()).toEqual({ rows: spaceRowsFrom(0) - purged, completedAt: removedAt });
    expect((await store.purges())[0]).toMatchObject({ completedAt: removedAt, rows: (days * otherRows) / 2 + purged });
    expect(await problems(store)).toEqual([]);
  });
});

describe('a removal of rows about spaces whose writer is killed', () => {
  const remove = (fault = ''): Promise<number | string> =>
    startScript('store/killed-store.ts', ['purge', folder, `${removedAt}`, fault]).ended;

  const points = [
    'purge.begun:1',
    'purge.written:1',
    'purge.renamed:1',
    'purge.recorded:1',
    'purge.begun:2',
    'purge.removed:1',
    'purge.removed:3',
    'purge.emptied:2',
    'purge.recorded:4',
  ];

  it.each(points)(
    'leaves counters that match the rows, and later reports the exact number of removed rows (kill at %s)',
    async (fault) => {
      expect(await remove(fault)).toBe('SIGKILL');
      const reader = openSqliteReader(folder);
      expect(await problems(reader)).toEqual([]);
      expect((await rowsByDay(reader)).map(([, other]) => other)).toEqual(spaceRows.map(() => otherRows));
      await reader.close();
      expect(await remove()).toBe(0);
      const store = open();
      expect(await rowsByDay(store)).toEqual(spaceRows.map(() => [0, otherRows]));
      expect(await problems(store)).toEqual([]);
      expect(await store.spaceRemoval()).toEqual({ rows: spaceRowsFrom(0), completedAt: removedAt });
    },
  );
});
