import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { storeFault } from './store-schema.ts';
import { dayUs, emptyDelta, type Interval, union, windowUs } from './window.ts';
import { keptDays, keptFrom, openWindowStore, type WindowStore } from './window-store.ts';

function openForTest(): WindowStore {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-windows-'));
  const store = openWindowStore(folder);
  onTestFinished(() => {
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return store;
}

const everything = { from: 0, to: Number.MAX_SAFE_INTEGER };

test('the store commits 64,000 windows and spans in less than 20 s of processor time', () => {
  const store = openForTest();
  const { id } = store.series('wss://host.example/subscribe');
  const first = 1_780_000_020_000_000;
  const half = 32_000;
  const cpuOf = (after: number): number => {
    const from = first + after * half * windowUs;
    const observed = Array.from({ length: half }, (_, i) => ({
      from: from + i * windowUs,
      to: from + i * windowUs + 1,
    }));
    const windows = observed.map((span) => ({ ...emptyDelta(span.from), events: 1 }));
    const before = process.cpuUsage();
    store.commit({ series: id, after, gains: [{ windows, observed }], live: null, backfill: null });
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  };
  // If a commit searched all earlier spans, 64,000 commits would take a minute and a half.
  expect(cpuOf(0) + cpuOf(1)).toBeLessThan(20);
  expect(store.observed(id, everything)).toHaveLength(2 * half);
});

test('the store merges overlapping spans, and reads any part of them', () => {
  const store = openForTest();
  const { id } = store.series('wss://host.example/subscribe');
  const spans: Interval[] = [];
  let seed = 7;
  const below = (bound: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % bound;
  };
  for (let after = 0; after < 200; after += 1) {
    const from = below(1_000);
    const observed = [{ from, to: from + 1 + below(20) }];
    spans.push(...observed);
    store.commit({ series: id, after, gains: [{ windows: [], observed }], live: null, backfill: null });
    expect(store.observed(id, everything)).toEqual(union(spans));
    const part = { from: below(1_000), to: 1_000 };
    expect(store.observed(id, part)).toEqual(
      union(spans).filter(({ to, from: begin }) => to > part.from && begin < part.to),
    );
  }
});

test('the store keeps windows for as many days as the baseline requires', () => {
  const store = openForTest();
  const { id } = store.series('wss://host.example/subscribe');
  const nowUs = 1_780_000_020_000_000;
  const oldest = nowUs - keptDays * dayUs;
  const windows = [oldest - windowUs, oldest].map((start) => ({ ...emptyDelta(start), events: 1 }));
  store.commit({ series: id, after: 0, gains: [{ windows, observed: [] }], live: null, backfill: null });
  store.prune(id, keptFrom(nowUs, nowUs));
  expect(store.windows(id, everything, []).map(({ startUs }) => startUs)).toEqual([oldest]);
});

const errorWith = (code: string): Error => Object.assign(new Error('a failed statement'), { code });

test.each([
  ['SQLITE_CORRUPT_VTAB', 'damaged'],
  ['SQLITE_NOTADB', 'damaged'],
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED_SHAREDCACHE', 'busy'],
  ['SQLITE_FULL', 'full'],
  ['SQLITE_IOERR_WRITE', 'full'],
  ['SQLITE_READONLY', 'full'],
  ['SQLITE_ERROR', 'unexpected'],
  ['SQLITE_CONSTRAINT_PRIMARYKEY', 'unexpected'],
  ['ENOSPC', null],
])('an error is classified by its code (%s: %s)', (code, fault) => {
  expect(storeFault(errorWith(code))).toBe(fault);
});

test('the history begins 45 days before the clock or the last event, whichever is earlier', () => {
  const nowUs = 1_780_000_000_000_000;
  const days = (count: number): number => count * dayUs;
  const starts = [
    keptFrom(nowUs, nowUs),
    keptFrom(nowUs + days(60), nowUs),
    keptFrom(nowUs, nowUs + days(60)),
    keptFrom(nowUs, nowUs - days(60)),
  ];
  expect(starts.map((start) => (start - nowUs) / dayUs)).toEqual([-45, -45, -45, -105]);
});
