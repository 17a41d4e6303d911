import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkWeatherSummary, type WeatherSummary } from '../../artifact/recognise.ts';
import { collectionNames } from '../../contract/vocabulary.ts';
import type { Log } from '../../ops/log.ts';
import { metricIndex } from '../classify/metric-names.ts';
import { createHoursReader } from '../publish/hours.ts';
import { parseEndpoints } from '../window/endpoint.ts';
import { dayUs, emptyDelta, windowUs } from '../window/window.ts';
import { openWindowStore, type WindowStore } from '../window/window-store.ts';
import { createPublication, type Publication } from './publication.ts';

const endpoints = parseEndpoints(['wss://one.example/subscribe', 'wss://two.example'], { allowLoopback: false });
const [one = '', two = ''] = endpoints.map(({ name }) => name);
const startUs = Date.parse('2026-11-20T12:00:00Z') * 1000;
const minute = (count: number): number => startUs + count * windowUs;
const quiet = (): void => undefined;
const log: Log = { debug: quiet, info: quiet, warn: quiet, error: quiet, with: () => log };
/** Number of events of each collection per minute, by host. The second host sends more. */
const counts: Readonly<Record<string, number>> = { [one]: 100, [two]: 150 };

let folder: string;
let store: WindowStore;
let publication: Publication;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-publication-'));
  store = openWindowStore(folder);
  publication = begin(0);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

function begin(atMinute: number): Publication {
  return createPublication({ store, endpoints, startedUs: minute(atMinute), log });
}

/** Stores traffic of a host for the minutes from index `from` to index `to`. */
function watch(name: string, from: number, to: number, { factor = 1, likes = true } = {}): void {
  const { id, revision } = store.series(name);
  const windows = Array.from({ length: to - from }, (_, i) => {
    const delta = emptyDelta(minute(from + i));
    for (const [place, collection] of collectionNames.entries()) {
      if (collection === 'like.create' && !likes) continue;
      const count = Math.round((counts[name] ?? 0) * factor);
      delta.counts[metricIndex[collection]] = count;
      delta.events += count;
      delta.firsts[place] = 1;
      delta.lasts[place] = windowUs;
    }
    return delta;
  });
  const live = { kind: 'time', value: minute(to), counted: 1, timeUs: minute(to) } as const;
  const observed = [{ from: minute(from), to: minute(to) }];
  store.commit({ series: id, after: revision, gains: [{ windows, observed }], live, backfill: null });
}

const read = (atMinute: number): WeatherSummary => publication.read(minute(atMinute));
const sourceAt = (atMinute: number): string => read(atMinute).source.endpoint;

test('the hours file contains a silence that a full disk does not store, as the summary does', () => {
  const refused = (): never => {
    throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  };
  const full = { ...store, keepSilences: refused };
  watch(one, -1440, 0);
  watch(one, 0, 60, { likes: false });
  read(60);
  watch(one, 60, 110, { likes: false });
  publication = createPublication({ store: full, endpoints, startedUs: minute(0), log });
  expect(read(110).collections['like.create']?.observed_seconds).toBe(86_400 - 110 * 60);
  const { silences } = publication;
  const source = { store: full, endpoints: endpoints.slice(0, 1), published: one, origin: 'live', silences } as const;
  const [series] = createHoursReader().read({ ...source, nowUs: minute(110) }).series;
  const { events = [], observed_seconds: seconds = [] } = series?.collections['like.create'] ?? {};
  expect([events.slice(-3), seconds.slice(-3)]).toEqual([
    [6000, null, null],
    [3600, 0, 0],
  ]);
  expect(series?.gaps.filter(({ collection }) => collection === 'like.create')).toEqual([
    {
      ...{ start: '2026-11-20T12:00:00.000Z', end: '2026-11-20T13:50:00.000Z' },
      ...{ reason: 'silent', collection: 'like.create' },
    },
  ]);
});

