import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, truncate, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Batch, StoreReader } from '../../src/store/port.ts';
import { busySql } from '../../src/store/sqlite/busy.ts';
import { packGroups } from '../../src/store/sqlite/packed-groups.ts';
import { openSqliteReader } from '../../src/store/sqlite/reader.ts';
import { openSqliteWriter, type SqliteWriter, type SqliteWriterOptions } from '../../src/store/sqlite/writer.ts';
import { day, hour, micros } from '../../src/store/time.ts';
import { labelNumber, noon, observationOf, subjects } from '../conformance/labels.ts';
import { batchFrom, rowsOfBatch, source } from './appender-batches.ts';

const [alice = ''] = subjects;
const today = '2024-10-04.open.sqlite';

let folder: string;
let store: SqliteWriter | null = null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'almanac-sqlite-'));
});
afterEach(async () => {
  await store?.close();
  store = null;
  await rm(folder, { recursive: true, force: true });
});

function open(options: Partial<SqliteWriterOptions> = {}): SqliteWriter {
  store = openSqliteWriter({ folder, at: noon, ...options });
  return store;
}

describe('the log of a day', () => {
  it('is held by a stopped reader: append refuses before it outgrows its bound, and goes on once the reader ends', async () => {
    const maxLogBytes = 24 * 1024 * 1024;
    const writer = open({ maxLogBytes });
    await writer.append(many(0));
    const stopped = new Database(join(folder, 'days', today), { readonly: true });
    stopped.exec('BEGIN; SELECT count(*) FROM observation');
    let accepted = 1;
    const refusal = await (async () => {
      for (; accepted < 200; accepted++) await writer.append(many(accepted));
      return null;
    })().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: 'StoreError', code: 'wal_full', retry: true, fatal: false });
    const log = await stat(join(folder, 'days', `${today}-wal`));
    expect(log.size).toBeLessThanOrEqual(maxLogBytes);
    await expect(writer.append(many(accepted))).rejects.toMatchObject({ code: 'wal_full' });
    // What was refused left no trace: not a row, not an identity.
    expect(await rowsOf(writer)).toBe(accepted * 1_000);
    stopped.exec('COMMIT');
    stopped.close();
    expect(await writer.append(many(accepted))).toMatchObject({ accepted: 1_000, duplicates: [] });
  });

  it('stays short while readers come and go', async () => {
    const writer = open();
    const reader = openSqliteReader(folder);
    for (let n = 0; n < 40; n++) {
      await writer.append(many(n));
      await reader.countsByLabeler(wholeDay);
    }
    await reader.close();
    const log = await stat(join(folder, 'days', `${today}-wal`));
    expect(log.size).toBeLessThan(32 * 1024 * 1024);
  });
});

describe('a stopped reader of a past day', () => {
  it('postpones that day alone: the next ones are sealed, and it once the reader ends', async () => {
    const writer = open();
    await writer.append(many(0));
    const stopped = new Database(join(folder, 'days', today), { readonly: true });
    stopped.exec('BEGIN; SELECT count(*) FROM observation');
    await writer.append(many(1));
    for (const d of [1, 5]) await writer.append({ ...many(d + 1), at: micros(noon + d * day) });
    const now = micros(noon + 5 * day);
    expect(await writer.maintain(now)).toEqual({ sealed: ['2024-10-05'], postponed: ['2024-10-04'], expired: [] });
    stopped.close();
    expect(await writer.maintain(now)).toEqual({ sealed: ['2024-10-04'], postponed: [], expired: [] });
    expect(await problemsOf(writer)).toEqual([]);
  });
});

describe('a full disk', () => {
  it('refuses the batch whole, and takes it once there is space', async () => {
    const writer = open();
    const positions = (value: string) => [{ source, endpoint: 'e', value }];
    await writer.append({ ...many(0), positions: positions('0') });
    writer.limitPages(1);
    await expect(writer.append({ ...many(1), positions: positions('1') })).rejects.toMatchObject({
      code: 'disk_full',
      retry: true,
    });
    expect(await rowsOf(writer)).toBe(1_000);
    expect(await writer.positions()).toMatchObject(positions('0'));
    expect(await problemsOf(writer)).toEqual([]);
    writer.limitPages(1_000_000);
    expect(await writer.append({ ...many(1), positions: positions('1') })).toMatchObject({
      accepted: 1_000,
      duplicates: [],
    });
    expect(await problemsOf(writer)).toEqual([]);
  });
});

