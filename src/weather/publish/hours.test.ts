import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recogniseWeatherHours, type WeatherHours } from '../../artifact/hours/weather-hours.ts';
import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import { metricIndex } from '../classify/metric-names.ts';
import { dayUs, emptyDelta, type Interval, type WindowDelta, windowFlag, windowUs } from '../window/window.ts';
import { keptDays, openWindowStore, storeFile, type WindowStore } from '../window/window-store.ts';
import { createHoursReader } from './hours.ts';

/**
 * The hours file states the counts and the observed time of each hour. A count that was not observed is null, never
 * 0.
 */

const endpoint = { name: 'wss://host.example/subscribe', wire: 'jetstream.legacy' } as const;
const hourUs = 60 * windowUs;
const startUs = Date.parse('2026-11-10T00:00:00Z') * 1000;

let folder: string;
let store: WindowStore;
let reader: ReturnType<typeof createHoursReader>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-hours-'));
  store = openWindowStore(folder);
  reader = createHoursReader();
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns a minute with `likes` likes and one event that belongs to no published collection. */
function deltaAt(start: number, likes = 10): WindowDelta {
  const delta = emptyDelta(start);
  delta.counts[metricIndex['like.create']] = likes;
  delta.events = likes + 1;
  return delta;
}

/** Stores traffic in every minute of a span. Only the spans in `observed` count as observed. */
function keep(
  from: number,
  to: number,
  observed: readonly Interval[] = [{ from, to }],
  name: string = endpoint.name,
): void {
  const { id, revision } = store.series(name);
  const starts = Array.from({ length: (to - from) / windowUs }, (_, i) => from + i * windowUs);
  const watched = (at: number) => observed.some((span) => span.from < at + windowUs && span.to > at);
  const windows = starts.filter(watched).map((at) => deltaAt(at));
  const live = { kind: 'time', value: to, counted: 1, timeUs: to } as const;
  store.commit({ series: id, after: revision, gains: [{ windows, observed }], live, backfill: null });
}

function read(nowUs: number): WeatherHours {
  const hours = reader.read({ store, endpoints: [endpoint], published: endpoint.name, origin: 'live', nowUs });
  expect(recogniseWeatherHours(JSON.parse(JSON.stringify(hours)))).toMatchObject({ kind: 'recognised' });
  return hours;
}

function only(hours: WeatherHours) {
  const series = hours.series[0];
  if (!series) throw new Error('there is no series');
  return series;
}

function likesOf(hours: WeatherHours, name: CollectionName = 'like.create') {
  const { events = [], observed_seconds: seconds = [] } = only(hours).collections[name] ?? {};
  return events.map((count, at) => [count, seconds[at]]);
}

test('the hours file states the start of observation, even if that time precedes the hours in the file', () => {
  const nowUs = startUs + 100 * hourUs;
  expect(only(read(nowUs)).observed_since).toBeNull();
  keep(startUs + 90 * hourUs, startUs + 91 * hourUs);
  expect(only(read(nowUs)).observed_since).toBe('2026-11-13T18:00:00.000Z');
  keep(startUs, startUs + hourUs);
  expect(only(read(nowUs)).observed_since).toBe('2026-11-10T00:00:00.000Z');
});

test('the start of observation is the end of the gap before it, even if it is not a whole millisecond', () => {
  const from = startUs + 20 * hourUs;
  keep(from, from + hourUs, [{ from: from + 18_500_123, to: from + hourUs }]);
  const { observed_since: since, gaps } = only(read(from + hourUs + 1));
  expect([since, gaps.find(({ reason }) => reason === 'not_observed')?.end]).toEqual([
    '2026-11-10T20:00:18.501Z',
    '2026-11-10T20:00:18.501Z',
  ]);
});

