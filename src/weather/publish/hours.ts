import { hoursLimits, limitGaps } from '../../artifact/hours/hours.ts';
import type { WeatherHourSeries, WeatherHours } from '../../artifact/hours/weather-hours.ts';
import { formatTimestamp } from '../../contract/timestamp.ts';
import { type CollectionName, collectionNames, type Origin, type WeatherGapReason } from '../../contract/vocabulary.ts';
import { uncountedSpans } from '../silence/usual.ts';
import type { Endpoint } from '../window/endpoint.ts';

import type { HourSums, Silence } from '../window/store-schema.ts';
import { coverage, hourUs, type Interval, union, without } from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';
import { closedEnd } from './read-summary.ts';
import { usualRates } from './usual-rates.ts';

/** Inputs for building the hours file. */
interface HoursSource {
  readonly store: WindowStore;
  /** Every series whose counts are stored. The series of two hosts or two protocols are never summed. */
  readonly endpoints: readonly Pick<Endpoint, 'name' | 'wire'>[];
  /** Name of the series of the current summary. */
  readonly published: string;
  readonly origin: Origin;
  /** Time of this machine's wall clock, in microseconds. */
  readonly nowUs: number;
  /** Returns the silences of a series that overlap the span. By default, they are those of the store. */
  readonly silences?: (series: number, span: Interval) => readonly Silence[];
}

/** Reads the hours file's content. Remembers the collections that each series has sent. */
interface HoursReader {
  /** Reads the last 72 hours. The caller must read the summary first, because reading it finds the silences. */
  read(source: HoursSource): WeatherHours;
}

/** Creates a reader of the hours file. */
export function createHoursReader(): HoursReader {
  const seen = new Map<string, Set<CollectionName>>();
  const usual = usualRates();
  return {
    read: (source) => ({
      schema: 'weather.hours.v1',
      generated_at: instant(source.nowUs),
      origin: source.origin,
      series: source.endpoints.map((endpoint) => readSeries(source, endpoint, { seen, usual })),
    }),
  };
}

/** The closed time of a series that the hours file covers. */
interface SeriesTime {
  readonly span: Interval;
  readonly hours: number;
  /** Observed spans within the closed minutes, sorted and disjoint. */
  readonly observed: readonly Interval[];
}

function readSeries(
  { store, published, nowUs, silences: silencesOf = store.silences }: HoursSource,
  { name, wire }: Pick<Endpoint, 'name' | 'wire'>,
  { seen, usual }: { readonly seen: Map<string, Set<CollectionName>>; readonly usual: ReturnType<typeof usualRates> },
): WeatherHourSeries {
  const { id, live } = store.series(name);
  const end = closedEnd(live?.timeUs ?? null, nowUs);
  const lastStart = Math.ceil(end / hourUs) * hourUs - hourUs;
  const span = { from: lastStart - (hoursLimits.hours - 1) * hourUs, to: end };
  const outside = [{ from: span.to, to: Number.POSITIVE_INFINITY }];
  const observed = without(union(store.observed(id, span)), [{ from: 0, to: span.from }, ...outside]);
  const time: SeriesTime = { span, hours: hoursLimits.hours, observed };
  const sums = new Map(store.hourSums(id, span, collectionNames).map((hour) => [hour.startUs, hour]));
  const countedSince = store.countedSince(id);
  const since = store.observedSince(id);
  const unseen = neverSeen(store, { id, name }, sums, seen);
  const silences = silencesOf(id, span);
  const unobserved = [...uncountedSpans(countedSince), ...silences];
  const limited = limitGaps(gapsOf(time, { countedSince, unseen, silences }), hoursLimits.seriesGaps);
  return {
    ...{ endpoint: name, wire, published: name === published, through: instant(end) },
    observed_since: since === null ? null : endInstant(since),
    hours: hoursOf(time, sums, usual(store, { id, name }, { ...time, sums, silences })),
    collections: Object.fromEntries(
      collectionNames.map((collection, place) => {
        const own = unobserved.filter((span) => span.collection === collection);
        const uncounted = uncountedEvents(store, id, collection, countedSince);
        const watched = unseen.has(collection) ? [] : without(observed, union(own));
        return [collection, collectionHours({ ...time, observed: watched }, sums, { place, uncounted })];
      }),
    ),
    gaps: limited.gaps.map(({ from, to, reason, collection }) => {
      return { start: instant(from), end: endInstant(to), reason, collection };
    }),
    gap_overflow: limited.overflow,
  };
}