describe('a fault in the middle of an append', () => {
  it.each(['append.rows', 'append.counters', 'append.positions'])('at %s leaves nothing behind', async (point) => {
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
    expect(await problemsOf(writer)).toEqual([]);
  });

  it('between the new floor and the removal of a day is mended by the next opening', async () => {
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
    expect((await names()).some((name) => name.startsWith('2024-10-04'))).toBe(true);
    await expect(writer.countsByLabeler(wholeDay)).rejects.toMatchObject({ code: 'out_of_window' });
    await writer.close();
    await open().close();
    expect((await names()).some((name) => name.startsWith('2024-10-04'))).toBe(false);
  });
});

describe('damage', () => {
  it('of a page ends reading with a fatal error, and verify names the day', async () => {
    const writer = open();
    for (let n = 0; n < 3; n++) await writer.append(many(n));
    await writer.close();
    const path = join(folder, 'days', today);
    await overwrite(path, 4096 * 3, (await stat(path)).size);
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'damaged', fatal: true }));
    const reader = openSqliteReader(folder);
    await expect(reader.readAccount(page)).rejects.toMatchObject({ code: 'damaged', fatal: true });
    await reader.close();
  });

  it.each([
    [
      'a row that was taken away',
      'DELETE FROM observation WHERE id = (SELECT max(id) FROM observation)',
      /counted|last row/,
    ],
    ['a counter that was changed', 'UPDATE counter_minute SET applied = applied + 1', /minute \d+ .*counted/],
    ['an hour that was lost', 'DELETE FROM counter_hour', /hour .*not counted/],
    ['a value that was changed', `UPDATE observation SET flags = flags | 3 WHERE id = ${noon}`, /another identity/],
    ['a row of another day', `UPDATE observation SET id = id + ${day} WHERE id = ${noon}`, /another day/],
  ])('is found by verify: %s', async (_, sql, problem) => {
    await open().append(batch([1, 2, 4]));
    await store?.close();
    const db = new Database(join(folder, 'days', today));
    db.exec(sql);
    db.close();
    const reader = openSqliteReader(folder);
    expect((await problemsOf(reader)).join('\n')).toMatch(problem);
    await reader.close();
  });

  it('of counts that an open day keeps is found by verify', async () => {
    await open().append(batch(Array.from({ length: 70 }, (_, i) => 4 * i)));
    await store?.close();
    const db = new Database(join(folder, 'days', today));
    db.exec('UPDATE busy SET removed = removed + 1');
    db.close();
    const reader = openSqliteReader(folder);
    expect((await problemsOf(reader)).join('\n')).toMatch(/the counts of did:plc:\S+ are not those of its rows/);
    await reader.close();
  });

  it('of a sealed day is found by verify', async () => {
    const writer = open();
    for (let d = 0; d < 4; d++) await writer.append({ ...batch([d, d + 10]), at: micros(noon + d * day) });
    await writer.maintain(micros(noon + 4 * day));
    await writer.close();
    const path = join(folder, 'days', '2024-10-04.sealed.sqlite');
    const db = new Database(path);
    db.exec("UPDATE counter_minute SET stamps = x''");
    db.close();
    const reader = openSqliteReader(folder);
    expect((await problemsOf(reader)).join('\n')).toMatch(/stamps say 0\+0/);
    await reader.close();
  });

  it.each([
    [
      'of counts',
      `UPDATE busy_groups SET packed = x'${packGroups([[1, 1, 0, 70, 0]]).toString('hex')}'`,
      /the counts of did:plc:\S+ are not those of its rows/,
    ],
    [
      'of counts that changed',
      'UPDATE busy_groups SET packed = zeroblob(length(packed))',
      /the counts of an account are not as they were kept/,
    ],
    ['of counts that are gone', 'DELETE FROM busy_groups', /the counts of did:plc:\S+ are not those of its rows/],
    [
      'of counts of nobody',
      "INSERT INTO busy_groups(subject, packed) VALUES (x'ff', x'00000000')",
      /counts are kept of a subject/,
    ],
    ['of bits', 'UPDATE subject_filter SET bits = zeroblob(length(bits))', /the filter of its subjects is not that/],
    ['of bits that are gone', 'DELETE FROM subject_filter', /the filter of its subjects is not that/],
  ])('%s that a sealed day keeps is found by verify', async (_, change, problem) => {
    await sealBusyDay();
    const db = new Database(join(folder, 'days', '2024-10-04.sealed.sqlite'));
    db.exec(change);
    db.close();
    const reader = openSqliteReader(folder);
    expect((await problemsOf(reader)).join('\n')).toMatch(problem);
    await reader.close();
  });

  it.each([
    ['bits that changed', 'UPDATE subject_filter SET bits = zeroblob(length(bits))'],
    ['bits that are gone', 'DELETE FROM subject_filter'],
  ])('of %s hides no row of a sealed day: reading says so', async (_, change) => {
    await sealBusyDay();
    const db = new Database(join(folder, 'days', '2024-10-04.sealed.sqlite'));
    db.exec(change);
    db.close();
    const reader = openSqliteReader(folder);
    await expect(reader.readAccount(page)).rejects.toMatchObject({ code: 'damaged' });
    await reader.close();
  });

  it('by a lost file is said at opening and on reading, never read as an empty day', async () => {
    const writer = open();
    await writer.append(batch([1]));
    await writer.append({ ...batch([2]), at: micros(noon + day) });
    await writer.close();
    for (const name of await names()) if (name.startsWith('2024-10-04')) await unlink(join(folder, 'days', name));
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'damaged' }));
    const reader = openSqliteReader(folder);
    await expect(reader.readAccount(page)).rejects.toMatchObject({ code: 'damaged' });
    await expect(reader.readAccount({ ...page, start: micros(noon + day) })).resolves.toMatchObject({ next: null });
    await reader.close();
  });

  it('of a day’s length is a fatal error', async () => {
    const writer = open();
    for (let n = 0; n < 3; n++) await writer.append(many(n));
    await writer.close();
    await truncate(join(folder, 'days', today), 4096 * 20);
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'damaged' }));
  });
});