test('the hours file sums fully observed hours, and the closed minutes of the current hour', () => {
  const nowUs = startUs + 3 * hourUs + 10 * windowUs + 30_000_000;
  keep(startUs, startUs + 3 * hourUs + 10 * windowUs);
  const series = only(read(nowUs));
  expect(series).toMatchObject({ published: true, through: '2026-11-10T03:10:00.000Z', gap_overflow: false });
  expect(series.hours).toHaveLength(72);
  expect(series.hours.slice(-4)).toEqual([
    { start: '2026-11-10T00:00:00.000Z', complete: true, observed_seconds: 3600, events: 660, usual: null },
    { start: '2026-11-10T01:00:00.000Z', complete: true, observed_seconds: 3600, events: 660, usual: null },
    { start: '2026-11-10T02:00:00.000Z', complete: true, observed_seconds: 3600, events: 660, usual: null },
    { start: '2026-11-10T03:00:00.000Z', complete: false, observed_seconds: 600, events: 110, usual: null },
  ]);
  expect(likesOf(read(nowUs)).slice(-5)).toEqual([
    [null, 0],
    [600, 3600],
    [600, 3600],
    [600, 3600],
    [100, 600],
  ]);
});

test('the usual rate of an hour is that of earlier, entirely observed hours at the same time of day, and needs seven of them', () => {
  // Ten days; on the third, the hour was interrupted. The rate of day N is N likes and one other event per minute.
  for (let day = 0; day < 10; day += 1) {
    const from = startUs + day * dayUs;
    const { id, revision } = store.series(endpoint.name);
    const starts = Array.from({ length: 60 }, (_, i) => from + i * windowUs);
    const observed = [{ from, to: day === 2 ? from + hourUs - 1 : from + hourUs }];
    const live = { kind: 'time', value: from + hourUs, counted: 1, timeUs: from + hourUs } as const;
    const windows = starts.map((at) => deltaAt(at, day * 60 - 1));
    store.commit({ series: id, after: revision, gains: [{ windows, observed }], live, backfill: null });
  }
  const hours = only(read(startUs + 9 * dayUs + hourUs + 1)).hours;
  const usualAt = (day: number) => hours.find(({ start }) => Date.parse(start) * 1000 === startUs + day * dayUs)?.usual;
  // Events per second on day N: N. Day 7 has six earlier whole hours, day 8 has 0, 1, 3 to 7.
  expect(usualAt(7)).toBeNull();
  expect(usualAt(8)).toEqual({ low: expect.closeTo(0.6, 5), high: expect.closeTo(6.4, 5), days: 7 });
  expect(usualAt(9)).toMatchObject({ low: expect.closeTo(0.7, 5), days: 8 });
  expect(hours.at(-2)?.usual).toBeNull();
});

/** Stores the first hour of a day. One of its minutes has the flags. */
function keepHour(day: number, likes: number, flags = 0): void {
  const from = startUs + day * dayUs;
  const { id, revision } = store.series(endpoint.name);
  const windows = Array.from({ length: 60 }, (_, i) => {
    return Object.assign(deltaAt(from + i * windowUs, likes), { flags: i === 30 ? flags : 0 });
  });
  const live = { kind: 'time', value: from + hourUs, counted: 1, timeUs: from + hourUs } as const;
  const gains = [{ windows, observed: [{ from, to: from + hourUs }] }];
  store.commit({ series: id, after: revision, gains, live, backfill: null });
}

/** Returns the events and usual rates of the first hours of the days that end with `day`. */
function firstHours(day: number) {
  const { hours } = only(read(startUs + day * dayUs + hourUs + windowUs));
  return hours.filter(({ start }) => start.includes('T00:')).map(({ events, usual }) => [events, usual]);
}

test('an hour in which collections with more than 5 % of all events were silent is in no usual rate and has none', () => {
  const { id } = store.series(endpoint.name);
  for (let day = 0; day <= 9; day += 1) {
    const isSilent = day === 2 || day === 8;
    keepHour(day, isSilent ? 0 : 99);
    const from = startUs + day * dayUs + 10 * windowUs;
    const silences = [
      // A collection without a share of the events makes no difference.
      { collection: 'block.create', from, to: from + windowUs } as const,
      ...(isSilent ? [{ collection: 'like.create', from, to: from + windowUs } as const] : []),
    ];
    store.keepSilences(id, { from, to: from + windowUs }, silences);
  }
  const usual = { low: expect.closeTo(100 / 60, 5), high: expect.closeTo(100 / 60, 5), days: 7 };
  expect(firstHours(9)).toEqual([
    [6000, null],
    [60, null],
    [6000, usual],
  ]);
});

