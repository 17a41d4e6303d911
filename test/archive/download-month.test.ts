import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { downloadMonth, isMissing, serveArchive } from '../../harness/archive/downloads.ts';
import { simulateArchive, simulatedStart } from '../../harness/archive/simulated-archive.ts';
import { simulatedHours } from '../../harness/archive/simulated-hours.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { hourMs } from '../../src/archive/days/calendar.ts';
import {
  type DayRecord,
  formatDay,
  formatIndex,
  formatTombstones,
  parseDay,
  parseIndex,
  sha256Of,
} from '../../src/archive/days/records.ts';

/** Runs examples/archive_month.py against archives that lack tables, and against archives that name other directories. */

const [first, second] = ['2026-11-20', '2026-11-21'] as const;
const gap = { start: simulatedStart + 5 * hourMs, end: simulatedStart + 7.5 * hourMs };
let complete: ReadonlyMap<string, Buffer> = new Map();

beforeAll(async () => {
  const archive = simulateArchive({ hours: (now) => simulatedHours(now, { weather: [gap], labels: [gap] }) });
  await archive.run(24 * 4 + 1);
  complete = archive.content;
});

const bytesOf = (content: ReadonlyMap<string, Buffer>, path: string): Buffer => content.get(path) ?? Buffer.alloc(0);

/** Replaces the record of a day, and its digest in the index. */
function alterRecord(content: Map<string, Buffer>, day: string, change: (record: DayRecord) => DayRecord): void {
  const record = parseDay(bytesOf(content, `days/${day}/day.json`));
  const index = parseIndex(bytesOf(content, 'index.json'));
  if (record === null || index === null) throw new Error(`the archive has no valid record of ${day}`);
  const bytes = formatDay(change(record));
  content.set(`days/${day}/day.json`, bytes);
  const days = index.days.map((one) => (one.day === day ? { ...one, sha256: sha256Of(bytes) } : one));
  content.set('index.json', formatIndex({ ...index, days }));
}

/** Removes files of a closed day, and returns their tombstones. */
function withdraw(content: Map<string, Buffer>, day: string, names: readonly string[]): void {
  const tombstones = names.map((name) => {
    const bytes = bytesOf(content, `days/${day}/${name}`);
    content.delete(`days/${day}/${name}`);
    const stated = { withdrawn_at: '2026-11-25T00:00:00.000Z', reason: 'it names a person' };
    return { name, bytes: bytes.length, sha256: sha256Of(bytes), ...stated };
  });
  content.set(`days/${day}/withdrawn.json`, formatTombstones(day, tombstones));
}

/** Returns the tables to which the foreign keys of the joined tables refer. */
function referredIn(folder: string): string[] {
  const described = readFileSync(join(folder, 'datapackage.json'), 'utf8');
  return [...described.matchAll(/"resource": "(.*)"/g)].map(([, name = '']) => name);
}