describe('opening', () => {
  it('reads days of earlier versions, sealed and open, and goes on with the open one', async () => {
    await sealBusyDay();
    const reader = openSqliteReader(folder);
    const asked = { account: alice, start: noon, end: micros(noon + 5 * day), budget: 1_000 };
    const before = await reader.tallyAccount(asked);
    await reader.close();
    const unpack = `DROP TABLE busy_groups; CREATE TABLE busy(subject, source, val, target, applied, removed);
      INSERT INTO busy ${busySql}`;
    for (const [version, sql] of [
      [3, unpack],
      [2, 'DROP TABLE subject_filter'],
    ] as const) {
      toVersion(version, '2024-10-04.sealed.sqlite', sql);
      const earlier = openSqliteReader(folder);
      expect(await earlier.tallyAccount(asked)).toEqual(before);
      expect(await earlier.busyAccounts(2)).toEqual([alice]);
      expect(await problemsOf(earlier)).toEqual([]);
      await earlier.close();
    }
    toVersion(1, '2024-10-04.sealed.sqlite', 'DROP TABLE busy');
    toVersion(
      1,
      '2024-10-08.open.sqlite',
      'DROP TABLE busy; DROP INDEX observation_subject; CREATE INDEX observation_subject ON observation(subject)',
    );
    const writer = open();
    expect(await writer.tallyAccount(asked)).toEqual(before);
    await writer.append({ ...batch([400]), at: micros(noon + 4 * day) });
    const after = await writer.tallyAccount(asked);
    expect(after.days.map(({ counts }) => counts?.rows)).toEqual([70, 0, 0, 0, 2, 0]);
    expect(await problemsOf(writer)).toEqual([]);
  });

  it('refuses a store of a newer version, by writer and reader', async () => {
    await open().append(batch([1]));
    await store?.close();
    const db = new Database(join(folder, 'state.sqlite'));
    db.pragma('user_version = 99');
    db.close();
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'schema_newer' }));
    expect(() => openSqliteReader(folder)).toThrowError(expect.objectContaining({ code: 'schema_newer' }));
  });

  it('refuses a day of another generation of the store', async () => {
    await open().append(batch([1]));
    await store?.close();
    const db = new Database(join(folder, 'state.sqlite'));
    db.exec("UPDATE epoch SET generation = 'another'");
    db.close();
    await expect(open().append(batch([2]))).rejects.toMatchObject({ code: 'damaged' });
  });

  it('refuses a folder that holds something else under our names', async () => {
    const db = new Database(join(folder, 'state.sqlite'));
    db.exec('CREATE TABLE theirs(x); PRAGMA user_version = 1');
    db.close();
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'not_a_store' }));
  });

  it('removes what an unfinished seal and an unfinished day left', async () => {
    await open().append(batch([1]));
    await store?.close();
    await writeFile(join(folder, 'days', '2024-10-03.sealed.sqlite.growing'), 'half');
    await writeFile(join(folder, 'days', '2024-10-05.open.sqlite'), '');
    const writer = open();
    expect(await names()).not.toContain('2024-10-03.sealed.sqlite.growing');
    expect(await writer.append({ ...batch([2]), at: micros(noon + day) })).toMatchObject({ accepted: 1 });
  });
});

