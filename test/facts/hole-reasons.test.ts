import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { fixture } from '../../harness/artifacts/fixtures.ts';
import { windowStore } from '../../harness/labels/window-store.ts';
import { pathPoints } from '../../harness/pages/html.ts';
import { factsInMemory, fixtureNow } from '../../harness/process/facts.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { memorySource } from '../../harness/process/memory-source.ts';
import { recogniseLabelsHours } from '../../src/artifact/hours/labels-hours.ts';
import { recogniseWeatherHours } from '../../src/artifact/hours/weather-hours.ts';
import {
  collectionNames,
  gapReasons,
  type WeatherGapReason,
  weatherGapReasons,
} from '../../src/contract/vocabulary.ts';
import { labelReasons, weatherReasons } from '../../src/facts/hours/shown-hours.ts';
import { closedHours, FilledInCounts, HourCounts, SourceHistory } from '../../src/labels/publish/hours/hour-counts.ts';
import { makeHours } from '../../src/labels/publish/hours/labels-hours.ts';
import { WindowReader } from '../../src/labels/publish/window/window-reader.ts';
import { day, hour, micros, second } from '../../src/store/time.ts';
import { metricIndex } from '../../src/weather/classify/metric-names.ts';
import { createHoursReader } from '../../src/weather/publish/hours.ts';
import { emptyDelta, windowUs } from '../../src/weather/window/window.ts';
import { openWindowStore, storeFile } from '../../src/weather/window/window-store.ts';

/** Each reason of a hole, from the store of its instrument through the hours file to the pixels of the chart. */

const now = fixtureNow.recent;
const nowUs = micros(now * 1000 - 30 * second);
/** Start of the hour that was not observed, which begins six hours before the newest one. */
const lostUs = Math.floor(nowUs / hour) * hour - 6 * hour;
const recent = fixture('recent') as { acquisition: { generation_id: string } };

/** Serves the hours files of both instruments; either may be absent. */
function served(files: { readonly weather?: object; readonly labels?: object }): (path: string) => string {
  const sources = {
    weather: memorySource(recogniseWeatherHours, now),
    labels: memorySource(recogniseLabelsHours, now),
  };
  if (files.weather) sources.weather.set(Buffer.from(JSON.stringify(files.weather)));
  if (files.labels) sources.labels.set(Buffer.from(JSON.stringify(files.labels)));
  const facts = factsInMemory(now, null, undefined, sources);
  facts.set('recent', Buffer.from(JSON.stringify(recent)));
  facts.set('weather', Buffer.from(JSON.stringify(fixture('weather'))));
  return (path) => facts.get(path).body?.toString('utf8') ?? '';
}

/** Returns where the hatching with a reason is, in units of the plot of a page. */
function hatched(html: string, reason: string): { readonly from: number; readonly to: number } {
  const found = html.match(
    new RegExp(
      `<g class="plot-hole"><title>${reason}</title><rect class="chart-unseen-paper" x="([\\d.]+)%?" width="([\\d.]+)%`,
    ),
  );
  return { from: 10 * Number(found?.[1]), to: 10 * (Number(found?.[1]) + Number(found?.[2])) };
}

const pathOf = (html: string, name: string): string =>
  html.match(new RegExp(`class="${name}"[^>]* d="([^"]*)"`))?.[1] ?? '';

