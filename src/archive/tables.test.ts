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
import { csvBytes, parquetBytes } from './compute/compute-files.ts';
import { dayMs, hourMs, hoursOf, startOf } from './days/calendar.ts';
import { sha256Of } from './days/records.ts';
import { dayList } from './hours/hour-lists.ts';
import { labelsForm } from './hours/labels-day.ts';
import { weatherForm } from './hours/weather-day.ts';
import { labelsLabelers, postKinds, tables, weatherTotals } from './tables/columns.ts';
import { formatDictionary, rowSchema } from './tables/dictionary.ts';
import { currentEdition } from './tables/editions.ts';
import { rebuildDay } from './upkeep.ts';

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

const applies = (gap: SimulatedGap, key: 'collection' | 'labeler', name?: string): boolean =>
  gap[key] === undefined || gap[key] === name;

/** Returns the observed hours of the weather, of one collection or of all, computed only from the simulated gaps. */
function expectedWeather(day: string, name: string) {
  return hoursOf(day).flatMap((hour) => {
    const start = Date.parse(hour);
    const own = faults.weather.filter((gap) => applies(gap, 'collection', name));
    const seconds = observedSeconds(start, start + hourMs, own);
    const count = countOf(name, start, seconds);
    return count === null ? [] : [{ time: [day, hour], counts: [String(count), String(seconds)] }];
  });
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
  it('contain a row for every hour with observed values, and no row where nothing was observed', async () => {
    const { csv, verify } = await twoDaysInTest();
    const series = ['jetstream.example', 'jetstream.legacy'];
    for (const day of [first, second]) {
      const totals = expectedWeather(day, 'total').map(({ time, counts }) => [...time, ...counts, ...series]);
      expect(csv(day, 'weather-totals').slice(1)).toEqual(totals);
      const collections = simulatedCollections
        .flatMap((name) => expectedWeather(day, name).map(({ time, counts }) => [...time, name, ...counts, series[0]]))
        .toSorted(([, a = ''], [, b = '']) => (a < b ? -1 : a > b ? 1 : 0));
      expect(csv(day, 'weather-collections').slice(1)).toEqual(collections);
      const labels = hoursOf(day).flatMap((hour) => {
        const all = simulatedLabelers.map((did) => expectedLabeler(did, hour));
        const [applications, removals] = [sum(all.map((a) => a.applications)), sum(all.map((a) => a.removals))];
        return applications === null ? [] : [[day, hour, String(applications), String(removals)]];
      });
      expect(
        csv(day, 'labels-totals')
          .slice(1)
          .map((row) => row.slice(0, 4)),
      ).toEqual(labels);
      const byDay = simulatedLabelers.map((did) => {
        const all = hoursOf(day).map((hour) => expectedLabeler(did, hour));
        const [applications, removals] = [sum(all.map((a) => a.applications)), sum(all.map((a) => a.removals))];
        const hours = all.filter(({ seconds }) => seconds > 0).length;
        return [day, did, ...[applications, removals, sum(all.map(({ seconds }) => seconds)), hours].map(String)];
      });
      expect(csv(day, 'labels-labelers').slice(1)).toEqual(byDay);
    }
    expect(csv(first, 'labels-totals')).toHaveLength(1 + 22);
    expect((await verify()).findings).toEqual([]);
  });

  it('account for every second of the day: it is observed, or a gap of the scope "all" states why not', async () => {
    const { csv } = await twoDaysInTest();
    const secondsIn = (rows: string[][], place: number) => rows.reduce((total, row) => total + Number(row[place]), 0);
    for (const day of [first, second]) {
      for (const name of ['weather', 'labels']) {
        const [head = [], ...rows] = csv(day, `${name}-totals`);
        const gaps = csv(day, `${name}-gaps`).filter(([, scope]) => scope === 'all');
        expect(secondsIn(rows, head.indexOf('observed_seconds')) + secondsIn(gaps, 4), `${day} ${name}`).toBe(86_400);
      }
    }
    expect(csv(first, 'weather-gaps').slice(1)).toEqual([
      ['2026-11-20', 'all', 'not_observed', '2026-11-20T03:10:00Z', '60', '2026-11-20T03:11:00Z'],
      ['2026-11-20', 'all', 'not_observed', '2026-11-20T06:30:00Z', '9900', '2026-11-20T09:15:00Z'],
      ['2026-11-20', 'all', 'not_observed', '2026-11-20T23:50:00Z', '600', '2026-11-21T00:00:00Z'],
      ['2026-11-20', 'like.create', 'silent', '2026-11-20T12:00:00Z', '3600', '2026-11-20T13:00:00Z'],
    ]);
    expect(csv(first, 'labels-gaps').slice(1)).toEqual([
      ['2026-11-20', 'all', 'ingest_paused', '2026-11-20T05:00:00Z', '7200', '2026-11-20T07:00:00Z'],
      ['2026-11-20', simulatedLabelers[0], 'source_unavailable', '2026-11-20T04:30:00Z', '900', '2026-11-20T04:45:00Z'],
      [
        '2026-11-20',
        simulatedLabelers[1],
        'source_unavailable',
        '2026-11-20T15:00:00Z',
        '10800',
        '2026-11-20T18:00:00Z',
      ],
    ]);
  });

  it('end their lines with LF, have no empty cell, no flag, and a UTC day next to each hour', async () => {
    const archive = await twoDaysInTest();
    for (const { name, columns } of tables) {
      const text = archive.bytes(`days/${first}/${name}.csv`).toString('utf8');
      expect(text, name).not.toMatch(/\r|,,|,\n|^,/m);
      expect(columns.map(({ kind, isNullable }) => kind === 'flag' || isNullable)).not.toContain(true);
      const [day, hour] = columns;
      expect(day?.name).toBe('day');
      expect(columns.some(({ kind }) => kind === 'hour')).toBe(hour?.kind === 'hour');
    }
  });

  it('count no event twice, and do not end with a column that is compared', () => {
    for (const { name, columns } of tables) {
      const collections = columns.find(({ name: own }) => own === 'collection')?.values ?? [];
      const isKinds = name === 'weather-post-kinds';
      expect(collections.some((one) => postKinds.includes(one as (typeof postKinds)[number]))).toBe(isKinds);
      expect([
        'events',
        'applications',
        'removals',
        'observed_seconds',
        'collection',
        'scope',
        'labeler_did',
        'reason',
      ]).not.toContain(columns.at(-1)?.name);
    }
  });

  it('have the same values as CSV and as Parquet', async () => {
    const { csv, parquet } = await twoDaysInTest();
    for (const { name } of tables) {
      const [head = [], ...rows] = csv(first, name);
      const found = await parquet(first, name);
      expect(found.map((row) => head.map((column) => textOf(row[column], column)))).toEqual(rows);
    }
  });

  it('are rebuilt byte for byte from the input files', async () => {
    const archive = await twoDaysInTest();
    const names = [
      'weather-totals.csv',
      'weather-totals.parquet',
      'labels-gaps.parquet',
      'gaps.json',
      'datapackage.json',
    ];
    const before = names.map((name) => archive.bytes(`days/${first}/${name}`));
    for (const name of names) archive.content.delete(`days/${first}/${name}`);
    const results = rebuildDay(archive.files, first, findIdentityIn);
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

describe('the weather of a day with two hosts', () => {
  const none = dayList<number | null>(null);
  const series = (host: string, published: boolean, hours: readonly number[]) => ({
    ...{ host, protocol: 'jetstream.legacy' as const, published, collections: {}, gaps: [], gap_overflow: false },
    events: none.map((_, place) => (hours.includes(place) ? 10 : null)),
    observed_seconds: none.map((_, place) => (hours.includes(place) ? 3600 : 0)),
    through: none.map((_, place) => (hours.includes(place) ? new Date(at(0, place + 1)).toISOString() : null)),
    observed_since: dayList(null),
  });

  it('has only the published host in its totals, and the hours of the other host as gaps', () => {
    const day = {
      ...weatherForm.unknown(first),
      series: [series('a.example', false, [0, 1]), series('b.example', true, [1, 2])],
    };
    const filled = currentEdition.fill({ weather: day, labels: labelsForm.unknown(first) }, at(0, 4));
    const rows = (name: string) => filled.find(({ table }) => table.name === name)?.rows.map((row) => row.slice(1));
    const own = ['b.example', 'jetstream.legacy'];
    expect(rows('weather-totals')).toEqual([
      ['2026-11-20T01:00:00Z', 10, 3600, ...own],
      ['2026-11-20T02:00:00Z', 10, 3600, ...own],
    ]);
    expect(rows('weather-other-hosts')).toEqual([
      ['2026-11-20T00:00:00Z', 'a.example', 10, 3600, 'jetstream.legacy'],
      ['2026-11-20T01:00:00Z', 'a.example', 10, 3600, 'jetstream.legacy'],
    ]);
    expect(rows('weather-gaps')).toEqual([
      ['all', 'other_host', '2026-11-20T00:00:00Z', 3600, '2026-11-20T01:00:00Z'],
      ['all', 'not_archived', '2026-11-20T03:00:00Z', 3600, '2026-11-20T04:00:00Z'],
    ]);
  });

  it('has a gap with an unknown reason for an hour without a count that no file explains', () => {
    const silent = { ...series('b.example', true, [0, 1]), events: dayList(null) };
    const filled = currentEdition.fill(
      { weather: { ...weatherForm.unknown(first), series: [silent] }, labels: labelsForm.unknown(first) },
      at(0, 2),
    );
    expect(filled.find(({ table }) => table.name === 'weather-gaps')?.rows).toEqual([
      [first, 'all', 'unknown', '2026-11-20T00:00:00Z', 7200, '2026-11-20T02:00:00Z'],
    ]);
  });
});

describe('a Parquet file', () => {
  it('has the same bytes as in earlier versions, so that closed days can be rebuilt', () => {
    const rows = [
      ['2026-11-20', '2026-11-20T00:00:00Z', 2 ** 53 - 1, 3600, 'a.example', 'jetstream.legacy'],
      ['2026-11-20', '2026-11-20T01:00:00Z', 0, 0.5, 'a.example', 'jetstream.legacy'],
    ];
    // If a newer writer changes this digest, closed days can no longer be rebuilt: keep the old writer.
    expect(sha256Of(parquetBytes(currentEdition, weatherTotals, rows))).toMatchInlineSnapshot(
      `"54fc0079cc269ed4f09ca13b04380a6baba0c25c0f7b5e9712e59b85a4ad8f8c"`,
    );
  });
});

describe('a CSV cell', () => {
  it.each(['=1+1', '+1', '-1', '@a', '\t=1'])('that begins like a spreadsheet formula is escaped: %s', (text) => {
    const bytes = csvBytes(currentEdition, labelsLabelers, [['2026-11-20', text, 1, 1, 0, 0]]);
    expect(bytes.toString('utf8').split('\n')[1]).toMatch(/^2026-11-20,"?'/);
  });
});

describe('the data dictionary', () => {
  it('has a JSON Schema that accepts the rows of every table, but rejects null', async () => {
    const { parquet, content } = await twoDaysInTest();
    expect(content.get('tables.json')).toEqual(formatDictionary(first));
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
      const isEmpty = [
        ...['weather-other-hosts', 'weather-post-kinds'],
        ...['labels-late', 'labels-late-labelers', 'labels-rates'],
      ].includes(table.name);
      expect(rows.length > 1).toBe(!isEmpty);
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
