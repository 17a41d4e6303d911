import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { metricIndex, metricNames } from '../../src/weather/classify/metric-names.ts';
import { countMetric, emptyDelta, windowUs } from '../../src/weather/window/window.ts';
import { openWindowStore, storeFile } from '../../src/weather/window/window-store.ts';

const host = 'wss://host.example/subscribe';
const minute = 29_000_000 * windowUs;
const everything = { from: 0, to: Number.MAX_SAFE_INTEGER };

/**
 * A released version wrote the file, which must never be written again. If this test fails after a metric or a
 * collection was added, the layout needs a new version with a migration, and a test file of the previous version.
 */
test('a window store of layout 3 keeps its counts, silences and positions, and takes further commits', () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-earlier-windows-'));
  const file = join(import.meta.dirname, '../fixtures/weather-store-3.sqlite.gz');
  writeFileSync(join(folder, storeFile), gunzipSync(readFileSync(file)));
  const store = openWindowStore(folder);
  onTestFinished(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });

  const { id, revision, live } = store.series(host);
  expect({ revision, live }).toEqual({
    revision: 2,
    live: { kind: 'time', value: minute + windowUs + 1, counted: 2, timeUs: minute + windowUs + 1 },
  });
  const [first, second] = store.windows(id, everything, metricNames);
  const numbered = Object.fromEntries(metricNames.map((name, n) => [name, first?.counts[n]]));
  expect(numbered).toMatchObject({ 'post.create': 1, 'like.create': 4, 'account.event': 50, 'sync.event': 64 });
  expect(first?.counts.reduce((sum, count) => sum + count, 0)).toBe((64 * 65) / 2);
  expect([first?.events, second?.events]).toEqual([2_080, 7]);
  expect(store.silences(id, everything)).toEqual([
    { collection: 'profile.update', from: minute + 5, to: minute + windowUs },
    { collection: 'account.event', from: minute + 6, to: minute + windowUs },
  ]);

  const third = emptyDelta(minute + 2 * windowUs);
  third.events = 1;
  countMetric(third, metricIndex['like.create'], third.start + 1);
  const at = third.start + 2;
  store.commit({
    series: id,
    after: revision,
    gains: [{ windows: [third], observed: [{ from: third.start, to: at }] }],
    live: { kind: 'time', value: at, counted: 1, timeUs: at },
    backfill: null,
  });
  expect(store.windows(id, everything, ['like.create']).map(({ counts }) => counts)).toEqual([[4], [0], [1]]);
});