describe('a publication with two hosts', () => {
  test('publishes the first host, and publishes the second host within 16 minutes after the first was last observed', () => {
    watch(one, -120, 60);
    watch(two, -120, 60);
    expect(sourceAt(60)).toBe(one);
    expect(publication.failoverSinceUs()).toBeNull();
    for (let at = 61; at < 75; at += 1) {
      watch(two, at - 1, at);
      expect([at, sourceAt(at)]).toEqual([at, one]);
    }
    watch(two, 74, 76);
    const summary = read(76);
    expect(checkWeatherSummary(summary)).toMatchObject({ ok: true });
    expect(summary.source).toEqual({ endpoint: two, method: 'jetstream', wire: 'jetstream.subscribeEvents' });
    expect(publication.published().name).toBe(two);
    expect(publication.failoverSinceUs()).toBe(minute(76));
    // The summary contains only data of the second host: 196 minutes of its counts.
    expect(summary.collections['like.create']).toMatchObject({ total: 196 * 150, observed_seconds: 196 * 60 });
    expect(summary.total_events.total).toBe(196 * 150 * collectionNames.length);
    expect(summary.caveats?.[0]).toContain(
      'published since 2026-11-20T13:16:00.000Z because the first was not observed from 2026-11-20T13:00:00.000Z onwards',
    );
  });

  test('publishes only counts of the first host before a failover', () => {
    watch(one, -120, 60);
    watch(two, -120, 60);
    const { source, collections, total_events: all } = read(60);
    expect(source).toEqual({ endpoint: one, method: 'jetstream', wire: 'jetstream.legacy' });
    expect(Object.entries(collections).map(([name, published]) => [name, published?.total])).toEqual(
      collectionNames.map((name) => [name, 180 * 100]),
    );
    expect([all.total, all.observed_seconds]).toEqual([180 * 100 * collectionNames.length, 180 * 60]);
  });

  test('publishes the second host if the first sends no likes, which make up much of the interactions', () => {
    watch(one, -120, 60);
    watch(two, -120, 60);
    let changed = 0;
    for (let at = 61; at <= 80 && changed === 0; at += 1) {
      watch(one, at - 1, at, { likes: false });
      watch(two, at - 1, at);
      if (sourceAt(at) === two) changed = at;
    }
    expect(changed).toBeLessThanOrEqual(76);
    expect(read(changed).caveats?.[0]).toContain(
      'the first was silent in collections that make up much of the interactions from',
    );
  });

  test('keeps publishing the first host while neither host is observed', () => {
    watch(one, -120, 60);
    watch(two, -120, 50);
    for (let at = 61; at < 120; at += 1) expect(sourceAt(at)).toBe(one);
  });

  test('publishes the first host again after a whole day without trouble, even if the process was restarted in between', () => {
    watch(one, -120, 60);
    watch(two, -120, 80);
    expect(sourceAt(80)).toBe(two);
    // The first host is observed again, and a backfill has filled in its missed minutes.
    watch(one, 60, 81);
    watch(two, 80, 81);
    expect(sourceAt(81)).toBe(two);
    publication = begin(81);
    for (let hour = 1; hour <= 23; hour += 1) {
      watch(one, 21 + hour * 60, 81 + hour * 60);
      watch(two, 21 + hour * 60, 81 + hour * 60);
      expect([hour, sourceAt(81 + hour * 60)]).toEqual([hour, two]);
    }
    const back = 80 + 24 * 60;
    watch(one, 81 + 23 * 60, back);
    watch(two, 81 + 23 * 60, back);
    const summary = read(back);
    expect(summary.source.endpoint).toBe(one);
    expect(summary.caveats?.join()).not.toContain('second of two');
    expect(store.failover(store.series(two).id)).toBeNull();
  });

  test('publishes the second host only once its likes have arrived again for 15 minutes', () => {
    publication = begin(-240);
    watch(one, -240, -20);
    watch(two, -240, -120);
    watch(two, -120, -1, { likes: false });
    watch(two, -1, 0);
    expect(sourceAt(0)).toBe(one);
    watch(two, 0, 13);
    expect(sourceAt(13)).toBe(one);
    watch(two, 13, 14);
    expect(sourceAt(14)).toBe(two);
  });

  test('publishes the first host again only once its likes have arrived again for an hour, even if the second is gone', () => {
    watch(one, -120, 60);
    watch(one, 60, 80, { likes: false });
    watch(two, -120, 80);
    expect(sourceAt(80)).toBe(two);
    watch(one, 80, 1296, { likes: false });
    watch(one, 1296, 1297);
    watch(two, 80, 1280);
    expect(sourceAt(1297)).toBe(two);
    watch(one, 1297, 1355);
    expect(sourceAt(1355)).toBe(two);
    watch(one, 1355, 1356);
    expect(sourceAt(1356)).toBe(one);
  });

  test('publishes the second host in time if the clock was a day ahead when the process started', () => {
    publication = begin(1440);
    watch(one, -120, 60);
    watch(two, -120, 76);
    expect(sourceAt(1440)).toBe(one);
    expect(sourceAt(60)).toBe(one);
    expect(sourceAt(74)).toBe(one);
    expect(sourceAt(75)).toBe(two);
  });

  test('publishes the first host again after a day without trouble if the clock was years ahead during a failover', () => {
    watch(one, -120, 60);
    watch(two, -120, 80);
    expect(sourceAt(80)).toBe(two);
    publication = begin(11 * 365 * 1440);
    expect(sourceAt(11 * 365 * 1440)).toBe(two);
    const back = 81 + 1440;
    watch(one, 60, back);
    watch(two, 80, back);
    expect(sourceAt(81)).toBe(two);
    expect(store.failover(store.series(two).id)?.unwellUs).toBe(minute(81));
    expect(sourceAt(back - 1)).toBe(two);
    expect(sourceAt(back)).toBe(one);
  });

  test('adds a caveat to the published summary for an hour in which the ratio of the events of the two hosts is unusual', () => {
    watch(one, -48 * 60, 0);
    watch(two, -48 * 60, 0);
    watch(one, 0, 60, { factor: 0.9 });
    watch(two, 0, 60);
    expect(read(60).caveats?.join()).not.toContain('was unusual');
    watch(one, 60, 120, { factor: 0.8 });
    watch(two, 60, 120);
    expect(read(120).caveats?.[0]).toContain(
      'In the hour from 2026-11-20T13:00:00.000Z, the ratio of their events was unusual: this host sent 0.53 times as many events as the other; the usual ratio is 0.67.',
    );
  });
});

