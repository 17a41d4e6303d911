import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeClosedArchive } from '../../harness/archive/closed-archive.ts';
import { copyOf } from '../../harness/archive/forge.ts';
import { memoryArchive } from '../../harness/archive/memory-files.ts';
import { simulateArchive } from '../../harness/archive/simulated-archive.ts';
import { simulatedLabelers } from '../../harness/archive/simulated-hours.ts';
import { at } from '../../harness/archive/tabled-archive.ts';
import { findIdentityIn } from '../main/archived-identity.ts';
import { formatDay, parseDay, sha256Of } from './days/records.ts';
import { currentEdition } from './tables/editions.ts';
import { firstEdition } from './tables/first-edition.ts';
import type { Edition } from './tables/table.ts';
import { rebuildDay, withdrawFile } from './upkeep.ts';

/** The days that were closed with the first edition of the tables keep their bytes, and newer days have the current one. */

const [first, second, third] = ['2026-11-20', '2026-11-21', '2026-11-22'];
const faults = {
  weather: [
    { start: at(0, 6, 30), end: at(0, 9, 15) },
    { start: at(0, 12), end: at(0, 13), collection: 'like.create' },
  ],
  labels: [
    { start: at(0, 5), end: at(0, 7) },
    { start: at(0, 15), end: at(0, 18), labeler: simulatedLabelers[1] },
  ],
};
const content = new Map<string, Buffer>();

beforeAll(() => {
  const write = (path: string, bytes: Buffer) => void content.set(path, bytes);
  writeClosedArchive({ before: at(2, 0), days: 2, faults, edition: firstEdition, write });
});

/** Returns an archive whose two closed days have the tables of the first edition. */
function olderArchive() {
  return simulateArchive({
    memory: memoryArchive(copyOf(content), content.get('log/checkpoint') ?? null),
    findIdentityIn,
  });
}

const hoursLater = 24 * 3;

describe('an archive with days of the first edition', () => {
  it('has the same bytes as the versions that wrote it', () => {
    const own = createHash('sha256');
    const names = [...content].filter(([path]) => /^days\/.*(?:csv|parquet|gaps\.json|day\.json)$/.test(path));
    for (const [path, bytes] of names) own.update(path).update(bytes);
    // The digest was computed by the version before the current edition. If it changes, old days cannot be verified.
    expect([names.length, own.digest('hex')]).toEqual([
      16,
      'bbb47a23d91aae98e50fee8cb28cdfad82090a04fae8f2df81cf9218f168cb3a',
    ]);
  });

  it('passes verification, keeps its closed days, and has the current tables from the first open day', async () => {
    const archive = olderArchive();
    await archive.run(hoursLater + 2, 48);
    const report = await archive.verify();
    expect(report).toMatchObject({ findings: [], closedDays: 3 });
    for (const [path, bytes] of content) {
      if (path.startsWith('days/')) expect(archive.content.get(path), path).toEqual(bytes);
    }
    const names = parseDay(archive.content.get(`days/${third}/day.json`) ?? Buffer.alloc(0))?.files.map(
      ({ name }) => name,
    );
    expect(names).toEqual(expect.arrayContaining([...currentEdition.files]));
    expect(names?.filter((name) => firstEdition.files.includes(name))).toEqual([]);
    expect(archive.content.get('tables.json')?.toString('utf8')).toContain(`"since": "${third}"`);
  });

  it('states the same first day after the data dictionary was lost', async () => {
    const archive = olderArchive();
    await archive.run(1, 48);
    archive.content.delete('tables.json');
    await archive.run(hoursLater + 24, 49);
    expect(archive.content.get('tables.json')?.toString('utf8')).toContain(`"since": "${third}"`);
  });

  it('loses the older tables of an open day when the current ones are written', async () => {
    const archive = olderArchive();
    await archive.run(1, 48);
    const path = `days/${third}/labels-by-hour.csv`;
    const record = parseDay(archive.content.get(`days/${third}/day.json`) ?? Buffer.alloc(0));
    if (!record) throw new Error('the day has no record');
    archive.content.set(path, Buffer.from('hour\r\n'));
    const listed = { name: 'labels-by-hour.csv', bytes: 6, sha256: sha256Of(Buffer.from('hour\r\n')) };
    archive.content.set(`days/${third}/day.json`, formatDay({ ...record, files: [...record.files, listed] }));
    await archive.run(hoursLater + 2, 49);
    expect(archive.content.has(path)).toBe(false);
    expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 3 });
  });
});

describe('an archive with the current tables', () => {
  it('takes at most 1.1 times the size of one with the tables of the first edition', () => {
    const labelers = Array.from({ length: 100 }, (_, place) => `did:web:labeler-${place}.example.com`);
    const sizeOf = (edition: Edition): number => {
      let size = 0;
      // Bodies as long as those of a real service.
      const write = (_path: string, bytes: Buffer): void => {
        size += bytes.length;
      };
      writeClosedArchive({
        before: at(8, 0),
        days: 8,
        faults: { ...faults, labelers },
        edition,
        padding: 3_750,
        write,
      });
      return size;
    };
    expect(sizeOf(currentEdition) / sizeOf(firstEdition)).toBeLessThan(1.1);
  });
});

describe('a rebuild of a day of the first edition', () => {
  it('adds the current tables next to the older ones, and the archive still passes verification', async () => {
    const archive = olderArchive();
    const added = rebuildDay(archive.files, first, findIdentityIn).filter(({ result }) => result === 'added');
    expect(added.map(({ name }) => name)).toEqual(currentEdition.files);
    for (const [path, bytes] of content) expect(archive.content.get(path), path).toEqual(bytes);
    expect((await archive.verify({ now: at(9, 0) })).findings).toEqual([]);
    const again = rebuildDay(archive.files, first, findIdentityIn);
    expect(new Set(again.map(({ result }) => result))).toEqual(new Set(['identical']));
  });

  it('is reported by a verification if an added table was altered', async () => {
    const archive = olderArchive();
    rebuildDay(archive.files, first, findIdentityIn);
    const path = `days/${first}/labels-totals.csv`;
    archive.content.set(path, Buffer.from('day,hour\n'));
    expect((await archive.verify({ now: at(9, 0) })).findings).toMatchObject([{ kind: 'gaps', path }]);
  });

  it('does not add a withdrawn table again, or any table to a day with a withdrawn file', async () => {
    const archive = olderArchive();
    const withdraw = (day: string, name: string) =>
      withdrawFile({ files: archive.files, day, name, reason: 'a test', now: at(9, 0) });
    rebuildDay(archive.files, first, findIdentityIn);
    expect(withdraw(first, 'labels-gaps.csv')).toBe('removed');
    rebuildDay(archive.files, first, findIdentityIn);
    expect(archive.content.has(`days/${first}/labels-gaps.csv`)).toBe(false);
    withdraw(second, 'labels-by-labeler.csv');
    rebuildDay(archive.files, second, findIdentityIn);
    expect([...archive.content.keys()].filter((path) => path.startsWith(`days/${second}/labels-totals`))).toEqual([]);
    expect((await archive.verify({ now: at(9, 0) })).findings).toEqual([]);
  });
});
