import type { WeatherSummary } from '../artifact/weather-summary.ts';
import { type CollectionName, collectionNames, type Origin } from '../contract/vocabulary.ts';
import { type HourBaseline, hourBaseline } from './baseline.ts';
import { readConditions } from './conditions.ts';
import type { Endpoint } from './endpoint.ts';
import { union } from './interval.ts';
import { type Minute, minutes } from './minute.ts';
import { summarise } from './summary.ts';
import { futureUs } from './track.ts';
import { dayUs, windowStart, windowsPerDay, windowUs } from './window.ts';
import { keptDays, type WindowStore } from './window-store.ts';

const hourUs = 3_600_000_000;
const windowsPerHour = 60;
/** Minutes back that the conditions look. */
const conditionWindows = 30;
/** Collections that count as interactions: their rate determines the conditions. */
const interactions: readonly CollectionName[] = [
  'post.create.reply',
  'post.create.quote',
  'repost.create',
  'like.create',
];

/** Input of a summary. */
export interface SummarySource {
  readonly store: WindowStore;
  readonly endpoint: Pick<Endpoint, 'name' | 'wire'>;
  readonly origin: Origin;
  /** This machine's wall clock, microseconds. */
  readonly nowUs: number;
  /** Limits that the counts themselves do not show. */
  readonly caveats?: readonly string[];
}

/**
 * End of the newest closed window, judged now: the stream has passed it, or the wall clock has for a whole window.
 * What a later resume fills is then said by a later reading. A position that is further ahead of the clock than any
 * event is accepted closes nothing: one of the two clocks was wrong.
 */
export function closedEnd(positionUs: number | null, nowUs: number): number {
  if (positionUs !== null && positionUs > nowUs + futureUs) return closedEnd(null, nowUs);
  return Math.max(positionUs === null ? 0 : windowStart(positionUs), windowStart(nowUs - windowUs));
}

/** Reads the summary of the 24 hours before the newest closed window. Its cost does not grow with the store. */
export function readSummary({ store, endpoint, origin, nowUs, caveats }: SummarySource): WeatherSummary {
  const series = store.series(endpoint.name);
  const end = closedEnd(series.live?.timeUs ?? null, nowUs);
  const span = { from: end - dayUs, to: end };
  const observed = union(store.observed(series.id, span));
  const newest = observed.at(-1);
  const rows = store.windows(series.id, span, collectionNames);
  const day = minutes(rows, observed, span.from, windowsPerDay, collectionNames.length);
  const places = interactions.map((name) => collectionNames.indexOf(name));
  return summarise({
    endpoint: endpoint.name,
    wire: endpoint.wire,
    caveats: caveats ?? [],
    origin,
    nowUs,
    minutes: day,
    newestObservedUs: newest ? Math.min(newest.to, end) : null,
    conditions: readConditions({
      minutes: day.slice(-conditionWindows).map((minute) => ({ ...minute, rate: rateOf(minute, places) })),
      baseline: baselines(store, series.id),
      nowUs,
    }),
  });
}

/** Baseline of the hour of a window, from the same hour of earlier days; reads each hour once. */
function baselines(store: WindowStore, series: number): (startUs: number) => HourBaseline | null {
  const known = new Map<number, HourBaseline | null>();
  const places = interactions.map((_, i) => i);
  return (startUs) => {
    // The window's own hour is left out: a burst must not raise the level that it is held against.
    const hour = startUs - (startUs % hourUs);
    const found = known.get(hour);
    if (found !== undefined) return found;
    const oldest = hour - keptDays * dayUs;
    const days = Array.from({ length: keptDays }, (_, day) => {
      const from = oldest + day * dayUs;
      const near = union(store.observed(series, { from, to: from + hourUs }));
      if (near.length === 0) return [];
      const rows = store.windows(series, { from, to: from + hourUs }, interactions);
      return minutes(rows, near, from, windowsPerHour, interactions.length)
        .filter(({ eligible }) => eligible)
        .map((minute) => rateOf(minute, places));
    });
    const baseline = hourBaseline(days);
    known.set(hour, baseline);
    return baseline;
  };
}

/** Interactions per observed second; 0 where nothing was watched, which no comparison reads. */
function rateOf({ counts, observedUs }: Minute, places: readonly number[]): number {
  if (observedUs === 0) return 0;
  return places.reduce((sum, place) => sum + (counts[place] ?? 0), 0) / (observedUs / 1_000_000);
}
