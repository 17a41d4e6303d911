import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { type MemoryArchive, memoryArchive } from '../../harness/archive/memory-files.ts';
import { simulateArchive } from '../../harness/archive/simulated-archive.ts';
import {
  countOf,
  observedSeconds,
  type SimulatedFaults,
  type SimulatedGap,
  simulatedCollections,
  simulatedHours,
  simulatedLabelers,
} from '../../harness/archive/simulated-hours.ts';
import { at, type ManifestGap, type TabledArchive, tabledArchive } from '../../harness/archive/tabled-archive.ts';
import { findIdentityIn } from '../main/archived-identity.ts';
import { dayMs, hourMs, hoursOf, startOf } from './days/calendar.ts';
import { sha256Of } from './days/digest.ts';
import { rebuildDay } from './rebuild.ts';
import { labelsByLabeler, tables, weatherByHour } from './tables/columns.ts';
import { formatDictionary, rowSchema } from './tables/dictionary.ts';
import { csvBytes } from './tables/write-csv.ts';
import { parquetBytes } from './tables/write-parquet.ts';

/** The tables and the gap manifest of a closed day state exactly what the instruments observed. */

const [first, second] = ['2026-11-20', '2026-11-21'];

/**
 * Simulated gaps of the first two days. Some are short, some span several hours or the end of a day, and some are
 * reported late.
 */
const faults = {
  weather: [
    { start: at(0, 3, 10), end: at(0, 3, 11) },
    { start: at(0, 6, 30), end: at(0, 9, 15) },
    { start: at(0, 12), end: at(0, 13), collection: 'like.create' },
    { start: at(0, 23, 50), end: at(1, 0, 20), knownAt: at(2, 5) },
  ],
  labels: [
    { start: at(0, 5), end: at(0, 7) },
    { start: at(0, 4, 30), end: at(0, 4, 45), labeler: simulatedLabelers[0] },
    { start: at(0, 15), end: at(0, 18), labeler: simulatedLabelers[1], knownAt: at(1, 2) },
  ],
} satisfies SimulatedFaults;

const hours = (now: number) => simulatedHours(now, faults);
let twoDays: MemoryArchive = memoryArchive();

beforeAll(async () => {
  const archive = simulateArchive({ hours, findIdentityIn, memory: twoDays });
  await archive.run(24 * 4 + 1);
  twoDays = archive.copy();
});

/** Returns an archive with two closed days. */
async function twoDaysInTest(): Promise<TabledArchive> {
  const archive = await tabledArchive(0, { hours, memory: twoDays.copy() });
  await archive.tickAt(at(4, 0) + 5_000);
  return archive;
}

const cell = (value: number | null): string => String(value ?? '');
const applies = (gap: SimulatedGap, key: 'collection' | 'labeler', name?: string): boolean =>
  gap[key] === undefined || gap[key] === name;

/** Returns the rows that the weather table must have, computed only from the simulated gaps. */
function expectedWeather(day: string): string[][] {
  return hoursOf(day).flatMap((hour) =>
    ['total', ...simulatedCollections].map((name) => {
      const start = Date.parse(hour);
      const own = faults.weather.filter((gap) => applies(gap, 'collection', name));
      const seconds = observedSeconds(start, start + hourMs, own);
      const count = cell(countOf(name, start, seconds));
      return [hour, 'jetstream.example', 'jetstream.legacy', 'true', name, count, String(seconds)];
    }),
  );
}

/** Returns the observed seconds and the applications of a labeler in one hour. */
function expectedLabeler(did: string, hour: string) {
  const start = Date.parse(hour);
  const own = faults.labels.filter((gap) => applies(gap, 'labeler', did));
  const seconds = observedSeconds(start, start + hourMs, own);
  return { seconds, applications: countOf(did, start, seconds), removals: countOf('removal', start, seconds) };
}

const sum = (values: readonly (number | null)[]): number | null =>
  values.every((value) => value === null) ? null : values.reduce<number>((total, value) => total + (value ?? 0), 0);

