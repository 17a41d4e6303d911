import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { deltaAt, storeMinutes } from '../../../harness/weather/stored-traffic.ts';
import { silentLog } from '../../ops/log.ts';
import { createSeriesReader } from '../publish/read-summary.ts';
import { parseEndpoint } from '../window/endpoint.ts';
import { dayUs, emptyDelta, hourUs, windowFlag, windowStart, windowUs } from '../window/window.ts';
import { openWindowStore, type WindowStore } from '../window/window-store.ts';
import { createPublication, predecessorOf, takesOver } from './publication.ts';

const nowUs = Date.parse('2026-11-20T12:30:30Z') * 1000;
const present = parseEndpoint('wss://host.example', { allowLoopback: false });
const legacy = 'wss://host.example/subscribe';
let folder: string;
let store: WindowStore;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-succession-'));
  store = openWindowStore(folder);
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Stores `days` days of a series up to `toUs` as observed. Only the UTC hour of `nowUs` has events on each day. */
function watch(name: string, days: number, toUs: number): void {
  const { id, revision } = store.series(name);
  const from = toUs - days * dayUs;
  const windows = Array.from({ length: Math.floor(days) + 1 }, (_, day) =>
    Array.from({ length: 60 }, (_minute, minute) => {
      const hour = nowUs - (nowUs % (60 * windowUs)) - day * dayUs;
      const delta = emptyDelta(hour + minute * windowUs);
      delta.events = 1000;
      delta.counts.fill(10);
      return delta;
    }),
  ).flat();
  const live = { kind: 'seq', value: 7, counted: 1, timeUs: toUs } as const;
  store.commit({
    series: id,
    after: revision,
    gains: [{ windows, observed: [{ from, to: toUs }] }],
    live,
    backfill: null,
  });
}

function ready(): boolean {
  const [own, other] = [present, { name: legacy, wire: 'jetstream.legacy' } as const].map((endpoint) => {
    return createSeriesReader().read({ store, endpoint, origin: 'live', nowUs });
  });
  if (!own || !other) throw new Error('a series was not read');
  return takesOver({ store, nowUs, present: own, legacy: other });
}

it('a legacy series remains published only if it belongs to the host of the present series', () => {
  expect(predecessorOf(store, present)).toBeNull();
  watch('wss://other.example/subscribe', 20, nowUs);
  expect(predecessorOf(store, present)).toBeNull();
  watch(legacy, 20, nowUs);
  expect(predecessorOf(store, present)).toMatchObject({ name: legacy, wire: 'jetstream.legacy' });
  expect(predecessorOf(store, parseEndpoint(legacy, { allowLoopback: false }))).toBeNull();
});

/** Returns the caveat of the published summary about the succession. */
function publishedCaveat(): string {
  const publication = createPublication({ store, endpoints: [present], startedUs: nowUs, log: silentLog });
  return publication.read(nowUs).caveats?.find((caveat) => caveat.includes('legacy protocol')) ?? '';
}

it('the caveat of the legacy series counts only the earlier days on which the same hour was observed', () => {
  watch(legacy, 20, nowUs);
  watchPresent(nowUs - 20 * dayUs - hourUs, nowUs - 20 * dayUs);
  watchPresent(nowUs - windowUs, nowUs);
  expect(publishedCaveat()).toContain('has 1 of the 7 earlier days of this hour that');
  watchPresent(nowUs - 3 * dayUs - 3 * hourUs, nowUs - 3 * dayUs - 2 * hourUs);
  expect(publishedCaveat()).toContain('has 1 of the 7 earlier days of this hour that');
});

it('the present series replaces the legacy series permanently once the present series has a baseline of seven days', () => {
  watch(legacy, 20, nowUs);
  watch(present.name, 6.5, nowUs);
  expect(ready()).toBe(false);
  expect(publishedCaveat()).toContain('has 6 of the 7 earlier days of this hour that');
  watch(present.name, 8, nowUs);
  expect(ready()).toBe(true);
  store.takeOver(store.series(present.name).id);
  expect(predecessorOf(store, present)).toBeNull();
});