test("a publication with one host returns that host's summary", () => {
  const alone = createPublication({ store, endpoints: endpoints.slice(0, 1), startedUs: startUs, log });
  watch(one, 0, 60);
  watch(two, 0, 600);
  expect(alone.read(minute(600)).source.endpoint).toBe(one);
  expect(alone.read(minute(60) + dayUs).source.endpoint).toBe(one);
});

test('a legacy series is listed while it is published, and afterwards if it was observed in the span', () => {
  const legacy = 'wss://two.example/subscribe';
  watch(legacy, -120, 0);
  const alone = createPublication({ store, endpoints: endpoints.slice(1), startedUs: startUs, log });
  const stateAt = (hour: number) => {
    const nowUs = minute(hour * 60);
    const published = alone.read(nowUs).source.endpoint;
    const listed = alone.series({ from: nowUs - 3 * dayUs, to: nowUs }).map(({ name }) => name);
    return [published, listed];
  };
  expect([stateAt(0), stateAt(80)]).toEqual([
    [legacy, [two, legacy]],
    [legacy, [two, legacy]],
  ]);
  watch(two, -120, 0);
  watch(two, 80 * 60, 82 * 60);
  expect(stateAt(82)).toEqual([two, [two]]);
  watch(legacy, 82 * 60, 83 * 60);
  expect(stateAt(84)).toEqual([two, [two, legacy]]);
});

test.each([
  [['wss://one.example', 'wss://two.example', 'wss://three.example'], 'at most two hosts can be observed'],
  [['wss://one.example', 'wss://one.example/subscribe'], 'the two hosts must be different'],
  [['wss://one.example', 'ws://127.0.0.1:1'], 'a simulated host and a live one cannot be observed together'],
  [[], 'requires the address of a host'],
])('a list of hosts such as %j is rejected', (texts, why) => {
  expect(() => parseEndpoints(texts, { allowLoopback: true })).toThrow(why);
});