describe.skipIf(isMissing('python3'))('the download of a month with Python', () => {
  it('deletes the copy of a withdrawn file, and joins the tables that the archive still has', async () => {
    const content = new Map(complete);
    const [folder, { url, paths }] = [folderInTest(), await serveArchive(content)];
    await downloadMonth(url, folder);
    const lines = readFileSync(join(folder, 'labels-totals.csv'), 'utf8').split('\n');
    const referred = referredIn(folder);
    const withdrawn = ['labels-totals.csv', 'labels-labelers.parquet'];
    withdraw(content, first, withdrawn);
    const requested = paths.length;
    for (const into of [folder, folderInTest()]) {
      const { code, output } = await downloadMonth(url, into);
      expect([code, output]).toEqual([
        0,
        expect.stringContaining(`${first}: labels-totals.csv was withdrawn or withheld: its rows are missing\n`),
      ]);
      const own = readdirSync(join(into, 'days', first));
      expect(withdrawn.filter((name) => own.includes(name))).toEqual([]);
      const joined = readFileSync(join(into, 'labels-totals.csv'), 'utf8').split('\n');
      expect(joined).toEqual(lines.filter((line) => !line.startsWith(first)));
      expect(joined.length).toBeGreaterThan(2);
    }
    expect(paths.slice(requested).filter((path) => withdrawn.some((name) => path.endsWith(name)))).toEqual([
      `days/${second}/labels-totals.csv`,
      `days/${second}/labels-labelers.parquet`,
    ]);
    // Rows that refer to a row of the withdrawn table are valid.
    expect(referred).toContain('labels-totals');
    expect(referredIn(folder)).toEqual(referred.filter((name) => name !== 'labels-totals'));
  });

  it('joins the other tables of a day of which some are withheld', async () => {
    const content = new Map(complete);
    const withheld = ['datapackage.json', 'weather-gaps.csv'];
    alterRecord(content, second, (record) => {
      const files = record.files.filter((file) => !withheld.includes(file.name));
      return { ...record, files, withheld };
    });
    const folder = folderInTest();
    const { code, output } = await downloadMonth((await serveArchive(content)).url, folder);
    expect([code, output]).toEqual([
      0,
      expect.stringContaining(`${second}: weather-gaps.csv was withdrawn or withheld: its rows are missing\n`),
    ]);
    const tableOf = (day: string, name: string): string => bytesOf(complete, `days/${day}/${name}`).toString('utf8');
    expect(readFileSync(join(folder, 'weather-gaps.csv'), 'utf8')).toBe(tableOf(first, 'weather-gaps.csv'));
    const [, ...rows] = tableOf(second, 'weather-totals.csv').split('\n');
    const totals = tableOf(first, 'weather-totals.csv') + rows.join('\n');
    expect(readFileSync(join(folder, 'weather-totals.csv'), 'utf8')).toBe(totals);
  });

  it('names the days that have older tables and are not joined', async () => {
    const content = new Map(complete);
    alterRecord(content, first, (record) => ({
      ...record,
      files: record.files.filter((file) => file.name !== 'datapackage.json'),
    }));
    const folder = folderInTest();
    const { code, output } = await downloadMonth((await serveArchive(content)).url, folder);
    expect([code, output]).toEqual([
      0,
      expect.stringContaining(`not joined, because they have older tables: ${first}\n`),
    ]);
    const rows = bytesOf(complete, `days/${second}/labels-totals.csv`);
    expect(readFileSync(join(folder, 'labels-totals.csv'), 'utf8')).toBe(rows.toString('utf8'));
  });

  describe('writes nothing outside its directory', () => {
    const digestOf = (value: object): string => sha256Of(Buffer.from(JSON.stringify(value)));
    const outside = '../../../outside.csv';

    /** Returns an archive of one closed day with one file, and a description of one table. */
    function smallArchive({ day = first as string, name = 'rows.csv', path = 'rows.csv' }): Map<string, Buffer> {
      const described = { resources: [{ name: 'rows', description: 'Rows.', path, schema: { fields: [] } }] };
      const files = { [name]: {}, 'datapackage.json': described };
      const listed = Object.entries(files).map(([file, value]) => ({ name: file, sha256: digestOf(value) }));
      const record = { day, files: listed };
      const index = { days: [{ day, state: 'closed', sha256: digestOf(record) }] };
      const content = new Map([['index.json', index] as [string, object], [`days/${day}/day.json`, record]]);
      for (const [file, value] of Object.entries(files)) content.set(`days/${day}/${file}`, value);
      return new Map([...content].map(([file, value]) => [file, Buffer.from(JSON.stringify(value))]));
    }

    it.each([
      ['a day', { day: '2026-11-/../../../outside' }, `the name of a day is invalid: '2026-11-/../../../outside'`],
      ['a file', { name: outside }, `the name of a file is invalid: '${outside}'`],
      ['a table', { path: outside }, `the name of a file is invalid: '${outside}'`],
    ])('although %s of the archive has the name of another one', async (_, names, message) => {
      const around = folderInTest();
      const { url } = await serveArchive(smallArchive(names));
      const { code, output } = await downloadMonth(url, join(around, 'a/b/data'));
      const written = readdirSync(around, { recursive: true, encoding: 'utf8' });
      expect(written.filter((path) => path.includes('outside'))).toEqual([]);
      expect([code, output.split('\n').slice(-2)]).toEqual([1, [`archive_month: ${url}: ${message}`, '']]);
    });

    it('and writes the tables of an archive with valid names', async () => {
      const folder = folderInTest();
      const { url } = await serveArchive(smallArchive({}));
      expect(await downloadMonth(url, folder)).toMatchObject({ code: 0 });
      expect(readdirSync(folder).sort()).toEqual(['csv-metadata.json', 'datapackage.json', 'days', 'rows.csv']);
    });
  });
});