it.each(gapReasons)('a gap of the label instrument with the reason %s is hatched, without a bar', async (reason) => {
  const startedAt = nowUs - 35 * day;
  const gap = { source: null, start: micros(lostUs), end: micros(lostUs + hour), reason };
  const rows = Array.from({ length: 72 }, (_, at) => ({
    labeler: 'did:plc:a',
    at: lostUs + (at - 65) * hour + (2 * hour) / 3,
  }));
  const content = { startedAt, rows: rows.filter(({ at }) => at < lostUs || at > lostUs + hour), gaps: [gap] };
  const store = windowStore(() => ({ ...content, observedThrough: nowUs }));
  const reading = await new WindowReader(store).read(nowUs, 30);
  const hours = closedHours(nowUs, reading.frontier, reading.epoch.startedAt);
  const counted = await new HourCounts(store).read(hours);
  const { head } = await makeHours({
    ...{ reading, hours, counted, entries: [], sources: new SourceHistory(), origin: 'live' },
    filledIn: new FilledInCounts(store),
  });
  const labels = { ...head, labelers: [], generation_id: recent.acquisition.generation_id };
  const at = head.hours.findIndex(({ start }) => Date.parse(start) * 1000 === lostUs);
  const html = served({ labels })('/hours/72');
  const { from, to } = hatched(html, labelReasons[reason]);
  expect([Math.round((from * 72) / 1000), Math.round((to * 72) / 1000)]).toEqual([at, at + 1]);
  const bars = [...pathOf(html, 'plot-up').matchAll(/M([\d.]+),/g)].map(([, x]) => Math.floor((Number(x) * 72) / 1000));
  expect([at - 1, at, at + 1].map((one) => bars.includes(one))).toEqual([true, false, true]);
});

/** Stores a day of likes, of which the hour is not observed for the reason, and returns the hours file. */
function weatherWith(reason: WeatherGapReason) {
  const folder = folderInTest();
  const endpoint = { name: 'wss://host.example/subscribe', wire: 'jetstream.legacy' } as const;
  const [first, last] = [lostUs - 10 * hour, lostUs + 6 * hour];
  const observed =
    reason === 'not_observed'
      ? [
          { from: first, to: lostUs },
          { from: lostUs + hour, to: last },
        ]
      : [{ from: first, to: last }];
  const windows = Array.from({ length: (last - first) / windowUs }, (_, at) => emptyDelta(first + at * windowUs))
    .filter(({ start }) => observed.some(({ from, to }) => from <= start && start < to))
    .map((delta) => {
      delta.counts[metricIndex['like.create']] = 10;
      return { ...delta, events: 11 };
    });
  let store = openWindowStore(folder);
  const { id, revision } = store.series(endpoint.name);
  const live = { kind: 'time', value: last, counted: 1, timeUs: last } as const;
  store.commit({ series: id, after: revision, gains: [{ windows, observed }], live, backfill: null });
  if (reason === 'silent') {
    const silence = { collection: 'like.create', from: lostUs, to: lostUs + hour } as const;
    store.keepSilences(id, silence, [silence]);
  }
  store.close();
  if (reason === 'not_counted') {
    const db = new Sqlite(join(folder, storeFile));
    db.prepare('INSERT INTO counted_since VALUES (?, ?, ?)').run(
      id,
      collectionNames.indexOf('like.create'),
      lostUs + hour,
    );
    db.close();
  }
  store = openWindowStore(folder);
  onTestFinished(() => store.close());
  return createHoursReader().read({ store, endpoints: [endpoint], published: endpoint.name, origin: 'live', nowUs });
}

it.each(weatherGapReasons)(
  'a gap of the weather with the reason %s is hatched, and no segment of the line crosses it',
  (reason) => {
    const chart = reason === 'not_observed' ? 'events' : reason === 'never_seen' ? 'block.create' : 'like.create';
    const svg = served({ weather: weatherWith(reason) })(`/charts/${chart}.svg`);
    expect(svg).toContain(`<g class="plot-hole"><title>${weatherReasons[reason]}</title>`);
    const segments = pathPoints(pathOf(svg, 'line-weather')).map(({ x }) => (x * 72) / 1000);
    const inHole = segments.filter((at) => at > 65.01 && at < 65.99);
    expect(inHole).toEqual([]);
    expect(segments.some((at) => at >= 65.99)).toBe(reason !== 'never_seen');
    expect(segments.some((at) => at <= 65.01)).toBe(reason === 'not_observed' || reason === 'silent');
  },
);
