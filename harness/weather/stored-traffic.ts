import { type CollectionName, collectionNames } from '../../src/contract/vocabulary.ts';
import { metricIndex } from '../../src/weather/classify/metric-names.ts';
import { emptyDelta, type WindowDelta, windowUs } from '../../src/weather/window/window.ts';
import type { WindowStore } from '../../src/weather/window/window-store.ts';

/** Events per minute of the collections that differ from the other ones. */
const rates: Readonly<Partial<Record<CollectionName, number>>> = {
  'like.create': 8000,
  'repost.create': 900,
  'post.create.reply': 400,
  'post.create.quote': 120,
};
/** Offset of the first event within a minute, in microseconds. */
export const firstAt = 200_000;
/** Offset of the last event within a minute, in microseconds. */
export const lastAt = 59_800_000;

/** Spans in which collections have no events. */
export type Stops = Readonly<Partial<Record<CollectionName, { from: number; to: number }>>>;

/** Returns a minute of even traffic. A stopped collection has no events between the start and the end of its stop. */
export function deltaAt(start: number, stops: Stops, level: number): WindowDelta {
  const delta = emptyDelta(start);
  const wave = level * (1 + 0.05 * Math.sin(start / windowUs));
  for (const [place, name] of collectionNames.entries()) {
    const stop = stops[name] ?? { from: 0, to: 0 };
    const [first, last] = [start + firstAt, start + lastAt];
    if (first >= stop.from && last < stop.to) continue;
    const count = Math.round((rates[name] ?? 60) * wave);
    delta.counts[metricIndex[name]] = count;
    delta.events += count;
    delta.firsts[place] = (first >= stop.from && first < stop.to ? stop.to : first) - start + 1;
    delta.lasts[place] = (last >= stop.from && last < stop.to ? stop.from - 1 : last) - start + 1;
  }
  return delta;
}

/** Stores the minutes of a span, all of them observed, as a commit of the instrument would. */
export function storeMinutes(
  store: WindowStore,
  name: string,
  { from, to }: { readonly from: number; readonly to: number },
  minute: (start: number) => WindowDelta,
): void {
  const { id, revision } = store.series(name);
  const windows = Array.from({ length: (to - from) / windowUs }, (_, i) => minute(from + i * windowUs));
  const live = { kind: 'time', value: to, counted: 1, timeUs: to } as const;
  store.commit({ series: id, after: revision, gains: [{ windows, observed: [{ from, to }] }], live, backfill: null });
}
