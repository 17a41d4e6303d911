import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { collectionNames } from '../../src/contract/vocabulary.ts';
import { metricIndex, metricNames } from '../../src/weather/classify/metric-names.ts';
import type { Commit } from '../../src/weather/window/store-schema.ts';
import { countMetric, emptyDelta, union, type WindowDelta, windowUs } from '../../src/weather/window/window.ts';
import { openWindowStore, storeFile, type WindowStore } from '../../src/weather/window/window-store.ts';

let folder: string;
let store: WindowStore;
const host = 'wss://host.example/subscribe';
const minute = 29_000_000 * windowUs;
const everything = { from: 0, to: Number.MAX_SAFE_INTEGER };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-store-'));
  store = openWindowStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

function delta(start: number, events: number, flags = 0): WindowDelta {
  const made = emptyDelta(start);
  made.events = events;
  made.flags = flags;
  made.counts.fill(1);
  made.counts[0] = events;
  return made;
}

function commitOf(series: number, after: number, windows: WindowDelta[], from = minute, to = minute + 1): Commit {
  const live = { kind: 'time', value: to, counted: 2, timeUs: to } as const;
  return { series, after, gains: [{ windows, observed: [{ from, to }] }], live, backfill: null };
}

describe('the window store', () => {
  test('keeps the counts, observed spans and positions of one commit together across a restart', () => {
    const { id, revision } = store.series(host);
    const backfill = {
      position: { kind: 'seq', value: 7, counted: 1, timeUs: minute } as const,
      end: { seq: 9, timeUs: minute + 5 },
      bytes: 11,
    };
    store.commit({ ...commitOf(id, revision, [delta(minute, 5, 1)]), backfill });
    store.commit({ ...commitOf(id, revision + 1, [delta(minute, 2, 4)], minute + 1, minute + 9), backfill });
    store.close();
    store = openWindowStore(folder);
    expect(store.series(host)).toEqual({
      id,
      revision: revision + 2,
      tookOver: false,
      live: { kind: 'time', value: minute + 9, counted: 2, timeUs: minute + 9 },
      backfill,
    });
    expect(store.windows(id, everything, [metricNames[0] ?? '', 'account.event'])).toEqual([
      { startUs: minute, events: 7, lateOrRepeat: 0, malformed: 0, flags: 5, resync: 0, leftOut: 0, counts: [7, 2] },
    ]);
    expect(store.observed(id, everything)).toEqual([{ from: minute, to: minute + 9 }]);
  });

  test('adds a commit only once, even if it is repeated', () => {
    const { id, revision } = store.series(host);
    const commit = commitOf(id, revision, [delta(minute, 5)]);
    store.commit(commit);
    store.commit(commit);
    expect(store.windows(id, everything, [])).toMatchObject([{ events: 5 }]);
    expect(() => store.commit({ ...commit, after: revision + 7 })).toThrow(/does not follow/);
  });

  test('discards all changes of a commit that fails at its last step', () => {
    store.close();
    let full = false;
    store = openWindowStore(folder, {
      beforeCommit: () => {
        if (full) throw new Sqlite.SqliteError('full', 'SQLITE_FULL');
      },
    });
    const { id, revision } = store.series(host);
    store.commit(commitOf(id, revision, [delta(minute, 5)]));
    const before = [store.series(host), store.windows(id, everything, metricNames), store.observed(id, everything)];
    full = true;
    expect(() => store.commit(commitOf(id, revision + 1, [delta(minute, 9)], minute, minute + 99))).toThrow('full');
    expect(() => store.probe()).toThrow('full');
    expect([store.series(host), store.windows(id, everything, metricNames), store.observed(id, everything)]).toEqual(
      before,
    );
  });

  test('merges observed spans into their union, in any order', () => {
    const span = fc.tuple(fc.nat(300), fc.integer({ min: 1, max: 40 })).map(([from, n]) => ({ from, to: from + n }));
    let hosts = 0;
    fc.assert(
      fc.property(fc.array(span, { minLength: 1, maxLength: 15 }), (spans) => {
        hosts += 1;
        const { id } = store.series(`${host}/${hosts}`);
        for (const [after, { from, to }] of spans.entries()) store.commit(commitOf(id, after, [], from, to));
        expect(store.observed(id, everything)).toEqual(union(spans));
      }),
      { numRuns: 40 },
    );
  });

  test('keeps the counts of two hosts separate', () => {
    const one = store.series(host);
    const other = store.series('wss://other.example/subscribe');
    store.commit(commitOf(one.id, 0, [delta(minute, 5)]));
    expect(store.windows(other.id, everything, [])).toEqual([]);
    expect(store.observed(other.id, everything)).toEqual([]);
    expect(other.live).toBeNull();
  });

  test('deletes only data that is older than its retention', () => {
    const { id } = store.series(host);
    store.commit(commitOf(id, 0, [delta(minute, 5), delta(minute + windowUs, 6)], minute, minute + 2 * windowUs));
    store.prune(id, minute + windowUs);
    expect(store.windows(id, everything, [])).toMatchObject([{ startUs: minute + windowUs, events: 6 }]);
    expect(store.observed(id, everything)).toEqual([{ from: minute + windowUs, to: minute + 2 * windowUs }]);
  });

  test('keeps no observed time whose windows are deleted, at any time of deletion', () => {
    const { id } = store.series(host);
    const windows = [0, 1, 2].map((i) => delta(minute + i * windowUs, 5));
    store.commit(commitOf(id, 0, windows, minute, minute + windowUs));
    store.commit(commitOf(id, 1, [], minute + windowUs + 9, minute + 3 * windowUs));
    store.prune(id, minute + 7);
    expect(store.windows(id, everything, []).map(({ startUs }) => startUs)).toEqual(
      [1, 2].map((i) => minute + i * windowUs),
    );
    expect(store.observed(id, everything)).toEqual([{ from: minute + windowUs + 9, to: minute + 3 * windowUs }]);
    store.prune(id, minute + windowUs + 10);
    expect(store.windows(id, everything, []).map(({ startUs }) => startUs)).toEqual([minute + 2 * windowUs]);
    expect(store.observed(id, everything)).toEqual([{ from: minute + 2 * windowUs, to: minute + 3 * windowUs }]);
    expect(store.observedSince(id)).toBe(minute + 2 * windowUs);
  });

  test('stores the times of the first and last event of a collection in a window', () => {
    const { id } = store.series(host);
    const at = (...seconds: number[]): WindowDelta => {
      const made = emptyDelta(minute);
      for (const second of seconds) countMetric(made, metricIndex['like.create'], minute + second * 1_000_000);
      return made;
    };
    store.commit(commitOf(id, 0, [at(30, 40)]));
    store.commit(commitOf(id, 1, [at()]));
    expect(store.edges(id, minute, 'like.create')).toEqual({
      firstUs: minute + 30_000_000,
      lastUs: minute + 40_000_000,
    });
    store.commit(commitOf(id, 2, [at(0, 59)]));
    store.commit(commitOf(id, 3, [at(10)]));
    expect(store.edges(id, minute, 'like.create')).toEqual({ firstUs: minute, lastUs: minute + 59_000_000 });
    expect(store.edges(id, minute, 'post.create')).toEqual({ firstUs: null, lastUs: null });
    expect(store.edges(id, minute + windowUs, 'like.create')).toEqual({ firstUs: null, lastUs: null });
  });

  test('replaces the silences of a span, and deletes old silences', () => {
    const { id } = store.series(host);
    const silence = (collection: 'like.create' | 'post.delete', from: number, to: number) => ({ collection, from, to });
    store.keepSilences(id, { from: 0, to: 100 }, [silence('like.create', 10, 20), silence('post.delete', 50, 100)]);
    store.keepSilences(id, { from: 60, to: 200 }, [silence('post.delete', 50, 150)]);
    expect(store.silences(id, everything)).toEqual([silence('like.create', 10, 20), silence('post.delete', 50, 150)]);
    expect(store.silences(id, { from: 20, to: 50 })).toEqual([]);
    store.prune(id, 20);
    expect(store.silences(id, everything)).toEqual([silence('post.delete', 50, 150)]);
  });

  test('remembers by its silence that a collection had events, after their windows are deleted', () => {
    const { id } = store.series(host);
    store.commit(commitOf(id, 0, [delta(minute, 5), emptyDelta(minute + 60 * windowUs)]));
    const silence = { collection: 'like.create', from: minute + 1, to: minute + 61 * windowUs } as const;
    store.keepSilences(id, silence, [silence]);
    store.prune(id, minute + 60 * windowUs);
    const known = (['like.create', 'post.create'] as const).map((collection) => store.hasEvents(id, collection));
    expect(known).toEqual([true, false]);
  });

  test('returns the recent rate, excluding unobserved time', () => {
    const { id } = store.series(host);
    expect(store.recentRate(id, minute)).toBeNull();
    store.commit(commitOf(id, 0, [delta(minute, 300)], minute, minute + 30_000_000));
    expect(store.recentRate(id, minute + 30_000_000)).toBe(10);
  });

  test('accepts only one writer at a time', () => {
    expect(() => openWindowStore(folder)).toThrow(/^another almanac weather process writes to/);
  });

  test('refuses a file of another version, with an error that names both versions', () => {
    store.close();
    const db = new Sqlite(join(folder, storeFile));
    db.pragma('user_version = 99');
    db.close();
    expect(() => openWindowStore(folder)).toThrow(
      /has version 99, but this program reads version 4; run the version that wrote it/,
    );
    const mended = new Sqlite(join(folder, storeFile));
    mended.pragma('user_version = 4');
    mended.close();
    store = openWindowStore(folder);
  });

  test.each([1, 2])(
    'opens a file of an earlier version, and keeps its series, windows and observed spans (version %i)',
    (version) => {
      const { id, revision } = store.series(host);
      store.commit(commitOf(id, revision, [delta(minute, 5, 1)]));
      const before = [store.series(host), store.windows(id, everything, metricNames), store.observed(id, everything)];
      store.close();
      toVersion(version, join(folder, storeFile));
      store = openWindowStore(folder);
      const found = [store.series(host), store.windows(id, everything, metricNames), store.observed(id, everything)];
      // A metric that has no column in version 1 has a count of zero.
      const counts = metricNames.map((name, i) => (name === 'sync.event' && version === 1 ? 0 : i === 0 ? 5 : 1));
      expect(found).toEqual([
        before[0],
        [expect.objectContaining({ startUs: minute, events: 5, flags: 1, counts })],
        before[2],
      ]);
      store.commit(commitOf(id, revision + 1, [delta(minute, 2)]));
      expect(store.windows(id, everything, ['like.create'])).toMatchObject([{ events: 7, counts: [2] }]);
      expect(store.edges(id, minute, 'like.create')).toEqual({ firstUs: null, lastUs: null });
    },
  );

  test('contains only integers, apart from the address of the host', () => {
    store.close();
    const db = new Sqlite(join(folder, storeFile), { readonly: true });
    const tables = db.prepare<[], { name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const texts = tables.flatMap(({ name }) =>
      db
        .prepare<[], { name: string; type: string }>(`PRAGMA table_info(${name})`)
        .all()
        .filter(({ type }) => type !== 'INTEGER')
        .map((column) => `${name}.${column.name}`),
    );
    db.close();
    store = openWindowStore(folder);
    expect(texts).toEqual(['series.endpoint']);
  });
});

/** Removes the tables and columns that later versions added to a store. */
function toVersion(version: number, path: string): void {
  const db = new Sqlite(path);
  const edges = collectionNames.flatMap((name) => [`"${name} first"`, `"${name} last"`]);
  db.exec(`
    DROP TABLE counted_since;
    DROP TABLE silence;
    DROP TABLE failover;
    ${edges.map((column) => `ALTER TABLE window DROP COLUMN ${column};`).join('\n')}
    PRAGMA user_version = 2;
  `);
  if (version === 2) {
    db.close();
    return;
  }
  db.exec(`
    ALTER TABLE series DROP COLUMN took_over;
    ALTER TABLE window DROP COLUMN resync;
    ALTER TABLE window DROP COLUMN left_out;
    ALTER TABLE window DROP COLUMN "sync.event";
    PRAGMA user_version = 1;
  `);
  db.close();
}