test('an hour with a minute of compacted history is in no usual rate and has none', () => {
  for (let day = 0; day <= 9; day += 1) {
    const isCompacted = day === 2 || day === 8;
    keepHour(day, isCompacted ? 49 : 99, isCompacted ? windowFlag.compacted | windowFlag.replayed : 0);
  }
  const usual = { low: expect.closeTo(100 / 60, 5), high: expect.closeTo(100 / 60, 5), days: 7 };
  expect(firstHours(9)).toEqual([
    [6000, null],
    [3000, null],
    [6000, usual],
  ]);
});

test('an hour has no usual rate from the read on that finds its silence, or adds compacted history to it', () => {
  for (let day = 0; day <= 8; day += 1) if (day !== 7) keepHour(day, 99);
  const usual = { low: expect.closeTo(100 / 60, 5), high: expect.closeTo(100 / 60, 5), days: 7 };
  expect(firstHours(8)).toEqual([
    [6000, null],
    [null, usual],
    [6000, usual],
  ]);
  const from = startUs + 8 * dayUs;
  const silence = { collection: 'like.create', from, to: from + windowUs } as const;
  store.keepSilences(store.series(endpoint.name).id, silence, [silence]);
  keepHour(7, 49, windowFlag.compacted);
  expect(firstHours(8)).toEqual([
    [6000, null],
    [3000, null],
    [6000, null],
  ]);
});

test('the usual rate of an hour contains no hour whose windows are no longer stored', () => {
  const at = (day: number): number => startUs + day * dayUs;
  const days = Array.from({ length: 49 }, (_, day) => day);
  const windows = days.flatMap((day) => Array.from({ length: 60 }, (_, i) => deltaAt(at(day) + i * windowUs)));
  const end = at(48) + hourUs;
  const { id, revision } = store.series(endpoint.name);
  const live = { kind: 'time', value: end, counted: 1, timeUs: end } as const;
  const gains = [{ windows, observed: [{ from: startUs, to: end }] }];
  store.commit({ series: id, after: revision, gains, live, backfill: null });
  store.prune(id, end - keptDays * dayUs + 1);
  const { hours, observed_since: since } = only(read(end + 1));
  const usual = hours.filter(({ start }) => start.includes('T00:')).map((hour) => hour.usual);
  const rate = expect.closeTo(11 / 60, 5);
  expect(usual).toEqual([42, 43, 44].map((count) => ({ low: rate, high: rate, days: count })));
  expect(since).toBe('2026-11-13T01:01:00.000Z');
});

test('an hour is complete only once its last minute is closed', () => {
  keep(startUs, startUs + hourUs - windowUs);
  const atEnd = (nowUs: number) => only(read(nowUs)).hours.at(-1);
  expect(atEnd(startUs + hourUs + 59_000_000)).toMatchObject({ complete: false, observed_seconds: 3540 });
  expect(atEnd(startUs + hourUs + 60_000_000)).toMatchObject({ complete: true, observed_seconds: 3540 });
});

test('the hours file lists an unobserved hour as null with a gap, and an interrupted hour with its observed seconds', () => {
  const breaks = [
    { from: startUs, to: startUs + hourUs - 1_500_000 },
    { from: startUs + 2 * hourUs, to: startUs + 3 * hourUs },
  ];
  keep(startUs, startUs + 3 * hourUs, breaks);
  const series = only(read(startUs + 3 * hourUs + 1));
  expect(series.hours.slice(-3)).toMatchObject([
    { observed_seconds: 3598.5, events: 660 },
    { observed_seconds: 0, events: null },
    { observed_seconds: 3600, events: 660 },
  ]);
  expect(likesOf(read(startUs + 3 * hourUs + 1)).at(-2)).toEqual([null, 0]);
  expect(series.gaps.filter(({ reason }) => reason === 'not_observed')).toEqual([
    { start: '2026-11-07T03:00:00.000Z', end: '2026-11-10T00:00:00.000Z', reason: 'not_observed', collection: null },
    { start: '2026-11-10T00:59:58.500Z', end: '2026-11-10T02:00:00.000Z', reason: 'not_observed', collection: null },
  ]);
});

test('a collection that the host never sent is null, and has a gap of its own', () => {
  keep(startUs, startUs + hourUs);
  const hours = read(startUs + hourUs + 1);
  expect(likesOf(hours, 'block.create').at(-1)).toEqual([null, 0]);
  expect(only(hours).gaps).toContainEqual({
    ...{ start: '2026-11-07T01:00:00.000Z', end: '2026-11-10T01:00:00.000Z' },
    ...{ reason: 'never_seen', collection: 'block.create' },
  });
});

