import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deltaAt, firstAt, lastAt, type Stops, storeMinutes } from '../../../harness/weather/stored-traffic.ts';
import type { WeatherHours } from '../../artifact/hours/weather-hours.ts';
import { checkWeatherSummary, type WeatherSummary } from '../../artifact/recognise.ts';
import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import { type LogFields, silentLog } from '../../ops/log.ts';
import { metricIndex } from '../classify/metric-names.ts';
import { noTelemetry } from '../stream/telemetry.ts';
import { dayUs, emptyDelta, windowUs } from '../window/window.ts';
import { openWindowStore, type WindowStore } from '../window/window-store.ts';
import { createHoursReader } from './hours.ts';
import { createPublisher, createSeriesReader } from './read-summary.ts';

const endpoint = { name: 'wss://host.example/subscribe', wire: 'jetstream.legacy' } as const;
const startUs = Date.parse('2026-11-10T00:00:00Z') * 1000;
const endUs = startUs + 9 * dayUs;
let folder: string;
let store: WindowStore;
let reader: ReturnType<typeof createSeriesReader>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-reading-'));
  store = openWindowStore(folder);
  reader = createSeriesReader();
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Stores the traffic of a span as a commit of the instrument would. */
function keep(from: number, to: number, stops: Stops = {}, level = 1): void {
  storeMinutes(store, endpoint.name, { from, to }, (start) => deltaAt(start, stops, level));
}

const read = (nowUs: number) => reader.read({ store, endpoint, origin: 'live', nowUs });

