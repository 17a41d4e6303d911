import { copyFile, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelNumber, noon } from '../../harness/conformance/labels.ts';
import { batch, page, sealedToday, today, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import type { FileEvent } from '../../src/store/sqlite/base/files.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, micros } from '../../src/store/time.ts';

const place = useSqliteFolder();
const { open } = place;
const at = micros(noon + 5 * day);
const advice = /almanac labels restore FROM.*almanac labels new-epoch/;

/** Creates a closed store with a sealed day and an open one. */
async function twoDays(): Promise<void> {
  await place.sealBusyDay();
}

/** Returns every day file by name, with its bytes. */
async function dayFiles(): Promise<Map<string, Buffer>> {
  const names = (await place.dayNames()).filter((name) => name.endsWith('.sqlite'));
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(place.dayPath(name))] as const)));
}

function expectRefused(): void {
  const refusal = expect.objectContaining({ code: 'damaged', fatal: true, message: expect.stringMatching(advice) });
  expect(() => openSqliteWriter({ folder: place.path, at })).toThrowError(refusal);
  expect(() => openSqliteReader(place.path)).toThrowError(refusal);
}

const state = (suffix = '') => join(place.path, `state.sqlite${suffix}`);

describe('a store with day files and no usable state file', () => {
  it.each([
    ['is missing', () => rm(state())],
    ['is empty', () => truncate(state(), 0)],
    [
      'is empty and has the log of another state file',
      () => writeFile(state('-wal'), 'x').then(() => truncate(state(), 0)),
    ],
    [
      'belongs to a store without days',
      async () => {
        const other = join(place.path, 'other');
        await openSqliteWriter({ folder: other, at }).close();
        await copyFile(join(other, 'state.sqlite'), state());
        await rm(other, { recursive: true });
      },
    ],
    [
      'was created and never written',
      async () => {
        const { default: Database } = await import('better-sqlite3');
        await rm(state());
        const db = new Database(state());
        db.pragma('journal_mode = wal');
        db.close();
      },
    ],
  ])('is reported as damaged with a remedy, and keeps every day file, if the state file %s', async (_, lose) => {
    await twoDays();
    const before = await dayFiles();
    await lose();
    expectRefused();
    expect(await dayFiles()).toEqual(before);
  });

  it('loses no day if the state file is truncated or altered', async () => {
    await twoDays();
    const before = await dayFiles();
    const sealed = before.get(sealedToday) ?? Buffer.alloc(0);
    const sound = await readFile(state());
    const harm = fc.oneof(
      fc.record({ length: fc.nat({ max: sound.length - 1 }) }),
      fc.record({ from: fc.nat({ max: sound.length - 64 }), bytes: fc.uint8Array({ minLength: 64, maxLength: 64 }) }),
    );
    await fc.assert(
      fc.asyncProperty(harm, async (done) => {
        for (const suffix of ['-wal', '-shm', '-journal']) await rm(state(suffix), { force: true });
        const bytes = 'length' in done ? sound.subarray(0, done.length) : Buffer.from(sound);
        if ('from' in done) bytes.set(done.bytes, done.from);
        await writeFile(state(), bytes);
        try {
          await openSqliteWriter({ folder: place.path, at }).close();
        } catch (error) {
          expect(error).toMatchObject({ name: 'StoreError' });
        }
        const after = await dayFiles();
        expect([...after.keys()]).toEqual([...before.keys()]);
        expect(after.get(sealedToday)?.equals(sealed)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});

describe('a day of another generation', () => {
  it('is reported as damage, to the writer on opening and to a reader at its first query', async () => {
    await twoDays();
    place.change(sealedToday, "UPDATE meta SET value = 'another' WHERE name = 'generation'");
    expect(() => open()).toThrowError(
      expect.objectContaining({ code: 'damaged', message: expect.stringMatching(/2024-10-04.*another generation/) }),
    );
    const reader = openSqliteReader(place.path);
    await expect(reader.readAccount(page)).rejects.toMatchObject({ code: 'damaged' });
    await reader.close();
    expect(await place.dayNames()).toContain(sealedToday);
  });

  it('is also reported as damage if the state file does not list the day', async () => {
    await open().append(batch([1]));
    await place.close();
    const other = join(place.path, 'other');
    const foreign = openSqliteWriter({ folder: other, at });
    await foreign.append({ ...batch([9]), at });
    await foreign.close();
    const [name = ''] = (await readdir(join(other, 'days'))).filter((file) => file.endsWith('.sqlite'));
    await rename(join(other, 'days', name), place.dayPath(name));
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'damaged' }));
    expect(await place.dayNames()).toContain(name);
  });
});

describe('opening or maintaining a store', () => {
  const events: FileEvent[] = [];
  const reopen = async () => {
    events.length = 0;
    await open({ at, onFile: (event) => events.push(event) }).close();
    return events.map(({ name, action }) => `${action} ${name}`);
  };

  it('keeps and reports unknown files', async () => {
    await twoDays();
    await writeFile(place.dayPath('notes.txt'), 'mine');
    await writeFile(place.dayPath('2031-01-01.sealed.sqlite.growing'), 'a day that the state file does not know');
    await writeFile(place.dayPath('2031-01-01.open.sqlite-wal'), 'a log without its day');
    expect((await reopen()).sort()).toEqual([
      'left 2031-01-01.open.sqlite-wal',
      'left 2031-01-01.sealed.sqlite.growing',
      'left notes.txt',
    ]);
    expect(await place.dayNames()).toEqual(expect.arrayContaining(events.map(({ name }) => name)));
    expect(events[0]).toEqual({ name: expect.any(String), day: null, action: 'left', reason: expect.any(String) });
  });

  it('removes the incomplete file of an interrupted seal if the day also has a complete file', async () => {
    await twoDays();
    await writeFile(place.dayPath(`${sealedToday}.growing`), 'half');
    expect(await reopen()).toEqual([`removed ${sealedToday}.growing`]);
    expect(events[0]).toMatchObject({ day: '2024-10-04', reason: 'the file was left by an interrupted seal' });
  });

  it('removes the open form of a sealed day if both forms have the same rows', async () => {
    await open({ at: micros(noon - day) }).append(batch([1, 2, 3]));
    await place.close();
    await copyFile(place.dayPath(today), join(place.path, 'kept'));
    await sealFirstDay();
    await copyFile(join(place.path, 'kept'), place.dayPath(today));
    expect(await reopen()).toEqual([`removed ${today}`]);
    expect(events[0]).toMatchObject({ day: '2024-10-04', reason: 'the sealed file contains the same rows' });
  });

  it('keeps an open form that differs from the sealed form, and reads the sealed form', async () => {
    await open({ at: micros(noon - day) }).append(batch([1, 2, 3]));
    await place.close();
    await copyFile(place.dayPath(today), join(place.path, 'kept'));
    await open().append(batch([4]));
    await place.close();
    await sealFirstDay();
    await copyFile(join(place.path, 'kept'), place.dayPath(today));
    expect(await reopen()).toEqual([`left ${today}`]);
    expect((await stat(place.dayPath(today))).size).toBeGreaterThan(0);
    // Label 4 shows that the sealed form was read, because only that form contains label 4.
    const reader = openSqliteReader(place.path);
    const { rows } = await reader.readAccount({ ...page, end: micros(noon + day) });
    await reader.close();
    expect(rows.map(({ label }) => label.cts)).toEqual([labelNumber(4).cts]);
  });

  it('reports damage if both forms of a day differ and the state file does not list the day as sealed', async () => {
    await open({ at: micros(noon - day) }).append(batch([1, 2, 3]));
    await place.close();
    await copyFile(place.dayPath(today), join(place.path, 'kept'));
    await open().append(batch([4]));
    await place.close();
    await sealFirstDay();
    await copyFile(join(place.path, 'kept'), place.dayPath(today));
    place.changeState('UPDATE day SET sealed = 0');
    expect(() => open()).toThrowError(expect.objectContaining({ code: 'damaged' }));
    expect(await place.dayNames()).toEqual(expect.arrayContaining([today, sealedToday]));
  });

  it('moves aside a database of another application that has the name of a day file', async () => {
    await twoDays();
    const name = '2024-10-20.open.sqlite';
    place.change(name, 'CREATE TABLE mine(x); INSERT INTO mine VALUES (1)');
    expect(await reopen()).toEqual([`moved_aside ${name}`]);
    expect(await place.dayNames()).toContain(`${name}.aside`);
  });

  it('reports the days that have expired', async () => {
    const removed: FileEvent[] = [];
    const writer = open({ windowDays: 1, onFile: (event) => removed.push(event) });
    for (let d = 0; d < 4; d++) await writer.append({ ...batch([d]), at: micros(noon + d * day) });
    await writer.maintain(micros(noon + 3 * day));
    await writer.close();
    expect(removed).toEqual([
      { name: today, day: '2024-10-04', action: 'removed', reason: expect.stringContaining('window') },
    ]);
  });
});

/** Adds a row on a later day, and seals the first day. */
async function sealFirstDay(): Promise<void> {
  const writer = open();
  await writer.append({ ...batch([1_000]), at: micros(noon + 4 * day) });
  expect((await writer.maintain(micros(noon + 4 * day))).sealed).toEqual(['2024-10-04']);
  await place.close();
}