test('a collection that was seen only before the 72 hours of the file has counts of 0', () => {
  const { id, revision } = store.series(endpoint.name);
  const block = emptyDelta(startUs - 4 * dayUs);
  block.counts[metricIndex['block.create']] = 1;
  const gains = [{ windows: [block], observed: [] }];
  store.commit({ series: id, after: revision, gains, live: null, backfill: null });
  keep(startUs, startUs + hourUs);
  expect(likesOf(read(startUs + hourUs + 1), 'block.create').at(-1)).toEqual([0, 3600]);
});

test('the silence of a collection does not count as its observed time', () => {
  keep(startUs, startUs + 2 * hourUs);
  const { id } = store.series(endpoint.name);
  const silence = { collection: 'like.create', from: startUs + 1_234, to: startUs + hourUs } as const;
  store.keepSilences(id, silence, [silence]);
  const hours = read(startUs + 2 * hourUs + 1);
  expect(likesOf(hours).slice(-2)).toEqual([
    [600, 0.001234],
    [600, 3600],
  ]);
  const gap = { start: '2026-11-10T00:00:00.001Z', end: '2026-11-10T01:00:00.000Z', reason: 'silent' };
  expect(only(hours).gaps).toContainEqual({ ...gap, collection: 'like.create' });
  expect(only(hours).hours.at(-2)).toMatchObject({ observed_seconds: 3600 });
});

test('a collection is not observed before the window in which its counting began', () => {
  keep(startUs, startUs + hourUs);
  const { id } = store.series(endpoint.name);
  store.close();
  const db = new Sqlite(join(folder, storeFile));
  const place = collectionNames.indexOf('like.create');
  db.prepare('INSERT INTO counted_since VALUES (?, ?, ?)').run(id, place, startUs + 30 * windowUs);
  db.close();
  store = openWindowStore(folder);
  const hours = read(startUs + hourUs + 1);
  expect(likesOf(hours).at(-1)).toEqual([300, 1800]);
  const gap = { start: '2026-11-07T01:00:00.000Z', end: '2026-11-10T00:30:00.000Z', reason: 'not_counted' };
  expect(only(hours).gaps).toContainEqual({ ...gap, collection: 'like.create' });
});

test('windows that a backfill adds to a complete hour appear in the next hours file', () => {
  keep(startUs + hourUs, startUs + 2 * hourUs);
  const nowUs = startUs + 2 * hourUs + 1;
  expect(only(read(nowUs)).hours.at(-2)).toMatchObject({ complete: true, events: null, observed_seconds: 0 });
  keep(startUs, startUs + hourUs);
  expect(only(read(nowUs)).hours.at(-2)).toMatchObject({ complete: true, events: 660, observed_seconds: 3600 });
});

test('two series of one host are listed separately and never added up', () => {
  const present = { name: 'wss://host.example/xrpc/m', wire: 'jetstream.subscribeEvents' } as const;
  keep(startUs, startUs + hourUs);
  keep(startUs, startUs + hourUs, undefined, present.name);
  const nowUs = startUs + hourUs + 1;
  const endpoints = [present, endpoint];
  const { series } = reader.read({ store, endpoints, published: endpoint.name, origin: 'live', nowUs });
  expect(series.map(({ wire, published, hours }) => [wire, published, hours.at(-1)?.events])).toEqual([
    ['jetstream.subscribeEvents', false, 660],
    ['jetstream.legacy', true, 660],
  ]);
});

test('the hours file merges many gaps, reports the merge, and keeps the observed seconds exact', () => {
  const spans = Array.from({ length: 72 * 60 }, (_, i) => {
    const from = startUs + i * windowUs;
    return { from, to: from + 30_000_000 };
  });
  keep(startUs, startUs + 72 * hourUs, spans);
  const series = only(read(startUs + 72 * hourUs + 1));
  expect(series.gap_overflow).toBe(true);
  expect(series.gaps.length).toBeLessThanOrEqual(1000);
  expect(series.hours.every(({ observed_seconds: seconds }) => seconds === 1800)).toBe(true);
});