describe('a summary of a day with a silent collection', () => {
  test('states a shorter observed time for the silent collection, and the whole time for other collections', () => {
    const stop = { from: endUs - 6 * 3_600_000_000 + 12_345_678, to: endUs - 3_600_000_000 + 7_654_321 };
    keep(startUs, endUs, { 'follow.create': stop });
    const { summary, silences } = read(endUs + windowUs);
    expect(silences).toEqual([{ collection: 'follow.create', ...stop }]);
    const seconds = 86_400 - (stop.to - stop.from) / 1e6;
    expect(summary.collections['follow.create']).toMatchObject({
      observed_seconds: seconds,
      observed_windows: 1440 - 299,
      unobserved_windows: 299,
    });
    const { total = 0, mean_rate_per_s: rate } = summary.collections['follow.create'] ?? {};
    expect(rate).toBeCloseTo(total / seconds, 5);
    expect(summary.collections['follow.delete']).toMatchObject({ observed_seconds: 86_400, unobserved_windows: 0 });
    expect(summary.window).toMatchObject({ observed_seconds: 86_400, observed_windows: 1440 });
    expect(summary.total_events.observed_seconds).toBe(86_400);
    expect(summary.caveats?.[0]).toContain(
      'The host sent no follow.create events from 2026-11-18T18:00:12.345Z to 2026-11-18T23:00:07.654Z',
    );
    expect(summary.conditions.state).not.toBe('unavailable');
  });

  test('publishes a collection that was silent throughout as not observed, never as zero', () => {
    const from = endUs - 30 * 3_600_000_000;
    keep(startUs, from + dayUs / 2, { 'identity.event': { from, to: endUs } });
    read(from + dayUs / 2 + windowUs);
    keep(from + dayUs / 2, endUs, { 'identity.event': { from, to: endUs } });
    const { summary } = read(endUs + windowUs);
    expect(checkWeatherSummary(summary)).toMatchObject({ ok: true });
    expect(summary.collections['identity.event']).toBeNull();
    expect(summary.caveats?.[0]).toContain('no identity.event events since 2026-11-17T17:59:59.800Z');
  });

  describe('with a single event between two silences', () => {
    const from = endUs - 30 * 3_600_000_000;
    const loneUs = endUs - 6 * 3_600_000_000;

    /** Stores nine days, in the last 30 hours of which the collection has one event, or none. */
    function silentBut(collection: CollectionName, events: 0 | 1) {
      const stop = { [collection]: { from, to: endUs } };
      keep(startUs, from);
      keep(from, loneUs, stop);
      read(loneUs + windowUs);
      const { id, revision } = store.series(endpoint.name);
      const delta = deltaAt(loneUs, stop, 1);
      const place = collectionNames.indexOf(collection);
      delta.counts[metricIndex[collection]] = events;
      delta.firsts[place] = events * 33_500_001;
      delta.lasts[place] = events * 33_500_001;
      const live = { kind: 'time', value: loneUs, counted: 1, timeUs: loneUs } as const;
      const observed = [{ from: loneUs, to: loneUs + windowUs }];
      store.commit({ series: id, after: revision, gains: [{ windows: [delta], observed }], live, backfill: null });
      keep(loneUs + windowUs, endUs, stop);
      return read(endUs + windowUs);
    }

    test('states its count and no rate, because one event does not determine a rate', () => {
      const { summary } = silentBut('like.create', 1);
      expect(checkWeatherSummary(summary)).toMatchObject({ ok: true });
      expect(summary.collections['like.create']).toEqual({
        ...{ total: 1, mean_rate_per_s: null, observed_seconds: 0.000001 },
        ...{ observed_windows: 1, unobserved_windows: 1439 },
      });
      expect(summary.conditions.state).toBe('unavailable');
    });

    test.each([0, 1] as const)('has conditions if the collection is usually a small part, with %i events', (events) => {
      const { summary, silentSinceUs, silentUntilUs } = silentBut('post.create.quote', events);
      expect(['calm', 'active']).toContain(summary.conditions.state);
      expect([silentSinceUs, silentUntilUs]).toEqual([null, null]);
    });
  });

  test('states that a collection is silent for as long as it is, even if the series has no baseline yet', () => {
    const from = startUs + 2 * dayUs;
    const hours = [1, 13, 23, 23.5, 24, 25];
    keep(startUs, from);
    let to = from;
    const published = hours.map((hour) => {
      const end = from + hour * 3_600_000_000;
      keep(to, end, { 'like.create': { from, to: from + 2 * dayUs } });
      to = end;
      const { summary, silentSinceUs } = read(end + windowUs);
      return [hour, summary.collections['like.create']?.observed_seconds ?? null, silentSinceUs];
    });
    const stopped = from - windowUs + lastAt + 1;
    expect(published).toEqual(hours.map((hour) => [hour, hour < 24 ? 86_400 - hour * 3600 - 0.199999 : null, stopped]));
    expect(read(to + windowUs).summary.caveats?.[0]).toContain('no like.create events since 2026-11-11T23:59:59.800Z');
  });

  describe('after the instrument was stopped for more than a day', () => {
    const [stoppedUs, hour] = [startUs + 2 * dayUs, 3_600_000_000];
    const withoutLikes = { 'like.create': { from: stoppedUs, to: endUs } };
    const silentFrom = stoppedUs - windowUs + lastAt + 1;

    /** Stores two days, then six hours without likes that are read every hour. Returns the end of the reading. */
    function stopAfterSilence(): number {
      keep(startUs, stoppedUs);
      for (let at = stoppedUs; at < stoppedUs + 6 * hour; at += hour) {
        keep(at, at + hour, withoutLikes);
        read(at + hour + windowUs);
      }
      return stoppedUs + 6 * hour;
    }

    test('continues a stored silence up to the next event', () => {
      const resumedUs = stopAfterSilence() + 25 * hour;
      keep(resumedUs, resumedUs + hour, withoutLikes);
      const { summary, silentSinceUs } = read(resumedUs + hour + windowUs);
      expect(summary.collections['like.create']).toBeNull();
      expect(summary.collections['repost.create']?.observed_seconds).toBe(3600);
      expect(summary.caveats?.[0]).toContain('no like.create events since 2026-11-11T23:59:59.800Z');
      expect(silentSinceUs).toBe(silentFrom);
      keep(resumedUs + hour, resumedUs + 2 * hour);
      read(resumedUs + 2 * hour + windowUs);
      const to = resumedUs + hour + firstAt;
      const { id } = store.series(endpoint.name);
      expect(store.silences(id, { from: 0, to: endUs })).toEqual([{ collection: 'like.create', from: silentFrom, to }]);
    });

    test('does not continue a stored silence after which a stored window has an event', () => {
      const endedUs = stopAfterSilence() + hour;
      keep(endedUs, endedUs + windowUs);
      const resumedUs = endedUs + 25 * hour;
      keep(resumedUs, resumedUs + 2 * windowUs, withoutLikes);
      const { summary, silences } = read(resumedUs + 3 * windowUs);
      expect(silences).toEqual([]);
      expect(summary.collections['like.create']).toMatchObject({ total: 0, observed_seconds: 120 });
    });

    test('does not continue a stored silence whose end a replay is still reading', () => {
      const resumedUs = stopAfterSilence();
      const nowUs = resumedUs + 30 * hour;
      read(nowUs);
      for (let at = resumedUs; at < nowUs; at += hour) {
        keep(at, at + hour);
        read(nowUs);
      }
      const { id } = store.series(endpoint.name);
      const stored = { collection: 'like.create', from: silentFrom, to: resumedUs };
      expect(store.silences(id, { from: 0, to: endUs })).toEqual([stored]);
      expect(read(nowUs).summary.collections['like.create']?.observed_seconds).toBe(86_400);
    });

    test('continues a stored silence only after the backfill of the time before the span', () => {
      const resumedUs = stopAfterSilence() + 30 * hour;
      keep(resumedUs, resumedUs + 2 * windowUs, withoutLikes);
      const liveUs = resumedUs + 2 * windowUs;
      const backfillTo = (timeUs: number | null): void => {
        const { id, revision, live } = store.series(endpoint.name);
        const end = { seq: null, timeUs: resumedUs };
        const position = { kind: 'time', value: timeUs ?? 0, counted: 1, timeUs: timeUs ?? 0 } as const;
        const backfill = timeUs === null ? null : { position, end, bytes: 0 };
        store.commit({ series: id, after: revision, gains: [], live, backfill });
      };
      const silentAfter = (timeUs: number | null) => {
        backfillTo(timeUs);
        return read(liveUs + windowUs).silences;
      };
      const continued = [{ collection: 'like.create', from: silentFrom, to: liveUs }];
      expect(silentAfter(liveUs - dayUs - 1)).toEqual([]);
      expect(silentAfter(liveUs - dayUs)).toEqual(continued);
      expect(silentAfter(null)).toEqual(continued);
    });
  });

  test('corrects the published counts once the silence is proven', () => {
    const stop = { from: endUs - 2 * windowUs + 1_000_000, to: endUs + dayUs };
    keep(startUs, endUs, { 'block.create': stop });
    expect(read(endUs + windowUs).summary.collections['block.create']?.observed_seconds).toBe(86_400);
    keep(endUs, endUs + 2 * windowUs, { 'block.create': stop });
    const later = read(endUs + 3 * windowUs).summary;
    expect(later.collections['block.create']?.observed_seconds).toBe(86_400 - 2 * 120 + 1);
  });

  test('removes the silence once a backfill has added the missing events', () => {
    const stop = { from: endUs - 60 * windowUs, to: endUs };
    keep(startUs, endUs, { 'block.create': stop });
    const { id, revision, live } = store.series(endpoint.name);
    expect(read(endUs + windowUs).silences).toHaveLength(1);
    expect(store.silences(id, { from: 0, to: endUs })).toHaveLength(1);
    const windows = Array.from({ length: 60 }, (_, i) => {
      const delta = emptyDelta(stop.from + i * windowUs);
      delta.counts[metricIndex['block.create']] = 60;
      return delta;
    });
    store.commit({ series: id, after: revision, gains: [{ windows, observed: [] }], live, backfill: null });
    expect(read(endUs + windowUs).silences).toEqual([]);
    expect(store.silences(id, { from: 0, to: endUs })).toEqual([]);
  });
});