describe('a reader in another process', () => {
  it('sees every row while days are written, rolled over, sealed and replaced', async () => {
    const writer = open();
    const reader = spawn(process.execPath, [fileURLToPath(new URL('./reading-process.ts', import.meta.url)), folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: reader.stdout })[Symbol.asyncIterator]();
    let n = 0;
    const append = async (at: number, val: string): Promise<void> => {
      const observations = batchFrom(n).map(({ label, signature }) => ({ signature, label: { ...label, val } }));
      await writer.append({ at: micros(at), observations, refusals: [], positions: [] });
      n += rowsOfBatch;
    };
    await append(noon, 'spam');
    expect((await lines.next()).value).toBe('reading');
    let sealed = 0;
    for (let step = 1; step <= 120; step++) {
      await append(noon + step * 2 * hour, 'spam');
      sealed += (await writer.maintain(micros(noon + step * 2 * hour))).sealed.length;
    }
    await append(noon + 300 * hour, 'last');
    const [code] = await once(reader, 'close');
    expect({ code, said: JSON.parse(String((await lines.next()).value)), sealed }).toEqual({
      code: 0,
      said: { seen: n, several: true },
      sealed: 8,
    });
  });
});

const wholeDay = { start: noon, end: micros(noon + day / 2) };
const page = {
  account: alice,
  start: noon,
  end: micros(noon + 30 * day),
  order: 'oldest',
  after: null,
  limit: 500,
} as const;

function batch(numbers: readonly number[]): Batch {
  return { at: noon, observations: numbers.map((n) => observationOf(labelNumber(n))), refusals: [], positions: [] };
}

/** A store, closed, whose first day is sealed and holds 70 rows of one account. */
async function sealBusyDay(): Promise<void> {
  const writer = open();
  await writer.append(batch(Array.from({ length: 70 }, (_, i) => 4 * i)));
  await writer.append({ ...batch([1_000]), at: micros(noon + 4 * day) });
  expect((await writer.maintain(micros(noon + 4 * day))).sealed).toEqual(['2024-10-04']);
  await writer.close();
}

/** Takes a day's file back to what an earlier version wrote. */
function toVersion(version: number, name: string, sql: string): void {
  const db = new Database(join(folder, 'days', name));
  db.exec(`${sql}; DELETE FROM migration WHERE version > ${version}; PRAGMA user_version = ${version}`);
  db.close();
}

/** A thousand labels; the n-th such batch shares none with another. */
function many(n: number): Batch {
  return batch(Array.from({ length: 1_000 }, (_, i) => n * 1_000 + i));
}

async function rowsOf(reader: StoreReader): Promise<number> {
  const counts = await reader.countsByLabeler(wholeDay);
  return counts.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
}

async function problemsOf(reader: StoreReader): Promise<string[]> {
  const found: string[] = [];
  for await (const { problems } of reader.verify()) found.push(...problems);
  return found;
}

function names(): Promise<string[]> {
  return readdir(join(folder, 'days'));
}

async function overwrite(path: string, from: number, to: number): Promise<void> {
  const { open: openFile } = await import('node:fs/promises');
  const file = await openFile(path, 'r+');
  await file.write(Buffer.alloc(to - from, 0xa5), 0, to - from, from);
  await file.close();
}
