import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { metricIndex, metricNames } from '../../src/weather/classify/metric-names.ts';
import { readSummary } from '../../src/weather/publish/read-summary.ts';
import { countMetric, emptyDelta, windowUs } from '../../src/weather/window/window.ts';
import { openWindowStore, storeFile } from '../../src/weather/window/window-store.ts';

const host = 'wss://host.example/subscribe';
const minute = 29_000_000 * windowUs;
const everything = { from: 0, to: Number.MAX_SAFE_INTEGER };

/**
 * The test file was written by a released version and must never be replaced. If this test fails after a metric or a
 * collection was added, the layout needs a new version with a migration, and a test file of the previous version.
 */
test('a window store of layout 3 keeps its counts, silences and positions, and accepts further commits', () => {
  const store = openWindowStore(storedEarlier());
  onTestFinished(() => store.close());
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

describe('a collection that the earlier program did not count', () => {
  /** Opens the earlier store in the state in which a program without the collection left it. */
  function withoutBlocks() {
    const folder = storedEarlier();
    const db = new Sqlite(join(folder, storeFile));
    for (const column of ['block.create', 'block.create first', 'block.create last'])
      db.exec(`ALTER TABLE window DROP COLUMN "${column}"`);
    db.close();
    const store = openWindowStore(folder);
    onTestFinished(() => store.close());
    return { folder, store };
  }

  test('is counted from the window after the newest stored window, or from the beginning in a new series, even after a restart', () => {
    const { folder, store } = withoutBlocks();
    const { id } = store.series(host);
    expect([...store.countedSince(id)]).toEqual([['block.create', minute + 2 * windowUs]]);
    store.close();
    const again = openWindowStore(folder);
    onTestFinished(() => again.close());
    expect([...again.countedSince(id)]).toEqual([['block.create', minute + 2 * windowUs]]);
    expect([...again.countedSince(again.series('wss://new.example/subscribe').id)]).toEqual([]);
  });

  test('is published as unobserved, not as zero, before its first counted window, and the summary states the start of that window', () => {
    const { store } = withoutBlocks();
    const { id, revision } = store.series(host);
    const first = minute + 2 * windowUs;
    const windows = [0, 1, 2].map((n) => {
      const delta = emptyDelta(first + n * windowUs);
      delta.events = 9;
      for (let event = 0; event < 3; event += 1) countMetric(delta, metricIndex['block.create'], delta.start + event);
      return delta;
    });
    // Events of the collection from before that window, which a backfill may read, are not counted.
    const earlier = emptyDelta(minute);
    earlier.events = 1;
    countMetric(earlier, metricIndex['block.create'], minute);
    const to = first + 3 * windowUs;
    const live = { kind: 'time', value: to, counted: 1, timeUs: to } as const;
    const gains = [{ windows: [earlier, ...windows], observed: [{ from: minute, to }] }];
    store.commit({ series: id, after: revision, gains, live, backfill: null });
    const { collections, window, caveats } = readSummary({
      store,
      endpoint: { name: host, wire: 'jetstream.legacy' },
      origin: 'simulated',
      nowUs: to + windowUs,
    });
    expect(window.observed_seconds).toBe(300);
    expect(collections['block.create']).toMatchObject({
      ...{ total: 9, mean_rate_per_s: 0.05 },
      ...{ observed_seconds: 180, observed_windows: 3, unobserved_windows: 1437 },
    });
    expect(collections['like.create']).toMatchObject({ total: 4, observed_seconds: 300 });
    expect(caveats).toContainEqual(
      expect.stringMatching(/^block\.create events have been counted since .*not observed/),
    );
  });
});

/** Writes the earlier store into a new directory. */
function storedEarlier(): string {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-earlier-windows-'));
  const file = join(import.meta.dirname, '../fixtures/weather-store-3.sqlite.gz');
  writeFileSync(join(folder, storeFile), gunzipSync(readFileSync(file)));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
