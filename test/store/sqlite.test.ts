import { chmod, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { noon } from '../../harness/conformance/labels.ts';
import { problems } from '../../harness/conformance/suite.ts';
import { startScript } from '../../harness/process/script.ts';
import { batchFrom, rowsOfBatch, source } from '../../harness/store/appender-batches.ts';
import { withoutPlaces } from '../../harness/store/earlier-store.ts';
import { countRows } from '../../harness/store/scan.ts';
import { alice, batch, many, sealedToday, today, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import { StoreError } from '../../src/store/errors.ts';
import type { FileEvent, OnFile } from '../../src/store/sqlite/base/files.ts';
import { hotSubjectsSql } from '../../src/store/sqlite/hot/hot-counts.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import type { SqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, hour, micros } from '../../src/store/time.ts';

const place = useSqliteFolder();
const { open } = place;
const later = micros(noon + 4 * day);

describe('the write-ahead log of a day', () => {
  it('does not exceed its limit while a stopped reader uses it, because append refuses batches until the reader exits', async () => {
    const maxLogBytes = 24 * 1024 * 1024;
    const writer = open({ maxLogBytes });
    await writer.append(many(0));
    const stopped = new Database(place.dayPath(today), { readonly: true });
    stopped.exec('BEGIN; SELECT count(*) FROM observation');
    let accepted = 1;
    const refusal = await (async () => {
      for (; accepted < 200; accepted++) await writer.append(many(accepted));
      return null;
    })().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: 'StoreError', code: 'wal_full', retry: true, fatal: false });
    const log = await stat(place.dayPath(`${today}-wal`));
    expect(log.size).toBeLessThanOrEqual(maxLogBytes);
    await expect(writer.append(many(accepted))).rejects.toMatchObject({ code: 'wal_full' });
    // A refused batch must leave neither a row nor an identity.
    expect(await countRows(writer, wholeDay)).toBe(accepted * 1_000);
    stopped.exec('COMMIT');
    stopped.close();
    expect(await writer.append(many(accepted))).toMatchObject({ accepted: 1_000, duplicates: [] });
  });

  it('stays short while a reader queries the store after each append', async () => {
    const writer = open();
    const reader = openSqliteReader(place.path);
    for (let n = 0; n < 40; n++) {
      await writer.append(many(n));
      await reader.countsByLabeler(wholeDay);
    }
    await reader.close();
    const log = await stat(place.dayPath(`${today}-wal`));
    expect(log.size).toBeLessThan(32 * 1024 * 1024);
  });
});

describe('a stopped reader of a past day', () => {
  it('delays only the sealing of that day until the reader exits, while later days are sealed', async () => {
    const writer = open();
    await writer.append(many(0));
    const stopped = new Database(place.dayPath(today), { readonly: true });
    stopped.exec('BEGIN; SELECT count(*) FROM observation');
    await writer.append(many(1));
    for (const d of [1, 5]) await writer.append({ ...many(d + 1), at: micros(noon + d * day) });
    const now = micros(noon + 5 * day);
    expect(await writer.maintain(now)).toEqual({ sealed: ['2024-10-05'], postponed: ['2024-10-04'], expired: [] });
    stopped.close();
    expect(await writer.maintain(now)).toEqual({ sealed: ['2024-10-04'], postponed: [], expired: [] });
    expect(await problems(writer)).toEqual([]);
  });
});

describe('a full disk', () => {
  it('makes append refuse the whole batch, and accept it once there is space', async () => {
    const writer = open();
    const positions = (value: string) => [{ source, endpoint: 'e', value }];
    await writer.append({ ...many(0), positions: positions('0') });
    writer.limitPages(1);
    await expect(writer.append({ ...many(1), positions: positions('1') })).rejects.toMatchObject({
      code: 'disk_full',
      retry: true,
    });
    expect(await countRows(writer, wholeDay)).toBe(1_000);
    expect(await writer.positions()).toMatchObject(positions('0'));
    expect(await problems(writer)).toEqual([]);
    writer.limitPages(1_000_000);
    expect(await writer.append({ ...many(1), positions: positions('1') })).toMatchObject({
      accepted: 1_000,
      duplicates: [],
    });
    expect(await problems(writer)).toEqual([]);
  });
});

