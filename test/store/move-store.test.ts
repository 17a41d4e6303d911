import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { noon } from '../../harness/conformance/labels.ts';
import { problems } from '../../harness/conformance/suite.ts';
import { changeFile } from '../../harness/store/earlier-store.ts';
import { batch, page, sealedToday, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import { faultPoints } from '../../src/store/sqlite/base/connection.ts';
import { unfinishedNames } from '../../src/store/sqlite/base/files.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { repairStore, setStoreAside } from '../../src/store/sqlite/repair/repair.ts';
import { restoreStore } from '../../src/store/sqlite/repair/restore.ts';
import { openSqliteStandby } from '../../src/store/sqlite/standby/standby.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, dayStart, hour, micros } from '../../src/store/time.ts';

const place = useSqliteFolder();
const now = micros(noon + 6 * day);
const at = new Date('2024-10-10T12:34:56Z');
const mover = fileURLToPath(new URL('../../harness/store/killed-store.ts', import.meta.url));

/** Starts a command that kills itself at a fault point, and waits until it has exited. */
function kill(command: 'new-epoch' | 'restore', point: string, from = ''): void {
  const run = spawnSync(process.execPath, [mover, command, place.path, String(now), point, from], { stdio: 'inherit' });
  expect(run.signal).toBe('SIGKILL');
}

const openings = [() => openSqliteWriter({ folder: place.path, at: now }), () => openSqliteReader(place.path)];

/** Returns every day file below a directory by its base name, with its bytes. */
async function daysBelow(folder: string): Promise<Map<string, Buffer>> {
  const names = await readdir(folder, { recursive: true });
  const days = names.filter((name) => /\d\.(open|sealed)\.sqlite$/.test(name));
  const read = days.map(async (name) => [name.split('/').at(-1) ?? '', await readFile(join(folder, name))] as const);
  return new Map(await Promise.all(read));
}

describe('the command new-epoch', () => {
  it('moves the days and the state file to another directory, so that the next writer begins a new epoch', async () => {
    await place.sealBusyDay();
    const before = await daysBelow(place.path);
    const reader = openSqliteReader(place.path);
    const { generationId } = await reader.epoch();
    await reader.close();
    const done = setStoreAside(place.path, at);
    expect({ ...done, moved: done?.moved.filter((name) => name.endsWith('.sqlite')) }).toEqual({
      directory: join(place.path, 'set-aside-2024-10-10T12-34-56Z'),
      moved: ['days/2024-10-04.sealed.sqlite', 'days/2024-10-08.open.sqlite', 'state.sqlite'],
    });
    expect(await daysBelow(join(place.path, 'set-aside-2024-10-10T12-34-56Z'))).toEqual(before);
    const writer = place.open({ at: now });
    expect((await writer.epoch()).generationId).not.toBe(generationId);
    await place.close();
    const aside = openSqliteReader(join(place.path, 'set-aside-2024-10-10T12-34-56Z'));
    expect((await aside.readAccount(page)).rows).toHaveLength(71);
    await aside.close();
  });

  it('ends the reads of processes that opened the store before', async () => {
    await place.sealBusyDay();
    const reader = openSqliteReader(place.path);
    expect((await reader.readAccount(page)).rows).toHaveLength(71);
    setStoreAside(place.path, at);
    const ended = { code: 'not_a_store', message: `the store in ${place.path} was moved aside or replaced` };
    await expect(reader.readAccount(page)).rejects.toMatchObject(ended);
    await place.open({ at: now }).append({ ...batch([1]), at: now });
    await expect(reader.readAccount(page)).rejects.toMatchObject(ended);
    await expect(reader.frontier()).rejects.toMatchObject(ended);
    await expect(reader.gaps({ start: noon, end: now })).rejects.toMatchObject(ended);
    await reader.close();
  });

  it('succeeds if the state file is empty', async () => {
    await place.sealBusyDay();
    await truncate(join(place.path, 'state.sqlite'), 0);
    setStoreAside(place.path, at);
    await place.open({ at: now }).append({ ...batch([1]), at: now });
    expect((await daysBelow(join(place.path, 'set-aside-2024-10-10T12-34-56Z'))).size).toBe(2);
  });

  it('is refused while a writer is running, and has no effect if there is no store', async () => {
    place.open();
    expect(() => setStoreAside(place.path, at)).toThrowError(expect.objectContaining({ code: 'second_writer' }));
    await place.close();
    setStoreAside(place.path, at);
    expect(setStoreAside(place.path, at)).toBeNull();
  });

  it('is refused while a standby exists, which would take over with the identities of the rows that are moved', async () => {
    place.open();
    const standby = openSqliteStandby({ folder: place.path, clock: () => now });
    await place.close();
    expect(() => setStoreAside(place.path, at)).toThrowError(expect.objectContaining({ code: 'second_writer' }));
    await standby.close();
    expect(setStoreAside(place.path, at)).not.toBeNull();
  });

  it.each(faultPoints.filter((point) => point.startsWith('new-epoch')))(
    'loses no day when it is killed, and the store cannot be opened until the command has been run again (kill at %s)',
    async (point) => {
      await place.sealBusyDay();
      const before = await daysBelow(place.path);
      kill('new-epoch', point);
      expect(await daysBelow(place.path)).toEqual(before);
      for (const open of openings) expect(open).toThrowError(expect.objectContaining({ code: 'damaged' }));
      setStoreAside(place.path, at);
      const [aside = ''] = (await readdir(place.path)).filter((name) => name.startsWith('set-aside-'));
      expect(await daysBelow(join(place.path, aside))).toEqual(before);
      expect((await readdir(join(place.path, aside))).sort()).toEqual(['days', 'state.sqlite']);
      await place.open({ at: now }).append({ ...batch([1]), at: now });
    },
  );
});

it('new-epoch also moves the copy made by an interrupted restore', async () => {
  const from = await backedUp();
  try {
    kill('restore', 'restore.copied', from);
    expect(setStoreAside(place.path, at)?.moved).toContain('restore-copy/state.sqlite');
    await place.open({ at: now }).append({ ...batch([1]), at: now });
  } finally {
    await rm(from, { recursive: true });
  }
});

/** Creates a store with a heartbeat, moves its files to a backup directory, and returns that directory. */
async function backedUp(): Promise<string> {
  const backup = `${place.path}-backup`;
  await place.sealBusyDay();
  const writer = place.open();
  await writer.beat(micros(noon + 4 * day));
  await place.close();
  await cp(place.path, backup, { recursive: true });
  await rm(place.path, { recursive: true });
  return backup;
}

describe('the command restore', () => {
  it("moves a verified copy into place, and records a gap from the copy's last heartbeat to now", async () => {
    const from = await backedUp();
    try {
      const { days, lost, gap } = await restoreStore({ from, folder: place.path, at: now });
      expect(days.map(({ day, rows }) => [day, rows])).toEqual([
        ['2024-10-04', 70],
        ['2024-10-08', 1],
      ]);
      expect({ lost, gap }).toEqual({ lost: [], gap: { start: noon + 4 * day, end: now } });
      const writer = place.open({ at: now });
      expect(await writer.gaps({ start: noon, end: micros(now + day) })).toEqual([
        { source: null, reason: 'ingest_paused', start: noon + 4 * day, end: now },
      ]);
      expect((await writer.readAccount(page)).rows.length).toBeGreaterThanOrEqual(70);
      expect((await readdir(place.path)).sort()).toEqual(expect.arrayContaining(['days', 'state.sqlite']));
    } finally {
      await rm(from, { recursive: true });
    }
  });

  it('records a gap for a day that the backup does not contain', async () => {
    const from = await backedUp();
    try {
      await rm(join(from, 'days', sealedToday), { force: true });
      const { lost } = await restoreStore({ from, folder: place.path, at: now });
      expect(lost).toEqual(['2024-10-04']);
      const writer = place.open({ at: now });
      const wholeDay = { start: dayStart(20_000), end: dayStart(20_001) };
      expect(await writer.gaps(wholeDay)).toEqual([{ source: null, reason: 'unknown', ...wholeDay }]);
    } finally {
      await rm(from, { recursive: true });
    }
  });

  it('records a gap up to now, not later, for the current day if the backup does not contain it', async () => {
    const from = await backedUp();
    try {
      for (const name of await readdir(join(from, 'days'))) {
        if (name.startsWith('2024-10-08.open.sqlite')) await rm(join(from, 'days', name));
      }
      const at = micros(noon + 4 * day + hour);
      const { lost } = await restoreStore({ from, folder: place.path, at });
      expect(lost).toEqual(['2024-10-08']);
      const writer = place.open({ at });
      const gap = { source: null, start: dayStart(20_004), end: at };
      expect(await writer.gaps({ start: gap.start, end: dayStart(20_006) })).toEqual([
        { ...gap, reason: 'ingest_paused' },
        { ...gap, reason: 'unknown' },
      ]);
    } finally {
      await rm(from, { recursive: true });
    }
  });

  it('records a gap for the whole of a lost day that is later than the clock of the restore', async () => {
    const from = await backedUp();
    try {
      for (const name of await readdir(join(from, 'days'))) {
        if (name.startsWith('2024-10-08.open.sqlite')) await rm(join(from, 'days', name));
      }
      await restoreStore({ from, folder: place.path, at: micros(noon + 2 * day) });
      const writer = place.open({ at: micros(noon + 6 * day) });
      const gaps = await writer.gaps({ start: dayStart(20_004), end: dayStart(20_006) });
      expect(gaps).toContainEqual({ source: null, start: dayStart(20_004), end: dayStart(20_005), reason: 'unknown' });
    } finally {
      await rm(from, { recursive: true });
    }
  });

  it("refuses a backup with an altered day, and leaves only the lock files in the store's directory", async () => {
    const from = await backedUp();
    try {
      const path = join(from, 'days', sealedToday);
      chmodSync(path, 0o644);
      changeFile(path, 'UPDATE observation SET ver = 7 WHERE id = (SELECT max(id) FROM observation)');
      await expect(restoreStore({ from, folder: place.path, at: now })).rejects.toMatchObject({ code: 'damaged' });
      expect((await readdir(place.path)).sort()).toEqual(['standby.lock', 'writer.lock']);
      await expect(restoreStore({ from: dirname(from), folder: place.path, at: now })).rejects.toMatchObject({
        code: 'not_a_store',
      });
    } finally {
      await rm(from, { recursive: true });
    }
  });

  it('continues after an interruption, whatever the writer of the copy could not remove', async () => {
    const from = await backedUp();
    try {
      kill('restore', 'restore.verified', from);
      const copied = join(place.path, unfinishedNames.copied);
      for (const name of ['writer.json', 'identities.kept.growing']) await writeFile(join(copied, name), '{}');
      await restoreStore({ from, folder: place.path, at: now });
      expect((await readdir(place.path)).sort()).toEqual(['days', 'standby.lock', 'state.sqlite', 'writer.lock']);
    } finally {
      await rm(from, { recursive: true });
    }
  });

  it('is refused if a store exists or a writer is running', async () => {
    const from = await backedUp();
    try {
      await restoreStore({ from, folder: place.path, at: now });
      await expect(restoreStore({ from, folder: place.path, at: now })).rejects.toMatchObject({ code: 'occupied' });
      place.open({ at: now });
      await expect(restoreStore({ from, folder: place.path, at: now })).rejects.toMatchObject({
        code: 'second_writer',
      });
    } finally {
      await rm(from, { recursive: true });
    }
  });

  it.each(faultPoints.filter((point) => point.startsWith('restore')))(
    'leaves the backup unchanged when it is killed, and the store cannot be opened until the command has been run again (kill at %s)',
    async (point) => {
      const from = await backedUp();
      try {
        const before = await daysBelow(from);
        kill('restore', point, from);
        for (const open of openings) expect(open).toThrowError(expect.objectContaining({ code: 'damaged' }));
        await restoreStore({ from, folder: place.path, at: now });
        const writer = place.open({ at: now });
        expect(await problems(writer)).toEqual([]);
        expect(await writer.gaps({ start: noon, end: micros(now + day) })).toHaveLength(1);
        expect((await writer.readAccount(page)).rows.length).toBeGreaterThanOrEqual(70);
        expect(await daysBelow(from)).toEqual(before);
      } finally {
        await rm(from, { recursive: true });
      }
    },
  );
});

describe('the command verify --repair', () => {
  const repaired = async () => {
    const reports = [];
    for await (const { day, repaired } of repairStore({ folder: place.path })) {
      reports.push({ day: day.day, left: day.problems.length, repaired: repaired.length > 0 });
    }
    return reports;
  };

  it.each([
    ['counters of a sealed day', sealedToday, 'UPDATE counter_minute SET applied = applied + 1'],
    ['hours of a sealed day', sealedToday, 'DELETE FROM counter_hour'],
    ['the filter of a sealed day', sealedToday, 'UPDATE subject_filter SET bits = zeroblob(length(bits))'],
    ['counts of accounts of a sealed day', sealedToday, 'DELETE FROM busy_groups'],
    ['checksums of counters of a sealed day', sealedToday, "DELETE FROM group_sum WHERE part = 'counter_hour'"],
    ['counters of an open day', '2024-10-08.open.sqlite', 'UPDATE counter_minute SET applied = applied + 1'],
    ['hours of an open day', '2024-10-08.open.sqlite', 'DELETE FROM counter_hour'],
  ])('recomputes damaged data from the rows (%s)', async (_, name, sql) => {
    await place.sealBusyDay();
    place.change(name, sql);
    const [first, second] = await repaired();
    const [mended, sound] = name === sealedToday ? [first, second] : [second, first];
    expect(mended).toMatchObject({ left: 0, repaired: true });
    expect(sound).toMatchObject({ left: 0, repaired: false });
    expect(await repaired()).toMatchObject([
      { left: 0, repaired: false },
      { left: 0, repaired: false },
    ]);
  });

  it.each([
    ['an altered row', 'UPDATE observation SET ver = 7 WHERE id = (SELECT max(id) FROM observation)'],
    ['a lost row', 'DELETE FROM observation WHERE id = (SELECT max(id) FROM observation)'],
    ['an altered text', "UPDATE val SET name = 'other' WHERE id = 1"],
  ])('does not rewrite a sealed day with %s, and reports the problem', async (_, sql) => {
    await place.sealBusyDay();
    place.change(sealedToday, sql);
    const before = await readFile(place.dayPath(sealedToday));
    const [first] = await repaired();
    expect(first?.left).toBeGreaterThan(0);
    expect(await readFile(place.dayPath(sealedToday))).toEqual(before);
  });

  it('adds a day that is missing from the state file', async () => {
    await place.sealBusyDay();
    place.changeState('DELETE FROM day WHERE day = 20000');
    expect((await repaired()).map(({ day }) => day)).toEqual(['2024-10-04', '2024-10-08']);
  });

  it('is refused while a writer is running', async () => {
    place.open();
    await expect(repaired()).rejects.toMatchObject({ code: 'second_writer' });
  });
});