describe('the tables of a closed day', () => {
  it('contain every hour with the observed values, and empty cells where nothing was observed', async () => {
    const { csv, verify } = await twoDaysInTest();
    for (const day of [first, second]) {
      expect(csv(day, 'weather-by-hour').slice(1)).toEqual(expectedWeather(day));
      const labels = csv(day, 'labels-by-hour').slice(1);
      for (const [place, hour] of hoursOf(day).entries()) {
        const all = simulatedLabelers.map((did) => expectedLabeler(did, hour));
        const [found, applications, removals] = labels[place] ?? [];
        expect([found, applications, removals]).toEqual([
          hour,
          cell(sum(all.map((one) => one.applications))),
          cell(sum(all.map((one) => one.removals))),
        ]);
      }
      const byDay = simulatedLabelers.map((did) => {
        const all = hoursOf(day).map((hour) => expectedLabeler(did, hour));
        const [applications, removals] = [sum(all.map((a) => a.applications)), sum(all.map((a) => a.removals))];
        return [day, did, cell(applications), cell(removals), String(sum(all.map((one) => one.seconds)))];
      });
      expect(csv(day, 'labels-by-labeler').slice(1)).toEqual(byDay);
    }
    expect(csv(first, 'labels-by-hour')[6]?.slice(1, 5)).toEqual(['', '', '', '0']);
    expect((await verify()).findings).toEqual([]);
  });

  it('have the same values as CSV and as Parquet', async () => {
    const { csv, parquet } = await twoDaysInTest();
    for (const name of ['weather-by-hour', 'labels-by-hour', 'labels-by-labeler']) {
      const [head = [], ...rows] = csv(first, name);
      const found = await parquet(first, name);
      expect(found.map((row) => head.map((column) => textOf(row[column], column)))).toEqual(rows);
    }
  });

  it('are rebuilt byte for byte from the input files', async () => {
    const archive = await twoDaysInTest();
    const names = ['weather-by-hour.csv', 'weather-by-hour.parquet', 'labels-by-labeler.parquet', 'gaps.json'];
    const before = names.map((name) => archive.bytes(`days/${first}/${name}`));
    for (const name of names) archive.content.delete(`days/${first}/${name}`);
    const results = rebuildDay(archive.files, first);
    expect(
      results
        .filter(({ result }) => result === 'restored')
        .map(({ name }) => name)
        .sort(),
    ).toEqual(names.toSorted());
    expect(names.map((name) => archive.bytes(`days/${first}/${name}`))).toEqual(before);
    expect((await archive.verify()).findings).toEqual([]);
  });
});

describe('a Parquet file', () => {
  it('has the same bytes as in earlier versions, so that closed days can be rebuilt', () => {
    const rows = [
      ['2026-11-20T00:00:00Z', 'a.example', 'jetstream.legacy', true, 'total', 2 ** 53 - 1, 3600],
      ['2026-11-20T00:00:00Z', 'a.example', 'jetstream.legacy', true, 'like.create', null, 0.5],
    ];
    // If a newer writer changes this digest, closed days can no longer be rebuilt: keep the old writer.
    expect(sha256Of(parquetBytes(weatherByHour, rows))).toMatchInlineSnapshot(
      `"eafdb65cc561845f0c73139de32c911fe92932663e52b6b7dce92851f32744c0"`,
    );
  });
});

describe('a CSV cell', () => {
  it.each(['=1+1', '+1', '-1', '@a', '\t=1'])('that begins like a spreadsheet formula is escaped: %s', (text) => {
    const bytes = csvBytes(labelsByLabeler, [['2026-11-20', text, null, null, 0]]);
    expect(bytes.toString('utf8').split('\r\n')[1]).toMatch(/^2026-11-20,"?'/);
  });
});

describe('the data dictionary', () => {
  it('has a JSON Schema that accepts the rows of every table, but rejects null in a column that is never empty', async () => {
    const { parquet, content } = await twoDaysInTest();
    expect(content.get('tables.json')).toEqual(formatDictionary());
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    for (const table of tables) {
      const validate = ajv.compile(rowSchema(table));
      const rows = await parquet(first, table.name);
      for (const row of rows) {
        const plain = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainOf(value, name)]));
        expect(validate(plain), JSON.stringify(validate.errors)).toBe(true);
        const required = table.columns.find(({ isNullable }) => !isNullable)?.name ?? '';
        expect(validate({ ...plain, [required]: null })).toBe(false);
      }
      expect(rows.length).toBeGreaterThan(1);
    }
  });
});

describe('the gap manifest', () => {
  it('covers every unobserved second of the weather and of each labeler', async () => {
    const { gaps } = await twoDaysInTest();
    for (const day of [first, second]) {
      const own = gaps(day);
      const seconds = (is: (gap: ManifestGap) => boolean): number =>
        (dayMs - 1000 * observedSeconds(startOf(day), startOf(day) + dayMs, own.filter(is).map(span))) / 1000;
      for (const name of [undefined, ...simulatedCollections]) {
        const expected = faults.weather.filter((gap) => applies(gap, 'collection', name));
        const isOwn = (gap: ManifestGap) =>
          gap.source === 'weather' && (gap.collection === undefined || gap.collection === name);
        expect(seconds(isOwn)).toBe(86_400 - observedSeconds(startOf(day), startOf(day) + dayMs, expected));
      }
      for (const did of simulatedLabelers) {
        const expected = faults.labels.filter((gap) => applies(gap, 'labeler', did));
        const isOwn = (gap: ManifestGap) =>
          gap.source === 'labels' && (gap.scope === 'instrument' || gap.labeler_did === did);
        expect(seconds(isOwn)).toBe(86_400 - observedSeconds(startOf(day), startOf(day) + dayMs, expected));
      }
    }
  });
});

function textOf(value: unknown, column: string): string {
  if (value instanceof Date)
    return column === 'day' ? value.toISOString().slice(0, 10) : `${value.toISOString().slice(0, 19)}Z`;
  return value === null || value === undefined ? '' : String(value);
}

function span({ start = '', end = '' }: ManifestGap): SimulatedGap {
  return { start: Date.parse(start), end: Date.parse(end) };
}

function plainOf(value: unknown, column: string): unknown {
  if (value instanceof Date) return textOf(value, column);
  return typeof value === 'bigint' ? Number(value) : value;
}