it('the present series replaces the legacy series if the legacy protocol has been silent for an hour', () => {
  watch(legacy, 20, nowUs - 2 * 3_600_000_000);
  watch(present.name, 0.02, nowUs);
  expect(ready()).toBe(false);
  watch(present.name, 0.1, nowUs);
  expect(ready()).toBe(true);
});

it('the caveat of the legacy series promises no replacement while the present series has a baseline but no conditions', () => {
  watch(legacy, 20, nowUs);
  watch(present.name, 8, nowUs - 2 * hourUs);
  expect(ready()).toBe(false);
  expect(publishedCaveat()).toBe(
    "These counts come from the host's legacy protocol. Its present protocol has 7 of the 7 earlier days of this hour that a " +
      'baseline requires. Once its conditions can be compared with a baseline, its series is published instead. ' +
      'Counts of both series are never added.',
  );
});

/** Stores a span of the present series as observed, with windows that have the flags. */
function watchPresent(from: number, to: number, flags = 0): void {
  const { id, revision } = store.series(present.name);
  const first = windowStart(from);
  const windows = Array.from({ length: Math.ceil((to - first) / windowUs) }, (_, i) => {
    return Object.assign(emptyDelta(first + i * windowUs), { events: 1, flags });
  });
  const live = { kind: 'seq', value: 7, counted: 1, timeUs: to } as const;
  store.commit({ series: id, after: revision, gains: [{ windows, observed: [{ from, to }] }], live, backfill: null });
}

/** Stores a day of a series with even traffic, without likes in the given last minutes. */
function watchWithout(name: string, minutes: number): void {
  const to = windowStart(nowUs);
  const like = { from: to - minutes * windowUs, to };
  storeMinutes(store, name, { from: to - dayUs, to }, (start) => deltaAt(start, { 'like.create': like }, 1));
}

it.each([
  ['replaces', 'has had no likes for 75 minutes', 75, 0, present.name],
  ['does not replace', 'has had no likes for 45 minutes', 45, 0, legacy],
  ['does not replace', 'has had no likes for 75 minutes, if it has none either', 75, 75, legacy],
] as const)(
  'the present series %s the legacy series, which %s',
  (_, _why, legacyMinutes, presentMinutes, published) => {
    watchWithout(legacy, legacyMinutes);
    watchWithout(present.name, presentMinutes);
    const publication = createPublication({ store, endpoints: [present], startedUs: nowUs, log: silentLog });
    expect(publication.read(nowUs).source.endpoint).toBe(published);
  },
);

it('the present series does not replace the legacy series if neither was read in the hour', () => {
  const stoppedUs = nowUs - 3 * hourUs;
  watch(legacy, 20, stoppedUs);
  watchPresent(stoppedUs - 3 * dayUs, stoppedUs);
  watchPresent(nowUs - 2_000_000, nowUs);
  expect(ready()).toBe(false);
});

it("the present series does not replace the legacy series if the hour was read later from the host's history", () => {
  watch(legacy, 20, nowUs - 3 * hourUs);
  watchPresent(nowUs - 3 * dayUs, nowUs - 3 * hourUs);
  watchPresent(nowUs - 3 * hourUs, nowUs - windowUs, windowFlag.replayed);
  watchPresent(nowUs - windowUs, nowUs);
  expect(ready()).toBe(false);
});

it('the present series replaces the legacy series an hour after its last replay', () => {
  watch(legacy, 20, nowUs - 3 * hourUs);
  watchPresent(nowUs - 2 * hourUs, windowStart(nowUs - hourUs), windowFlag.replayed);
  watchPresent(windowStart(nowUs - hourUs), nowUs);
  expect(ready()).toBe(true);
});
