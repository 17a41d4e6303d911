import { Ajv2020 } from 'ajv/dist/2020.js';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, describe, expect, it } from 'vitest';
import { type MemoryArchive, memoryArchive } from '../../harness/archive/memory-files.ts';
import { parseCsv } from '../../harness/archive/parse-csv.ts';
import { publishedFact, served } from '../../harness/archive/published-bodies.ts';
import { type SimulationOptions, simulateArchive, simulatedStart } from '../../harness/archive/simulated-archive.ts';
import {
  countOf,
  observedSeconds,
  type SimulatedFaults,
  type SimulatedGap,
  simulatedCollections,
  simulatedHours,
  simulatedLabelers,
} from '../../harness/archive/simulated-hours.ts';
import { errorBody } from '../contract/errors.ts';
import { findIdentityIn } from '../main/archived-identity.ts';
import { dayMs, hourMs, hoursOf, startOf } from './days/calendar.ts';
import { parseDay } from './days/day.ts';
import { sha256Of } from './days/digest.ts';
import type { HoursReadings } from './hours/hours-reading.ts';
import { rebuildDay } from './rebuild.ts';
import { labelsByLabeler, tables, weatherByHour } from './tables/columns.ts';
import { formatDictionary, rowSchema } from './tables/dictionary.ts';
import { csvBytes } from './tables/write-csv.ts';
import { parquetBytes } from './tables/write-parquet.ts';

const at = (day: number, hour: number, minute = 0): number =>
  simulatedStart + day * dayMs + hour * hourMs + minute * 60_000;
const [first, second] = ['2026-11-20', '2026-11-21'];

/** Faults of the first two days: short and long, crossing an hour and the end of a day, and known only later. */
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

let twoDays: MemoryArchive = memoryArchive();

beforeAll(async () => {
  const archive = simulateArchive({ hours: (now) => simulatedHours(now, faults), findIdentityIn, memory: twoDays });
  await archive.run(24 * 4 + 1);
  twoDays = archive.copy();
});

/** Returns an archive with two closed days. */
const twoDaysInTest = () => archiveInTest(0, { memory: twoDays.copy() });

async function archiveInTest(hours: number, options: SimulationOptions = {}) {
  const archive = simulateArchive({ hours: (now) => simulatedHours(now, faults), findIdentityIn, ...options });
  await archive.run(hours);
  if (hours === 0) await archive.tickAt(at(4, 0) + 5_000);
  const bytes = (path: string): Buffer => archive.content.get(path) ?? Buffer.alloc(0);
  const csv = (day: string, name: string) => parseCsv(bytes(`days/${day}/${name}.csv`).toString('utf8'));
  const parquet = (day: string, name: string) => {
    const { buffer, byteOffset, length } = bytes(`days/${day}/${name}.parquet`);
    return parquetReadObjects({ file: buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer });
  };
  const gaps = (day: string) =>
    (JSON.parse(bytes(`days/${day}/gaps.json`).toString('utf8')) as { gaps: Record<string, string>[] }).gaps;
  return { ...archive, bytes, csv, parquet, gaps };
}

const cell = (value: number | null): string => String(value ?? '');
const applies = (gap: SimulatedGap, key: 'collection' | 'labeler', name?: string): boolean =>
  gap[key] === undefined || gap[key] === name;

/** Returns the rows that the table of the weather must have, computed from the faults alone. */
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

/** Returns observed seconds and applications of a labeler in an hour. */
function expectedLabeler(did: string, hour: string) {
  const start = Date.parse(hour);
  const own = faults.labels.filter((gap) => applies(gap, 'labeler', did));
  const seconds = observedSeconds(start, start + hourMs, own);
  return { seconds, applications: countOf(did, start, seconds), removals: countOf('removal', start, seconds) };
}

const sum = (values: readonly (number | null)[]): number | null =>
  values.every((value) => value === null) ? null : values.reduce<number>((total, value) => total + (value ?? 0), 0);

