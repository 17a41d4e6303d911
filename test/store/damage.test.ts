import { cpSync, rmSync } from 'node:fs';
import { open as openFile, stat, truncate, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { noon } from '../../harness/conformance/labels.ts';
import { problems } from '../../harness/conformance/suite.ts';
import { alice, batch, many, page, sealedToday, today, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import type { Micros } from '../../src/contract/timestamp.ts';
import type { FileEvent } from '../../src/store/sqlite/base/files.ts';
import { subjectKey } from '../../src/store/sqlite/base/row.ts';
import { groupsSeed, packGroups } from '../../src/store/sqlite/hot/hot-counts.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { restoreStore } from '../../src/store/sqlite/repair/restore.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, micros } from '../../src/store/time.ts';

const place = useSqliteFolder();
const { open } = place;

describe('damage to a store', () => {
  it('prevents opening for writing, and ends reads with a fatal error, if it is in the pages of a day', async () => {
    const writer = open();
    for (let n = 0; n < 3; n++) await writer.append(many(n));
    await writer.close();
    const path = place.dayPath(today);
    await overwrite(path, 4096 * 3, (await stat(path)).size);
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'damaged', fatal: true }));
    const reader = openSqliteReader(place.path);
    await expect(reader.readAccount(page)).rejects.toMatchObject({ code: 'damaged', fatal: true });
    await reader.close();
  });

  it.each([
    ['a removed row', 'DELETE FROM observation WHERE id = (SELECT max(id) FROM observation)', /counted|last row/],
    ['a changed counter', 'UPDATE counter_minute SET applied = applied + 1', /minute \d+ .*the counter has/],
    ['a lost hour', 'DELETE FROM counter_hour', /hour .*no counter exists/],
    ['a changed value', `UPDATE observation SET flags = flags | 3 WHERE id = ${noon}`, /the identity of row/],
    ['a row of another day', `UPDATE observation SET id = id + ${day} WHERE id = ${noon}`, /another day/],
  ])('is detected by verify (%s)', async (_, sql, problem) => {
    await open().append(batch([1, 2, 4]));
    await place.close();
    place.change(today, sql);
    const reader = openSqliteReader(place.path);
    expect((await problems(reader)).join('\n')).toMatch(problem);
    await reader.close();
  });

  it.each([
    ['a label', `UPDATE observation SET cts = cts + 1 WHERE id = ${noon}`],
    ['a name', "UPDATE val SET name = name || ' other'"],
    ['an identity', `UPDATE observation SET identity = zeroblob(16) WHERE id = ${noon}`],
    ['a time', `UPDATE observation SET cts = NULL, cts_text = NULL WHERE id = ${noon}`],
  ])('in an open day makes reads fail, so that no altered row is served (%s)', async (_, sql) => {
    await open().append(batch([0, 4]));
    await place.close();
    place.change(today, sql);
    const reader = openSqliteReader(place.path);
    await expect(reader.readAccount(page)).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringContaining(today),
    });
    await reader.close();
  });

  it('keeps the store from being opened for writing if it affects an identity', async () => {
    await open().append(batch([0, 4]));
    await place.close();
    // Without the identities that the writer kept, the next one reads them from the rows.
    rmSync(join(place.path, 'identities.kept'));
    place.change(today, 'PRAGMA ignore_check_constraints = 1; UPDATE observation SET identity = zeroblob(3)');
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'damaged' }));
  });

  it('becomes a gap once a writer opens the store, if it is in the log of an earlier open day', async () => {
    const writer = open();
    await writer.append(batch([0, 4]));
    const log = `${place.dayPath(today)}-wal`;
    const { size } = await stat(log);
    // A reader that has opened the file prevents its log from being fully checkpointed.
    await writer.frontier();
    await writer.append({ ...batch([8]), at: micros(noon + 10) });
    await writer.append({ ...batch([12]), at: micros(noon + day) });
    const copy = `${place.path}-copy`;
    cpSync(place.path, copy, { recursive: true });
    onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
    await truncate(`${copy}/days/${today}-wal`, size);
    expect(() => openSqliteReader(copy)).toThrowError(expect.objectContaining({ code: 'damaged' }));
    const events: string[] = [];
    await openSqliteWriter({ folder: copy, at: noon, onFile: ({ reason }) => events.push(reason) }).close();
    expect(events).toEqual(['the last commits of this day are lost; the lost time is recorded as a gap']);
    const reader = openSqliteReader(copy);
    expect(await reader.gaps({ start: noon, end: micros(noon + 2 * day) })).toEqual([
      { source: null, reason: 'unknown', start: noon, end: micros(noon + day / 2) },
    ]);
    expect((await reader.readAccount(page)).rows).toHaveLength(3);
    await reader.close();
  });

  it('is not asserted of an open day if the file of the following day is missing', async () => {
    const writer = open();
    for (let d = 0; d < 3; d++) await writer.append({ ...batch([4 * d]), at: micros(noon + d * day) });
    await place.close();
    const restored = `${place.path}-restored`;
    onTestFinished(() => rmSync(restored, { recursive: true, force: true }));
    rmSync(place.dayPath('2024-10-05.open.sqlite'));
    const events: FileEvent[] = [];
    const onFile = (event: FileEvent) => events.push(event);
    await restoreStore({ from: place.path, folder: restored, at: micros(noon + 2 * day), onFile });
    expect(events).toEqual([
      {
        name: today,
        day: '2024-10-04',
        action: 'left',
        reason:
          'the file of the following day is missing, so that commits of this day may be lost; the time after its last commit is recorded as a gap',
      },
    ]);
    const reader = openSqliteReader(restored);
    const gaps = await reader.gaps({ start: noon, end: micros(noon + 2 * day) });
    expect(gaps.filter(({ reason }) => reason === 'unknown')).toEqual([
      { source: null, reason: 'unknown', start: noon, end: micros(noon + 1.5 * day) },
    ]);
    await reader.close();
  });

  it('is detected by verify if it is in the counts of an open day', async () => {
    await open().append(batch(Array.from({ length: 70 }, (_, i) => 4 * i)));
    await place.close();
    place.change(today, 'UPDATE busy SET removed = removed + 1');
    const reader = openSqliteReader(place.path);
    expect((await problems(reader)).join('\n')).toMatch(/the counts of did:plc:\S+ do not match its rows/);
    await reader.close();
  });

  it('in the counts of an open day makes counting fail with an error that names the file', async () => {
    await open({ at: micros(noon - day) }).append(batch(Array.from({ length: 70 }, (_, i) => 4 * i)));
    await place.close();
    place.change(today, 'UPDATE busy SET applied = applied / 8, removed = removed / 8');
    await expectNoTally(micros(noon + 10), today);
  });

  it('is detected by verify if it is in a sealed day', async () => {
    const writer = open();
    for (let d = 0; d < 4; d++) await writer.append({ ...batch([d, d + 10]), at: micros(noon + d * day) });
    await writer.maintain(micros(noon + 4 * day));
    await writer.close();
    place.change(sealedToday, "UPDATE counter_minute SET stamps = x''");
    const reader = openSqliteReader(place.path);
    expect((await problems(reader)).join('\n')).toMatch(/the packed stamps have 0 applications and 0 removals/);
    await reader.close();
  });

  it.each([
    [
      'wrong counts with a valid checksum',
      `UPDATE busy_groups SET packed = x'${packGroups([[1, 1, 0, 70, 0]], groupsSeed(subjectKey(alice))).toString('hex')}'`,
      /the counts of did:plc:\S+ do not match its rows/,
    ],
    [
      'overwritten counts',
      'UPDATE busy_groups SET packed = zeroblob(length(packed))',
      /the counts of an account do not match their checksum/,
    ],
    ['removed counts', 'DELETE FROM busy_groups', /the counts of did:plc:\S+ do not match its rows/],
    [
      'counts of an absent subject',
      `INSERT INTO busy_groups(subject, packed)
       VALUES (x'ff', x'${packGroups([], groupsSeed(Buffer.of(0xff))).toString('hex')}')`,
      /counts are stored for a subject/,
    ],
    [
      'cleared bits',
      'UPDATE subject_filter SET bits = zeroblob(length(bits))',
      /the subject filter does not match the rows/,
    ],
    ['a removed filter', 'DELETE FROM subject_filter', /the subject filter does not match the rows/],
  ])('is detected by verify in a sealed day (%s)', async (_, change, problem) => {
    await place.sealBusyDay();
    place.change(sealedToday, change);
    const reader = openSqliteReader(place.path);
    expect((await problems(reader)).join('\n')).toMatch(problem);
    await reader.close();
  });

  it.each([
    ['cleared bits', 'UPDATE subject_filter SET bits = zeroblob(length(bits))'],
    ['a removed filter', 'DELETE FROM subject_filter'],
  ])('in the subject filter of a sealed day makes reads fail, so that no row is hidden (%s)', async (_, change) => {
    await place.sealBusyDay();
    place.change(sealedToday, change);
    const reader = openSqliteReader(place.path);
    await expect(reader.readAccount(page)).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringContaining(sealedToday),
    });
    await reader.close();
  });

  it('in the counts of a sealed day makes counting fail with an error that names the file', async () => {
    await place.sealBusyDay();
    place.change(sealedToday, 'UPDATE busy_groups SET packed = zeroblob(length(packed))');
    await expectNoTally(micros(noon + day), sealedToday);
  });

  it('is reported at opening and on reading if it removes a file, so that the day never counts as empty', async () => {
    const writer = open();
    await writer.append(batch([1]));
    await writer.append({ ...batch([2]), at: micros(noon + day) });
    await writer.close();
    for (const name of await place.dayNames()) if (name.startsWith('2024-10-04')) await unlink(place.dayPath(name));
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'damaged' }));
    const reader = openSqliteReader(place.path);
    await expect(reader.readAccount(page)).rejects.toMatchObject({ code: 'damaged' });
    await expect(reader.readAccount({ ...page, start: micros(noon + day) })).resolves.toMatchObject({ next: null });
    await reader.close();
  });

  it('prevents opening for writing if it truncates the file of a day', async () => {
    const writer = open();
    for (let n = 0; n < 3; n++) await writer.append(many(n));
    await writer.close();
    await truncate(place.dayPath(today), 4096 * 20);
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'damaged' }));
  });
});

describe('an error that is not damage', () => {
  it('states the result code and what to do, and is fatal', async () => {
    await open().append(batch([0]));
    await place.close();
    const reader = openSqliteReader(place.path);
    place.changeState('DROP TABLE label_key');
    await expect(reader.keys('did:web:mod.example')).rejects.toMatchObject({
      ...{ code: 'unexpected', fatal: true, retry: false },
      message: expect.stringMatching(/no such table: label_key \(SQLITE_ERROR\): start the process again/),
    });
    await reader.close();
  });
});

/** Expects that counting a part of the day up to `end` fails with an error that names the file to restore. */
async function expectNoTally(end: Micros, file: string): Promise<void> {
  const reader = openSqliteReader(place.path);
  const asked = { account: alice, start: micros(noon - day / 2), end, budget: 100 };
  const refusal = { code: 'damaged', message: expect.stringContaining(file) };
  await expect(reader.tallyAccount(asked)).rejects.toMatchObject(refusal);
  await reader.close();
}

async function overwrite(path: string, from: number, to: number): Promise<void> {
  const file = await openFile(path, 'r+');
  await file.write(Buffer.alloc(to - from, 0xa5), 0, to - from, from);
  await file.close();
}