describe('a failure in the middle of a change', () => {
  it.each(['append.rows', 'append.counters', 'append.positions'])(
    'leaves no appended row in the store (at %s)',
    async (point) => {
      let armed = false;
      const writer = open({
        faults: (reached) => {
          if (armed && reached === point) throw new Error('cut short');
        },
      });
      await writer.append(batch([1, 2]));
      armed = true;
      await expect(writer.append(batch([3, 4]))).rejects.toThrow('cut short');
      armed = false;
      expect(await writer.append(batch([3, 4, 5]))).toMatchObject({ accepted: 3, duplicates: [], first: noon + 2 });
      expect(await problems(writer)).toEqual([]);
    },
  );

  it('is repaired when the store is next opened, if it occurred between raising the floor and removing a day', async () => {
    let armed = false;
    const writer = open({
      windowDays: 1,
      faults: (reached) => {
        if (armed && reached === 'expire.floor') throw new Error('cut short');
      },
    });
    for (let d = 0; d < 6; d++) await writer.append({ ...batch([d]), at: micros(noon + d * day) });
    armed = true;
    await expect(writer.maintain(micros(noon + 5 * day))).rejects.toThrow('cut short');
    expect((await place.dayNames()).some((name) => name.startsWith('2024-10-04'))).toBe(true);
    await expect(writer.countsByLabeler(wholeDay)).rejects.toMatchObject({ code: 'out_of_window' });
    await writer.close();
    await open().close();
    expect((await place.dayNames()).some((name) => name.startsWith('2024-10-04'))).toBe(false);
  });
});