describe('the tables of a closed day', () => {
  it('contain every hour with what was observed, and an empty cell where nothing was', async () => {
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

  it('have the same values in both formats', async () => {
    const { csv, parquet } = await twoDaysInTest();
    for (const name of ['weather-by-hour', 'labels-by-hour', 'labels-by-labeler']) {
      const [head = [], ...rows] = csv(first, name);
      const found = await parquet(first, name);
      expect(found.map((row) => head.map((column) => textOf(row[column], column)))).toEqual(rows);
    }
  });

  it('are rebuilt byte for byte, by another process too', async () => {
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
  it('has the bytes that earlier versions wrote, which a rebuild requires', () => {
    const rows = [
      ['2026-11-20T00:00:00Z', 'a.example', 'jetstream.legacy', true, 'total', 2 ** 53 - 1, 3600],
      ['2026-11-20T00:00:00Z', 'a.example', 'jetstream.legacy', true, 'like.create', null, 0.5],
    ];
    // If a newer writer changes this digest, days that are closed can no longer be rebuilt: keep the writer.
    expect(sha256Of(parquetBytes(weatherByHour, rows))).toMatchInlineSnapshot(
      `"eafdb65cc561845f0c73139de32c911fe92932663e52b6b7dce92851f32744c0"`,
    );
  });
});

describe('a cell of CSV', () => {
  it.each(['=1+1', '+1', '-1', '@a', '\t=1'])('that begins like a formula is not executed: %s', (text) => {
    const bytes = csvBytes(labelsByLabeler, [['2026-11-20', text, null, null, 0]]);
    expect(bytes.toString('utf8').split('\r\n')[1]).toMatch(/^2026-11-20,"?'/);
  });
});

describe('the data dictionary', () => {
  it('has a JSON Schema that accepts the rows of every table, and no null in a column that is never empty', async () => {
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
  it('names every unobserved second of the weather and of each labeler', async () => {
    const { gaps } = await twoDaysInTest();
    for (const day of [first, second]) {
      const own = gaps(day);
      const seconds = (is: (gap: Record<string, string>) => boolean): number =>
        (dayMs - 1000 * observedSeconds(startOf(day), startOf(day) + dayMs, own.filter(is).map(span))) / 1000;
      for (const name of [undefined, ...simulatedCollections]) {
        const expected = faults.weather.filter((gap) => applies(gap, 'collection', name));
        const isOwn = (gap: Record<string, string>) =>
          gap.source === 'weather' && (gap.collection === undefined || gap.collection === name);
        expect(seconds(isOwn)).toBe(86_400 - observedSeconds(startOf(day), startOf(day) + dayMs, expected));
      }
      for (const did of simulatedLabelers) {
        const expected = faults.labels.filter((gap) => applies(gap, 'labeler', did));
        const isOwn = (gap: Record<string, string>) =>
          gap.source === 'labels' && (gap.scope === 'instrument' || gap.labeler_did === did);
        expect(seconds(isOwn)).toBe(86_400 - observedSeconds(startOf(day), startOf(day) + dayMs, expected));
      }
    }
  });

  it('names the hours for which the archive has no counts, with the reason, and their cells are empty', async () => {
    let failure: 'missing' | null = null;
    const hours: SimulationOptions['hours'] = (now) =>
      failure === null
        ? simulatedHours(now)
        : { weather: { kind: 'failure', reason: failure }, labels: { kind: 'failure', reason: failure } };
    const archive = await archiveInTest(10, { hours });
    failure = 'missing';
    await archive.run(24 * 3 + 1 - 10, 10);
    const missing = archive.gaps(first).filter(({ fact }) => fact === 'labels-hours');
    expect(missing.map(({ start, end, reason }) => [start, end, reason])).toEqual([
      ['2026-11-20T08:59:00Z', '2026-11-20T09:00:00Z', 'incomplete'],
      ['2026-11-20T09:00:00Z', '2026-11-21T00:00:00Z', 'missing'],
    ]);
    expect(
      archive
        .csv(first, 'labels-by-hour')[20]
        ?.slice(1)
        .every((one) => one === ''),
    ).toBe(true);
    expect(archive.csv(first, 'weather-by-hour').at(-1)?.slice(-2)).toEqual(['', '']);
    expect((await archive.verify()).findings).toEqual([]);
  });

  it('contains no hour of labels that the operator holds, and all of them after the release', async () => {
    let isHeld = true;
    const respond = (path: string, now: number) => publishedFact(path, { now, isHeld });
    const archive = await archiveInTest(30, { respond });
    expect(archive.csv(first, 'labels-by-labeler')).toHaveLength(1);
    expect(archive.gaps(first)).toContainEqual(
      expect.objectContaining({ fact: 'labels-hours', reason: 'held', end: '2026-11-21T00:00:00Z' }),
    );
    isHeld = false;
    await archive.run(1, 30);
    expect(archive.csv(first, 'labels-by-labeler')).toHaveLength(3);
    expect(archive.gaps(first).filter(({ reason }) => reason === 'held')).toEqual([]);
  });

  it('contains no hour of labels of a file that is held, though the overview of the hour was published before', async () => {
    const archive = await archiveInTest(5, {
      hours: (now) => heldHours(now, now >= at(0, 5, 10)),
      respond: (path, now) =>
        path === '/v1/instruments' && now >= at(0, 5) && now < at(0, 5, 51)
          ? { kind: 'failure', failure: 'unreachable' }
          : publishedFact(path, { now }),
    });
    await archive.tickAt(at(0, 5) + 5_000);
    const before = archive.bytes(`days/${first}/labels-hours.json`);
    await archive.tickAt(at(0, 5, 51));
    expect(archive.bytes(`days/${first}/labels-hours.json`)).toEqual(before);
    await archive.run(70, 6);
    expect(parseDay(archive.bytes(`days/${first}/day.json`))).toMatchObject({ state: 'open', reason: 'held' });
  });

  it.each([
    ['the source is unavailable', 'held', served(errorBody('source_unavailable'), 503)],
    ['a proxy responds after a hold', 'recent', served({}, 502)],
  ])('contains no hour of labels, and no day is closed, while %s', async (_response, reason, refusal) => {
    const archive = await archiveInTest(76, {
      hours: (now) => heldHours(now, reason === 'held'),
      respond: (path, now) => {
        const isRefused = path === '/v1/labels/overview' && now >= at(2, 22);
        return isRefused ? refusal : publishedFact(path, { now, isHeld: true });
      },
    });
    expect(archive.csv(first, 'labels-by-labeler')).toHaveLength(1);
    expect(parseDay(archive.bytes(`days/${first}/day.json`))).toMatchObject({ state: 'open', reason });
    expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 0 });
  });

  it('contains no hour of a file that is dated in the future, and the hours of later files', async () => {
    const hours: SimulationOptions['hours'] = (now) => {
      const isAhead = now > at(0, 3) && now < at(0, 4);
      const { weather, labels } = simulatedHours(now);
      const generated_at = new Date(now + 10 * dayMs).toISOString();
      if (!isAhead || weather.kind !== 'readable' || labels.kind !== 'readable') return { weather, labels };
      return {
        weather: { kind: 'readable', artifact: { ...weather.artifact, generated_at } },
        labels: { kind: 'readable', artifact: { ...labels.artifact, generated_at } },
      };
    };
    const archive = await archiveInTest(4, { hours });
    expect(archive.messages).toEqual(
      ['weather-hours.json', 'labels-hours.json'].map((name) => ({
        message: 'an hours file is dated in the future and not archived: compare the clocks',
        fields: { name },
      })),
    );
    for (const name of ['weather', 'labels']) {
      expect(archive.bytes(`days/${first}/${name}-hours.json`).toString()).not.toContain('"generated_at":"2026-11-30');
    }
    await archive.run(6, 4);
    expect(archive.csv(first, 'labels-by-hour')[8]?.[4]).toBe('3600');
    expect(
      archive
        .csv(first, 'weather-by-hour')
        .filter(([hour]) => hour?.includes('T07'))
        .at(-1)
        ?.at(-1),
    ).toBe('3600');
  });

  it('contains the hours of files after the clocks of the archiver and the instruments were ahead', async () => {
    const unseen = [{ start: at(0, 3), end: at(1, 20) }];
    const archive = await archiveInTest(3, {
      hours: (now) => simulatedHours(now, now > at(1, 0) ? { weather: unseen, labels: unseen } : {}),
    });
    await archive.tickAt(at(1, 20) + 5_000);
    const seconds = () => [
      archive.csv(first, 'labels-by-hour')[6]?.[4],
      archive
        .csv(first, 'weather-by-hour')
        .findLast(([hour]) => hour?.includes('T05'))
        ?.at(-1),
    ];
    expect(seconds()).toEqual(['0', '0']);
    await archive.run(5, 3);
    expect(seconds()).toEqual(['3600', '3600']);
  });

  it('contains no hour of labels while the facts API does not respond, because the operator may hold them', async () => {
    const respond: SimulationOptions['respond'] = (path, now) =>
      now < at(0, 5) ? publishedFact(path, { now }) : { kind: 'failure', failure: 'unreachable' };
    const { csv } = await archiveInTest(10, { respond });
    expect(
      csv(first, 'labels-by-hour')
        .slice(1, 10)
        .map((row) => row[4] !== ''),
    ).toEqual([...[true, true, true, true], ...[false, false, false, false, false]]);
    expect(csv(first, 'weather-by-hour').at(-1)?.at(-1)).not.toBe('');
  });
});

describe('the record of a day', () => {
  it('has a new revision when the instruments state a late gap, and none when they state the same', async () => {
    const archive = await archiveInTest(24 + 3);
    const revision = () => parseDay(archive.bytes(`days/${first}/day.json`));
    const before = revision();
    await archive.run(22, 24 + 3);
    const same = archive.bytes(`days/${first}/day.json`);
    await archive.run(6, 24 + 25);
    const after = revision();
    expect(before?.state).toBe('open');
    expect(after?.previous).toBe(sha256Of(same));
    expect(after?.revision).toBe((parseDay(same)?.revision ?? 0) + 1);
    expect(archive.csv(first, 'weather-by-hour').at(-1)?.at(-1)).toBe('3000');
  });
});

describe('an identity in an hours file', () => {
  const planted = 'did:plc:ar7c4by46qjdydhdevvrndac';

  it('is in no byte of the archive, and stops the counts by hour alone, with an alarm', async () => {
    const hours: SimulationOptions['hours'] = (now) => {
      const read = simulatedHours(now);
      if (read.weather.kind !== 'readable') return read;
      const artifact = structuredClone(read.weather.artifact);
      for (const series of artifact.series) series.endpoint = `wss://alice.bsky.social/${planted}`;
      const first = artifact.series[0];
      if (first) first.endpoint = `wss://${planted.replaceAll(':', '%3A')}.example/`;
      return { ...read, weather: { kind: 'readable', artifact } };
    };
    const archive = await archiveInTest(24 * 3 + 1, { hours });
    for (const [path, bytes] of archive.content) {
      expect(bytes.includes('ar7c4by46qjdydhdevvrndac'), path).toBe(false);
      expect(bytes.includes('alice'), path).toBe(false);
    }
    expect(archive.csv(first, 'labels-by-labeler')).toHaveLength(3);
    expect((await archive.verify()).findings).toEqual([]);
  });

  it('that the scan finds in a computed file stops that file, and the day is closed without it', async () => {
    const stopped = 'labels-by-labeler.csv';
    const scan = (name: string): string | null => (name === stopped ? 'a DID is at /rows/0' : null);
    const archive = await archiveInTest(24 * 3 + 1, { findIdentityIn: scan });
    expect(archive.content.has(`days/${first}/${stopped}`)).toBe(false);
    expect(parseDay(archive.bytes(`days/${first}/day.json`))).toMatchObject({ state: 'closed', withheld: [stopped] });
    expect(archive.messages.map(({ message }) => message)).toContain(
      'a file of the archive contains an identity and is not written',
    );
    expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 1 });
  });
});

/** Returns the hours files of instruments whose label facts may be held. */
function heldHours(now: number, hold: boolean): HoursReadings {
  const read = simulatedHours(now);
  if (read.labels.kind !== 'readable') return read;
  return { ...read, labels: { ...read.labels, artifact: { ...read.labels.artifact, hold } } };
}

function textOf(value: unknown, column: string): string {
  if (value instanceof Date)
    return column === 'day' ? value.toISOString().slice(0, 10) : `${value.toISOString().slice(0, 19)}Z`;
  return value === null || value === undefined ? '' : String(value);
}

/** The archive saw the tenth hour up to its last minute, and the eleventh after the loss alone. */
function lastSecondsOf(hour: number): string {
  return hour === 9 ? '3540' : hour === 10 ? '1800' : '3600';
}

function span({ start = '', end = '' }: Record<string, string>): SimulatedGap {
  return { start: Date.parse(start), end: Date.parse(end) };
}

describe('an hours file of an instrument that lost its store', () => {
  it('does not erase the counts of earlier hours', async () => {
    const lostAt = at(0, 10, 30);
    const lost = [{ start: 0, end: lostAt, knownAt: lostAt }];
    const hours: SimulationOptions['hours'] = (now) => {
      const read = simulatedHours(now, { weather: lost, labels: lost });
      if (read.labels.kind !== 'readable' || now < lostAt) return read;
      const artifact = { ...read.labels.artifact, generation_id: '00000000-0000-4000-8000-000000000002' };
      return { ...read, labels: { ...read.labels, artifact } };
    };
    const { csv } = await archiveInTest(24, { hours });
    const [weather, labels] = [csv(first, 'weather-by-hour'), csv(first, 'labels-by-hour')];
    const totals = weather.filter(([, , , , collection]) => collection === 'total');
    expect(totals.slice(0, 12).map((row) => row.at(-1))).toEqual(
      Array.from({ length: 12 }, (_, hour) => lastSecondsOf(hour)),
    );
    expect(labels.slice(1, 13).map((row) => row[4])).toEqual(
      Array.from({ length: 12 }, (_, hour) => lastSecondsOf(hour)),
    );
  });
});

function plainOf(value: unknown, column: string): unknown {
  if (value instanceof Date) return textOf(value, column);
  return typeof value === 'bigint' ? Number(value) : value;
}