describe('the conditions of a day with a silent collection', () => {
  test('are available if the silent collection makes up at most 5 % of the interactions', () => {
    const from = endUs - 20 * windowUs;
    keep(startUs, from);
    keep(from, endUs, { 'post.create.quote': { from, to: endUs } });
    const { summary, silences, silentSinceUs } = read(endUs + windowUs);
    expect(silences.map(({ collection }) => collection)).toEqual(['post.create.quote']);
    expect(['calm', 'active']).toContain(summary.conditions.state);
    expect(silentSinceUs).toBeNull();
  });

  test.each(['like.create', 'repost.create'] as const)('are unavailable from the first minute without %s', (name) => {
    const from = endUs - 20 * windowUs;
    keep(startUs, from);
    for (let minutes = 1; minutes <= 12; minutes += 1) {
      const to = from + minutes * windowUs;
      keep(to - windowUs, to, { [name]: { from, to: endUs } });
      const { summary, silentSinceUs } = read(to + windowUs);
      expect([minutes, summary.conditions.state]).toEqual([minutes, 'unavailable']);
      expect([minutes, silentSinceUs]).toEqual([minutes, minutes < 3 ? null : from - 200_000 + 1]);
    }
  });

  test('are compared with a baseline that excludes the silences of earlier days', () => {
    const hour = endUs - 3_600_000_000;
    const days = Array.from({ length: 4 }, (_, day) => hour - (day + 1) * dayUs);
    for (let day = startUs; day < endUs; day += dayUs) {
      const stopped = days.find((from) => from >= day && from < day + dayUs);
      keep(
        day,
        day + dayUs,
        stopped === undefined ? {} : { 'like.create': { from: stopped, to: stopped + 1_800_000_000 } },
      );
      read(day + dayUs + windowUs);
    }
    const { id } = store.series(endpoint.name);
    expect(store.silences(id, { from: startUs, to: endUs })).toHaveLength(4);
    const low = endUs + dayUs - 10 * windowUs;
    keep(endUs, low);
    keep(low, endUs + dayUs, {}, 0.7);
    // If the silent minutes counted, the 5th percentile would be far below seven tenths of the usual level.
    expect(read(low + 6 * windowUs).summary.conditions).toMatchObject({ state: 'lull', confidence: 'thin' });
  });

  test.each([
    [['post.create.reply'], undefined],
    [['post.create.reply', 'post.create.quote'], { observed_days: 6, required_days: 7 }],
  ] as const)(
    'are compared with earlier days unless all silent collections together exceed 5 %%: %j',
    (names, baseline) => {
      for (let day = startUs; day < endUs; day += dayUs) {
        const stop = { from: day + dayUs - 3_600_000_000, to: day + dayUs };
        const isStopped = day < startUs + 3 * dayUs;
        keep(day, day + dayUs, isStopped ? Object.fromEntries(names.map((name) => [name, stop])) : {});
        read(day + dayUs + windowUs);
      }
      const { id } = store.series(endpoint.name);
      const found = store.silences(id, { from: startUs, to: endUs }).map(({ collection }) => collection);
      expect(found).toEqual([...names, ...names, ...names]);
      keep(endUs, endUs + dayUs);
      expect(read(endUs + dayUs + windowUs).summary.baseline).toEqual(baseline);
    },
  );
});