describe('a seal that was renamed into place but not recorded', () => {
  it('is completed by the next upkeep of the same writer', async () => {
    let isFull = true;
    const writer = open({
      faults: (reached) => {
        if (isFull && reached === 'seal.renamed') throw new StoreError('disk_full', 'no room for the name');
      },
    });
    await writer.append(batch([1]));
    await writer.append({ ...batch([2]), at: micros(noon + 4 * day) });
    const now = micros(noon + 4 * day);
    expect(await writer.maintain(now)).toMatchObject({ sealed: [], postponed: ['2024-10-04'] });
    isFull = false;
    expect(await writer.maintain(now)).toMatchObject({ sealed: ['2024-10-04'], postponed: [] });
    expect(await place.dayNames()).not.toContain(today);
    expect(await countRows(writer, wholeDay)).toBe(1);
    expect(await problems(writer)).toEqual([]);
  });

  async function purge(writer: SqliteWriter): Promise<void> {
    expect(await writer.requestPurge({ source, at: later })).toBe(true);
    while (await writer.purge(later));
  }

  /** Seals a day of three labelers after `change`. The seal is not recorded. */
  async function sealAfter(change: (writer: SqliteWriter) => Promise<void>, onFile?: OnFile): Promise<SqliteWriter> {
    let isFull = true;
    const writer = open({
      ...(onFile && { onFile }),
      faults: (reached) => {
        if (isFull && reached === 'seal.renamed') throw new StoreError('disk_full', 'no room for the name');
      },
    });
    await writer.append(batch([0, 1, 2]));
    await writer.append({ ...batch([4]), at: later });
    await change(writer);
    expect(await writer.maintain(later)).toMatchObject({ sealed: [], postponed: ['2024-10-04'] });
    isFull = false;
    return writer;
  }

  it('is completed by the next upkeep although the seal dropped the names of purged rows', async () => {
    const writer = await sealAfter(purge);
    expect(await writer.maintain(later)).toMatchObject({ sealed: ['2024-10-04'], postponed: [] });
    expect(await place.dayNames()).not.toContain(today);
    expect(await countRows(writer, wholeDay)).toBe(2);
    expect(await problems(writer)).toEqual([]);
  });

  it('is completed by the next start although the seal dropped the names of purged rows', async () => {
    await sealAfter(purge);
    await place.close();
    const writer = open();
    expect(await place.dayNames()).toEqual(expect.arrayContaining([sealedToday]));
    expect(await place.dayNames()).not.toContain(today);
    expect(await countRows(writer, wholeDay)).toBe(2);
    expect(await problems(writer)).toEqual([]);
  });

  it.each([
    ['a row', 'DELETE FROM observation WHERE id = (SELECT max(id) FROM observation)'],
    ['the name of a labeler with rows', 'DELETE FROM source WHERE id = (SELECT max(source) FROM observation)'],
    ['the name of a value with rows', 'DELETE FROM val WHERE id = (SELECT max(val) FROM observation)'],
    ['another name', "UPDATE source SET name = 'did:plc:other' WHERE id = (SELECT max(source) FROM observation)"],
  ])('fails as damaged if the sealed file differs in %s', async (_, sql) => {
    await sealAfter(purge);
    await place.close();
    await chmod(place.dayPath(sealedToday), 0o644);
    place.change(sealedToday, sql);
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'damaged' }));
    expect(await place.dayNames()).toEqual(expect.arrayContaining([today, sealedToday]));
  });

  it('is discarded by a purge of the day, so that the day is sealed again without the purged rows', async () => {
    const events: FileEvent[] = [];
    const writer = await sealAfter(
      async () => undefined,
      (event) => events.push(event),
    );
    await purge(writer);
    expect(events).toEqual([
      {
        name: sealedToday,
        day: '2024-10-04',
        action: 'removed',
        reason: 'the seal was not recorded, and rows are removed from the open file',
      },
    ]);
    expect(await writer.maintain(later)).toMatchObject({ sealed: ['2024-10-04'], postponed: [] });
    expect(await countRows(writer, wholeDay)).toBe(2);
    expect(await problems(writer)).toEqual([]);
  });

  it('is discarded by a purge of the day, so that the next start succeeds', async () => {
    await purge(await sealAfter(async () => undefined));
    await place.close();
    const writer = open();
    expect(await place.dayNames()).not.toContain(sealedToday);
    expect(await countRows(writer, wholeDay)).toBe(2);
    expect(await problems(writer)).toEqual([]);
  });

  it('is kept by a purge that finds other rows in it, which fails as damaged', async () => {
    const writer = await sealAfter(async () => undefined);
    await chmod(place.dayPath(sealedToday), 0o644);
    place.change(sealedToday, 'DELETE FROM observation WHERE id = (SELECT max(id) FROM observation)');
    await expect(purge(writer)).rejects.toMatchObject({ code: 'damaged' });
    expect(await place.dayNames()).toEqual(expect.arrayContaining([today, sealedToday]));
    expect(await countRows(writer, wholeDay)).toBe(3);
  });
});

