import type { WeatherSummary } from '../../artifact/weather-summary.ts';
import { collectionNames, type Origin } from '../../contract/vocabulary.ts';
import { collectionTimes } from '../silence/collection-time.ts';
import { interactionShares, interactions, type Shares, silentShares } from '../silence/interactions.ts';
import { findSilences, type Usual } from '../silence/silence.ts';
import { storedUsual } from '../silence/usual.ts';
import { earlierDays, hourUs, isWithin, spanBefore } from '../window/earlier-days.ts';
import type { Endpoint } from '../window/endpoint.ts';
import { type Interval, union } from '../window/interval.ts';
import { type Minute, minutes } from '../window/minute.ts';
import type { Silence } from '../window/silence-store.ts';
import { futureUs } from '../window/track.ts';
import { dayUs, windowStart, windowsPerDay, windowUs } from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';
import { comparableDays, type HourBaseline, hourBaseline } from './baseline.ts';
import { type ConditionInput, readConditions } from './conditions.ts';
import { summarise } from './summary.ts';

/** Minutes back that the conditions look. */
const conditionWindows = 30;

/** Input of a summary. */
export interface SummarySource {
  readonly store: WindowStore;
  readonly endpoint: Pick<Endpoint, 'name' | 'wire'>;
  readonly origin: Origin;
  /** This machine's wall clock, microseconds. */
  readonly nowUs: number;
  /** Limits that the counts themselves do not show. */
  readonly caveats?: readonly string[];
  /** Usual counts of the series, where they were read before; read from the store if absent. */
  readonly usual?: Usual;
}

/** A series as it is read at one instant. */
export interface SeriesReading {
  readonly summary: WeatherSummary;
  /** The closed windows that it covers, on the stream's clock. */
  readonly span: Interval;
  /** Silences that overlap the span. */
  readonly silences: readonly Silence[];
  /** Since when collections that make up more than 5 % of the interactions have been silent; null where they are not. */
  readonly silentSinceUs: number | null;
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

/** Reads the summary of the 24 hours before the newest closed window. */
export function readSummary(source: SummarySource): WeatherSummary {
  return readSeries(source).summary;
}

/** Reads the 24 hours before the newest closed window. Its cost does not grow with the store. */
export function readSeries(source: SummarySource): SeriesReading {
  const { store, endpoint, origin, nowUs, caveats } = source;
  const series = store.series(endpoint.name);
  const end = closedEnd(series.live?.timeUs ?? null, nowUs);
  const span = { from: end - dayUs, to: end };
  const observed = union(store.observed(series.id, span));
  const rows = store.windows(series.id, span, collectionNames);
  const day = minutes(rows, observed, span.from, windowsPerDay, collectionNames.length);
  const usual = source.usual ?? storedUsual(store, series.id);
  const silences = findSilences({
    minutes: day,
    usual,
    edges: (startUs, collection) => store.edges(series.id, startUs, collection),
    standing: store.silences(series.id, { from: span.from, to: span.from + 1 }),
  });
  const times = collectionTimes(day, observed, silences);
  const shares = interactionShares(times);
  const silent = silentShares({ silences, shares, usual });
  const summary = summarise({
    endpoint: endpoint.name,
    wire: endpoint.wire,
    caveats: caveats ?? [],
    origin,
    nowUs,
    minutes: day,
    observed,
    silences,
    times,
    conditions: readConditions({
      minutes: day.slice(-conditionWindows).map((minute) => ({
        ...minute,
        rate: rateOf(minute, placesInDay),
        silent: minute.eligible && silent.isSilent(minute),
      })),
      ...historyOf(store, series.id, shares),
      nowUs,
    }),
  });
  return { summary, span, silences, silentSinceUs: silent.since(end) };
}

const placesInDay = interactions.map((name) => collectionNames.indexOf(name));

/** History of the hour of a window: the same hour of earlier days. Reads each hour once. */
function historyOf(
  store: WindowStore,
  series: number,
  shares: Shares,
): Pick<ConditionInput, 'baseline' | 'comparableDays'> {
  const known = new Map<number, { readonly days: number; readonly baseline: HourBaseline | null }>();
  const places = interactions.map((_, i) => i);
  const of = (startUs: number) => {
    // The window's own hour is left out: a burst must not raise the level that it is held against.
    const hour = startUs - (startUs % hourUs);
    const found = known.get(hour);
    if (found !== undefined) return found;
    const silences = store.silences(series, spanBefore(hour)).filter(shares.matters);
    const days = earlierDays(store, series, hour, interactions).map((day) =>
      day.filter((minute) => minute.eligible && !isWithin(minute, silences)).map((minute) => rateOf(minute, places)),
    );
    const history = { days: comparableDays(days), baseline: hourBaseline(days) };
    known.set(hour, history);
    return history;
  };
  return { baseline: (startUs) => of(startUs).baseline, comparableDays: (startUs) => of(startUs).days };
}

/** Interactions per observed second; 0 where nothing was watched, which no comparison reads. */
function rateOf({ counts, observedUs }: Minute, places: readonly number[]): number {
  if (observedUs === 0) return 0;
  return places.reduce((sum, place) => sum + (counts[place] ?? 0), 0) / (observedUs / 1_000_000);
}