test('the summary of a new series states the number of observed days and the number of days that a comparison requires', () => {
  for (let day = 0; day < 9; day += 1) {
    keep(startUs + day * dayUs, startUs + day * dayUs + 3_600_000_000);
    const { summary } = read(startUs + day * dayUs + 3_600_000_000 + windowUs);
    expect(checkWeatherSummary(summary)).toMatchObject({ ok: true });
    const progress = `A comparison needs 7 earlier days of this hour: ${day} of 7 days observed.`;
    expect([day, summary.baseline, summary.conditions.sentence.includes(progress)]).toEqual(
      day < 7 ? [day, { observed_days: day, required_days: 7 }, true] : [day, undefined, false],
    );
  }
});

test('a publisher writes both files about the same time, even if a minute is closed while it writes', async () => {
  const from = endUs - 2 * 3_600_000_000;
  const stop = { 'like.create': { from, to: endUs + dayUs } };
  keep(startUs, from);
  keep(from, endUs, stop);
  const nowUs = endUs + windowUs - 10_000;
  const hours = createHoursReader();
  const [path, hoursPath] = [join(folder, 'weather-summary.json'), join(folder, 'weather-hours.json')];
  const publisher = createPublisher({
    ...{ path, hoursPath, publishMs: 60_000 },
    read: () => {
      // Runs as soon as the publisher waits for the first time.
      queueMicrotask(() => keep(endUs, endUs + windowUs, stop));
      return read(nowUs).summary;
    },
    readHours: () => hours.read({ store, endpoints: [endpoint], published: endpoint.name, origin: 'live', nowUs }),
    ...{ clock: () => nowUs / 1000, log: silentLog, telemetry: noTelemetry },
    failed: (error) => {
      throw error;
    },
  });
  await publisher.now();
  expect(store.series(endpoint.name).live?.timeUs).toBe(endUs + windowUs);
  const summary = JSON.parse(readFileSync(path, 'utf8')) as WeatherSummary;
  const [series] = (JSON.parse(readFileSync(hoursPath, 'utf8')) as WeatherHours).series;
  const likes = series?.collections['like.create'];
  expect([summary.window.end, series?.through]).toEqual(['2026-11-19T00:00:00.000Z', '2026-11-19T00:00:00.000Z']);
  expect([likes?.events.at(-1), likes?.observed_seconds.at(-1)]).toEqual([null, 0]);
});

describe('a publisher whose store cannot be read', () => {
  async function publishedWith(code: string) {
    const lines: [string, LogFields][] = [];
    const refused: string[] = [];
    const failures: unknown[] = [];
    const read = (): never => {
      throw Object.assign(new Error('disk I/O error'), { code });
    };
    const publisher = createPublisher({
      path: join(folder, 'weather-summary.json'),
      hoursPath: join(folder, 'weather-hours.json'),
      publishMs: 60_000,
      read,
      readHours: read,
      clock: () => 0,
      log: { ...silentLog, error: (message, { stack: _, ...fields } = {}) => void lines.push([message, fields]) },
      telemetry: { ...noTelemetry, notWritten: (what) => void refused.push(what) },
      failed: (error) => void failures.push(error),
    });
    await publisher.now();
    return { lines, refused, failures: failures.length };
  }

  test('counts and logs each artifact that is not written because the disk refuses to read', async () => {
    const lineOf = (file: string): [string, LogFields] => [
      'the artifact could not be written; the previous artifact remains in place',
      { file, error: 'Error', why: 'disk I/O error' },
    ];
    expect(await publishedWith('SQLITE_IOERR_READ')).toEqual({
      lines: [lineOf('weather-summary.json'), lineOf('weather-hours.json')],
      refused: ['artifact', 'artifact'],
      failures: 0,
    });
  });

  test('reports any other error as a failure', async () => {
    expect(await publishedWith('SQLITE_CORRUPT')).toEqual({ lines: [], refused: [], failures: 2 });
  });
});