describe('opening a store', () => {
  it('reads days of earlier versions, sealed and open, and adds rows to the open day', async () => {
    await place.sealBusyDay();
    const reader = openSqliteReader(place.path);
    const asked = { account: alice, start: noon, end: micros(noon + 5 * day), budget: 1_000 };
    const before = await reader.tallyAccount(asked);
    await reader.close();
    withoutPlaces(place.dayPath(sealedToday));
    const unpack = `DROP TABLE block; DROP TABLE group_sum; DROP TABLE busy_groups; CREATE TABLE busy(subject, source, val, target, applied, removed);
      INSERT INTO busy ${hotSubjectsSql}`;
    for (const [version, sql] of [
      [3, unpack],
      [2, 'DROP TABLE subject_filter'],
    ] as const) {
      toVersion(version, sealedToday, sql);
      const earlier = openSqliteReader(place.path);
      expect(await earlier.tallyAccount(asked)).toEqual(before);
      expect(await earlier.busyAccounts(2)).toEqual([alice]);
      expect(await problems(earlier)).toEqual([]);
      await earlier.close();
    }
    toVersion(1, sealedToday, 'DROP TABLE busy');
    toVersion(
      1,
      '2024-10-08.open.sqlite',
      'DROP TABLE refused_rows; DROP TABLE busy; DROP INDEX observation_subject; CREATE INDEX observation_subject ON observation(subject)',
    );
    const writer = open();
    expect(await writer.tallyAccount(asked)).toEqual(before);
    await writer.append({ ...batch([400]), at: micros(noon + 4 * day) });
    const after = await writer.tallyAccount(asked);
    expect(after.days.map(({ counts }) => counts?.rows)).toEqual([70, 0, 0, 0, 2, 0]);
    expect(await problems(writer)).toEqual([]);
  });

  it('fails for a store of a newer version, both for a writer and for a reader', async () => {
    await open().append(batch([1]));
    await place.close();
    const db = new Database(join(place.path, 'state.sqlite'));
    db.pragma('user_version = 99');
    db.close();
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'schema_newer' }));
    expect(() => openSqliteReader(place.path)).toThrowError(expect.objectContaining({ code: 'schema_newer' }));
  });

  it('fails for a day of another generation of the store', async () => {
    await open().append(batch([1]));
    await place.close();
    place.changeState("UPDATE epoch SET generation = 'another'");
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'damaged' }));
  });

  it("fails for a path that has other content under the store's file names", async () => {
    place.changeState('CREATE TABLE theirs(x); PRAGMA user_version = 1');
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'not_a_store' }));
  });

  it('removes the incomplete files of an unfinished seal and of an unfinished day', async () => {
    await open().append(batch([1]));
    await place.close();
    await writeFile(place.dayPath(`${sealedToday}.growing`), 'half');
    await writeFile(place.dayPath('2024-10-05.open.sqlite'), '');
    const writer = open();
    expect(await place.dayNames()).not.toContain(`${sealedToday}.growing`);
    expect(await writer.append({ ...batch([2]), at: micros(noon + day) })).toMatchObject({ accepted: 1 });
  });
});

describe('a reader in another process', () => {
  it('reads every row while days are written, sealed and replaced', async () => {
    const writer = open();
    const reader = startScript('store/reading-process.ts', [place.path]);
    let n = 0;
    const append = async (at: number, val: string): Promise<void> => {
      const observations = batchFrom(n).map(({ label, signature }) => ({ signature, label: { ...label, val } }));
      await writer.append({ at: micros(at), observations, refusals: [], positions: [] });
      n += rowsOfBatch;
    };
    await append(noon, 'spam');
    const wasRead = async (): Promise<void> => expect(await reader.line()).toBe('reading');
    await wasRead();
    let sealed = 0;
    const maintain = async (step: number): Promise<number> => {
      const done = await writer.maintain(micros(noon + step * 2 * hour));
      sealed += done.sealed.length;
      return done.postponed.length;
    };
    for (let step = 1; step <= 120; step++) {
      await append(noon + step * 2 * hour, 'spam');
      await maintain(step);
      if (step % 30 === 0) await wasRead();
    }
    // Each call of `maintain` seals a day that the reader had opened.
    while ((await maintain(120)) > 0);
    await append(noon + 300 * hour, 'last');
    const code = await reader.ended;
    expect({ code, said: JSON.parse(String(await reader.line())), sealed }).toEqual({
      code: 0,
      said: { seen: n, several: true },
      sealed: 8,
    });
  });
});

const wholeDay = { start: noon, end: micros(noon + day / 2) };
/** Converts a day's file to the format of an earlier schema version. */
function toVersion(version: number, name: string, sql: string): void {
  place.change(
    name,
    `${sql}; DROP TABLE IF EXISTS counter_labeler; DELETE FROM migration WHERE version > ${version}; PRAGMA user_version = ${version}`,
  );
}
