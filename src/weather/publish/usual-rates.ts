import { hoursLimits } from '../../artifact/hours/hours.ts';
import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import { uncountedSpans } from '../silence/usual.ts';
import type { HourSums, Silence } from '../window/store-schema.ts';
import { coverage, dayUs, hourUs, type Interval, minuteRule, percentile, union } from '../window/window.ts';
import { keptDays, type WindowStore } from '../window/window-store.ts';
import { bearable, interactions } from './silent-shares.ts';

/** Usual rate of an hour: the range of 8 of 10 earlier hours at the same time of day, in events per observed second. */
interface UsualRate {
  readonly low: number;
  readonly high: number;
  /** Number of earlier hours from which the range was computed. */
  readonly days: number;
}

/** Whole hours of a series, with which the hours of a file are compared. */
interface WholeHours {
  /** Events per second of each hour that can be compared, by start. */
  readonly rates: ReadonlyMap<number, number>;
  /** Share of all events that each collection has, from 0 to 1. */
  readonly shares: ReadonlyMap<CollectionName, number>;
}

/** The hours of a file that are compared: their span, their sums by start, and the silences that overlap them. */
interface ComparedHours {
  readonly span: Interval;
  readonly hours: number;
  readonly sums: ReadonlyMap<number, HourSums>;
  readonly silences: readonly Silence[];
}

/**
 * Creates a function that returns the usual rate of each hour of an hours file. Whole hours are compared with whole
 * hours: an hour counts only if it was observed entirely, and never for itself. An hour that may lack many of its
 * events does not count and has no usual rate. The rates of a series are read once per hour, so a backfill or a
 * silence of an earlier hour takes effect in the next hour.
 */
export function usualRates() {
  const known = new Map<string, { readonly fromUs: number; readonly whole: WholeHours }>();
  return (
    store: WindowStore,
    { id, name }: { readonly id: number; readonly name: string },
    { span, hours, sums, silences }: ComparedHours,
  ): ((startUs: number) => UsualRate | null) => {
    const found = known.get(name);
    const whole = found?.fromUs === span.from ? found.whole : readWholeHours(store, id, span.from);
    known.set(name, { fromUs: span.from, whole });
    const isSilent = silentHours(silences, whole.shares, span.from, hours);
    return (startUs) =>
      sums.get(startUs)?.isCompacted === true || isSilent(startUs) ? null : usualOf(whole.rates, startUs);
  };
}

/** Reads the entirely observed hours that earlier days can contribute to the hours of a file from `fromUs`. */
function readWholeHours(store: WindowStore, series: number, fromUs: number): WholeHours {
  const hours = keptDays * 24 + hoursLimits.hours;
  const span = { from: fromUs - keptDays * dayUs, to: fromUs + hoursLimits.hours * hourUs };
  const sums = new Map(store.hourSums(series, span, collectionNames).map((sum) => [sum.startUs, sum]));
  const watched = [...coverage(union(store.observed(series, span)), span.from, hourUs, hours)];
  const whole = watched.flatMap((watchedUs, at): HourSums[] => {
    const startUs = span.from + at * hourUs;
    return watchedUs < hourUs ? [] : [sums.get(startUs) ?? { startUs, events: 0, isCompacted: false, counts: [] }];
  });
  const silences = store.silences(series, span);
  const unobserved = [...uncountedSpans(store.countedSince(series)), ...silences];
  const shares = new Map(
    collectionNames.map((collection, place) => {
      const isUnobserved = overlaps(unobserved, collection, span.from, hours);
      const counted = whole.filter(({ startUs }) => !isUnobserved(startUs));
      return [collection, shareOf(collection, place, counted)];
    }),
  );
  const isSilent = silentHours(silences, shares, span.from, hours);
  const comparable = whole.filter(({ startUs, isCompacted }) => !isCompacted && !isSilent(startUs));
  return { rates: new Map(comparable.map(({ startUs, events }) => [startUs, events / (hourUs / 1_000_000)])), shares };
}

/** Returns a collection's share of the events. Interactions that were never observed could be most of the events. */
function shareOf(collection: CollectionName, place: number, hours: readonly HourSums[]): number {
  const events = hours.reduce((sum, hour) => sum + hour.events, 0);
  if (events === 0) return interactions.includes(collection) ? 1 : 0;
  return hours.reduce((sum, { counts }) => sum + (counts[place] ?? 0), 0) / events;
}

/** Returns a predicate that is true for an hour in which collections with more than 5 % of all events were silent. */
function silentHours(
  silences: readonly Silence[],
  shares: ReadonlyMap<CollectionName, number>,
  fromUs: number,
  hours: number,
): (startUs: number) => boolean {
  const silent = [...new Set(silences.map(({ collection }) => collection))].map((collection) => {
    return { share: shares.get(collection) ?? 0, isWithin: overlaps(silences, collection, fromUs, hours) };
  });
  return (startUs) => silent.reduce((sum, { share, isWithin }) => sum + (isWithin(startUs) ? share : 0), 0) > bearable;
}

/** Returns a predicate that is true for an hour that overlaps one of a collection's spans. */
function overlaps(
  spans: readonly Silence[],
  collection: CollectionName,
  fromUs: number,
  hours: number,
): (startUs: number) => boolean {
  const own = spans.filter((span) => span.collection === collection);
  const overlapped = coverage(union(own), fromUs, hourUs, hours);
  return (startUs) => (overlapped[(startUs - fromUs) / hourUs] ?? 0) > 0;
}

function usualOf(rates: ReadonlyMap<number, number>, startUs: number): UsualRate | null {
  const earlier: number[] = [];
  for (let day = 1; day <= keptDays; day += 1) {
    const rate = rates.get(startUs - day * dayUs);
    if (rate !== undefined) earlier.push(rate);
  }
  if (earlier.length < minuteRule.minDays) return null;
  const sorted = Float64Array.from(earlier).sort();
  return { low: percentile(sorted, 0.1), high: percentile(sorted, 0.9), days: earlier.length };
}
