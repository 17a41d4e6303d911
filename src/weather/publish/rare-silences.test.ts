import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deltaAt, lastAt, storeMinutes } from '../../../harness/weather/stored-traffic.ts';
import { dayUs, hourUs, windowUs } from '../window/window.ts';
import { openWindowStore, type WindowStore } from '../window/window-store.ts';
import { createSeriesReader } from './read-summary.ts';

/** A rare collection is silent once its pause is six times its longest pause of earlier days. */

const endpoint = { name: 'wss://host.example/subscribe', wire: 'jetstream.legacy' } as const;
const startUs = Date.parse('2026-11-10T00:00:00Z') * 1000;
const hours = (count: number): number => count * hourUs;

let folder: string;
let store: WindowStore;
let reader: ReturnType<typeof createSeriesReader>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-rare-'));
  store = openWindowStore(folder);
  reader = createSeriesReader();
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Stores traffic in which `listitem.delete` has events only in one minute of each period, and none after its end. */
function keep(from: number, to: number, { everyUs, endUs }: { readonly everyUs: number; readonly endUs: number }) {
  storeMinutes(store, endpoint.name, { from, to }, (start) => {
    const isPause = start >= endUs || (start - startUs) % everyUs >= windowUs;
    return deltaAt(start, isPause ? { 'listitem.delete': { from: start, to: start + windowUs } } : {}, 1);
  });
}

/** Stores and reads the hours after the last event one by one. Returns the number of hours until the collection is null. */
function hoursUntilNull(everyUs: number, endUs: number, most: number): number | null {
  keep(startUs, endUs, { everyUs, endUs });
  for (let hour = 1; hour <= most; hour += 1) {
    const to = endUs + hours(hour);
    keep(to - hourUs, to, { everyUs, endUs });
    const { summary } = reader.read({ store, endpoint, origin: 'live', nowUs: to + windowUs });
    if (summary.collections['listitem.delete'] === null) return hour;
  }
  return null;
}

/** Returns the stored silences of the series. */
const silences = () => store.silences(store.series(endpoint.name).id, { from: 0, to: Number.MAX_SAFE_INTEGER });

test('a collection with pauses of an hour is found silent after six hours although the day ends in between', () => {
  const endUs = startUs + 9 * dayUs + hours(20);
  keep(startUs, endUs, { everyUs: hours(1), endUs });
  keep(endUs, endUs + hours(6), { everyUs: hours(1), endUs });
  reader.read({ store, endpoint, origin: 'live', nowUs: endUs + hours(6) + windowUs });
  expect(silences()).toEqual([
    { collection: 'listitem.delete', from: endUs - hours(1) + lastAt + 1, to: endUs + hours(6) },
  ]);
});

test('a collection with pauses of five hours is null once its pause exceeds 30 hours', () => {
  const endUs = startUs + 8 * dayUs;
  expect(hoursUntilNull(hours(5), endUs, 40)).toBe(29);
  // The last event is two hours before the end of the traffic. The other collections are slightly below their usual level.
  expect(silences()).toEqual([
    { collection: 'listitem.delete', from: endUs - hours(2) + lastAt + 1, to: endUs + hours(29) },
  ]);
});

test('a collection is not silent after events on a single day, however long its pause is', () => {
  const endUs = startUs + hours(1);
  keep(startUs, endUs, { everyUs: windowUs, endUs });
  const to = startUs + 9 * dayUs;
  keep(endUs, to, { everyUs: windowUs, endUs });
  reader.read({ store, endpoint, origin: 'live', nowUs: to + windowUs });
  expect(silences()).toEqual([]);
});