function hoursOf(
  { span, hours, observed }: SeriesTime,
  sums: ReadonlyMap<number, HourSums>,
  usualAt: ReturnType<ReturnType<typeof usualRates>>,
) {
  return Array.from(coverage(observed, span.from, hourUs, hours), (watchedUs, i) => {
    const startUs = span.from + i * hourUs;
    return {
      start: instant(startUs),
      complete: startUs + hourUs <= span.to,
      observed_seconds: watchedUs / 1_000_000,
      events: counted(sums.get(startUs)?.events ?? 0, watchedUs),
      usual: usualAt(startUs),
    };
  });
}

/**
 * A collection, identified by its index, with the counts to subtract from its hourly sums, keyed by the start of the
 * hour.
 */
interface OwnCounts {
  readonly place: number;
  readonly uncounted: ReadonlyMap<number, number>;
}

function collectionHours(
  { span, hours, observed }: SeriesTime,
  sums: ReadonlyMap<number, HourSums>,
  { place, uncounted }: OwnCounts,
): NonNullable<WeatherHourSeries['collections'][CollectionName]> {
  const watched = [...coverage(observed, span.from, hourUs, hours)];
  return {
    events: watched.map((watchedUs, i) => {
      const startUs = span.from + i * hourUs;
      const events = (sums.get(startUs)?.counts[place] ?? 0) - (uncounted.get(startUs) ?? 0);
      return counted(events, watchedUs);
    }),
    observed_seconds: watched.map((watchedUs) => watchedUs / 1_000_000),
  };
}

/** Returns the count, or null instead of 0 if nothing was observed. */
function counted(events: number, watchedUs: number): number | null {
  return watchedUs === 0 && events === 0 ? null : events;
}

/**
 * Returns the number of a collection's events in the hour in which its counting began, up to the time at which it
 * began. The key is the start of the hour.
 */
function uncountedEvents(
  store: WindowStore,
  series: number,
  collection: CollectionName,
  countedSince: ReadonlyMap<CollectionName, number>,
): ReadonlyMap<number, number> {
  const sinceUs = countedSince.get(collection);
  if (sinceUs === undefined) return new Map();
  const from = sinceUs - (sinceUs % hourUs);
  const events = store.countsOf(series, { from, to: sinceUs }, collection).reduce((sum, { count }) => sum + count, 0);
  return new Map([[from, events]]);
}

/**
 * Returns the collections for which the series has no event. A collection that has been seen once is not searched for
 * again.
 */
function neverSeen(
  store: WindowStore,
  { id, name }: { readonly id: number; readonly name: string },
  sums: ReadonlyMap<number, HourSums>,
  seen: Map<string, Set<CollectionName>>,
): ReadonlySet<CollectionName> {
  const isFirst = !seen.has(name);
  const known = seen.get(name) ?? new Set();
  seen.set(name, known);
  for (const [place, collection] of collectionNames.entries()) {
    if (known.has(collection)) continue;
    const isRecent = [...sums.values()].some(({ counts }) => (counts[place] ?? 0) > 0);
    if (isRecent || (isFirst && store.hasEvents(id, collection))) known.add(collection);
  }
  return new Set(collectionNames.filter((collection) => !known.has(collection)));
}

interface Gap extends Interval {
  readonly key: string;
  readonly reason: WeatherGapReason;
  readonly collection: CollectionName | null;
}

interface CollectionGaps {
  readonly countedSince: ReadonlyMap<CollectionName, number>;
  readonly unseen: ReadonlySet<CollectionName>;
  readonly silences: readonly Silence[];
}

/** Returns the gaps of the closed minutes. The gaps of a collection may overlap those of the series. */
function gapsOf({ span, observed }: SeriesTime, { countedSince, unseen, silences }: CollectionGaps): Gap[] {
  const gap = (reason: WeatherGapReason, collection: CollectionName | null, interval: Interval): Gap => {
    const { from, to } = interval;
    const own = { from: Math.max(from, span.from), to: Math.min(to, span.to) };
    return { ...own, key: `${collection ?? ''} ${reason}`, reason, collection };
  };
  return [
    ...without([span], observed).map((one) => gap('not_observed', null, one)),
    ...silences.map((one) => gap('silent', one.collection, one)),
    ...uncountedSpans(countedSince).map((one) => gap('not_counted', one.collection, one)),
    ...[...unseen].map((collection) => gap('never_seen', collection, span)),
  ].filter(({ from, to }) => from < to);
}

function instant(us: number): string {
  return formatTimestamp(Math.floor(us / 1000));
}

/** Formats the end of an unobserved time. It is rounded up, so that no unobserved time appears as observed. */
function endInstant(us: number): string {
  return formatTimestamp(Math.ceil(us / 1000));
}
