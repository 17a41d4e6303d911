import { type ConditionState, type Confidence, collectionNames } from '../../contract/vocabulary.ts';
import type { CollectionTime } from '../silence/silence.ts';
import { earlierDays, spanBefore, type Usual, uncountedSpans } from '../silence/usual.ts';
import type { Silence } from '../window/store-schema.ts';
import {
  hourUs,
  isWithin,
  type Minute,
  minuteRule,
  percentile,
  variation,
  windowFlag,
  windowUs,
} from '../window/window.ts';
import type { WindowStore } from '../window/window-store.ts';
import { interactionShares, interactions, type Shares, silentShares } from './silent-shares.ts';

/** Thresholds of the conditions. The method page publishes them. */
export const thresholds = {
  /** Maximum age of the newest usable window, in windows. If it is older, the station is offline. */
  offlineWindows: 15,
  /**
   * Share of the median of this hour's history. If the level stays below it, the conditions become unavailable, because
   * events may be missing.
   */
  lastingShare: 0.5,
  /** Number of consecutive windows below `lastingShare` after which the conditions are unavailable. */
  lastingWindows: 10,
  /** Number of windows after the start of a connection in which no lull is reported. */
  settlingWindows: 10,
  lullWindows: 3,
  /** Maximum level of a lull, as a share of the 5th percentile. */
  lullShare: 0.95,
  /** Minimum level of a severe storm, as a multiple of the median of this hour's history. */
  severeTimes: 3,
  /** Numbers of consecutive windows that must exceed the 75th percentile, by state. */
  severeWindows: 3,
  stormWindows: 2,
  turbulentWindows: 2,
  /** Number of minutes over which unevenness is measured. */
  turbulenceMinutes: 10,
  /** Minimum number of days of history for a fully supported comparison. */
  supportedDays: 20,
} as const;
const {
  offlineWindows,
  lastingShare,
  lastingWindows,
  settlingWindows,
  lullWindows,
  lullShare,
  turbulenceMinutes,
  supportedDays,
} = thresholds;

/** Number of minutes that determine the conditions. */
const conditionWindows = 30;

/** A series at one time, with the minutes of its last day. */
interface ConditionSource {
  readonly store: WindowStore;
  /** Id of the series. */
  readonly series: number;
  /** Consecutive closed minutes, with counts in the order of `collectionNames`. */
  readonly minutes: readonly Minute[];
  readonly times: readonly CollectionTime[];
  readonly silences: readonly Silence[];
  readonly usual: Usual;
  readonly nowUs: number;
}

/**
 * Classifies the conditions of a series. `silentSinceUs` is the start of the present silence of collections that make up
 * more than 5 % of the interactions, and `silentUntilUs` the latest end of such a silence. Both are in microseconds, or
 * null if there is no such silence.
 */
export function seriesConditions({ store, series, minutes, times, silences, usual, nowUs }: ConditionSource) {
  const newest = minutes.at(-1);
  const shares = interactionShares(times, newest ? usual.hour(newest.startUs).p50 : []);
  const silent = silentShares(silences, shares, usual);
  const conditions = readConditions({
    minutes: minutes.slice(-conditionWindows).map((minute) => ({
      ...minute,
      rate: rateOf(minute, placesInDay),
      silent: minute.eligible && silent.isSilent(minute),
    })),
    ...historyOf(store, series, shares),
    nowUs,
  });
  const silentSinceUs = newest ? silent.since(newest.startUs + windowUs) : null;
  return { conditions, silentSinceUs, silentUntilUs: silent.until() };
}

/** One minute of the stream, as input of the conditions. */
export interface ConditionMinute {
  readonly startUs: number;
  /** Interactions per observed second. */
  readonly rate: number;
  readonly eligible: boolean;
  readonly complete: boolean;
  readonly flags: number;
  /**
   * True if collections that usually make up more than 5 % of the interactions had no events, so that the rate does not
   * represent the network.
   */
  readonly silent: boolean;
}

/** The classified conditions, before they are formatted as text. */
export interface ConditionReading {
  readonly state: ConditionState;
  readonly confidence: Confidence;
  /** End of the classified window, in microseconds, or null if none was classified. */
  readonly asOfUs: number | null;
  /** Ratio of the level to the median of this hour's history, or null if there is no history. */
  readonly ratio: number | null;
  readonly days: number;
  /**
   * Number of earlier days that can be compared with the newest hour, if this number is too small for a baseline;
   * otherwise null.
   */
  readonly shortOfDays: number | null;
}

/** Inputs of the classification. */
interface ConditionInput {
  /** Consecutive closed minutes, the newest last. */
  readonly minutes: readonly ConditionMinute[];
  /**
   * Returns the baseline for the UTC hour of the window that starts at `startUs`, or null if there is too little
   * history.
   */
  readonly baseline: (startUs: number) => HourBaseline | null;
  /** Returns the number of earlier days that are comparable in the UTC hour of the window that starts at `startUs`. */
  readonly comparableDays: (startUs: number) => number;
  readonly nowUs: number;
}

/**
 * Classifies the newest eligible minute by comparing it with the same UTC hour of earlier days, and returns the first
 * state that applies. Data that cannot be compared is `unavailable`, and missing data is `station_offline`; neither is
 * ever reported as calm.
 */
export function readConditions(input: ConditionInput): ConditionReading {
  const { minutes, comparableDays, nowUs } = input;
  const days = comparableDays(minutes.at(-1)?.startUs ?? nowUs);
  return { ...readState(input), shortOfDays: days < minuteRule.minDays ? days : null };
}

function readState({ minutes, baseline, nowUs }: ConditionInput): Omit<ConditionReading, 'shortOfDays'> {
  const newest = minutes.findLastIndex(({ eligible }) => eligible);
  const minute = minutes[newest];
  const none = { confidence: 'unsupported', asOfUs: null, ratio: null, days: 0 } as const;
  if (!minute) return { ...none, state: minutes.some(isRecent(nowUs)) ? 'unavailable' : 'station_offline' };
  const asOfUs = minute.startUs + windowUs;
  if (nowUs - asOfUs > offlineWindows * windowUs) return { ...none, state: 'station_offline', asOfUs };
  if (minute.silent) return { ...none, state: 'unavailable', asOfUs };
  const hour = baseline(minute.startUs);
  if (!hour || !(hour.p50 > 0)) return { ...none, state: 'unavailable', asOfUs };
  const recent = minutes.slice(0, newest + 1);
  return {
    state: ladder(recent, minute, hour, baseline),
    confidence: hour.support,
    asOfUs,
    ratio: minute.rate / hour.p50,
    days: hour.days,
  };
}

/** Returns a predicate that is true for a recent minute with at least one counted interaction. */
function isRecent(nowUs: number): (minute: ConditionMinute) => boolean {
  return ({ startUs, rate }) => nowUs - startUs <= (offlineWindows + 1) * windowUs && rate > 0;
}

function ladder(
  recent: readonly ConditionMinute[],
  { rate }: ConditionMinute,
  hour: HourBaseline,
  baseline: ConditionInput['baseline'],
): ConditionState {
  const inARow = (wanted: (minute: ConditionMinute, usual: HourBaseline) => boolean): number => {
    let windows = 0;
    for (const minute of recent.toReversed()) {
      const usual = minute.eligible && !minute.silent ? baseline(minute.startUs) : null;
      if (!usual || !wanted(minute, usual)) break;
      windows += 1;
    }
    return windows;
  };
  if (inARow((minute, usual) => minute.rate < usual.p50 * lastingShare) >= lastingWindows) return 'unavailable';
  if (inARow((minute, usual) => minute.rate < usual.p05 * lullShare) >= lullWindows) {
    return canSayLull(recent) ? 'lull' : 'unavailable';
  }
  const persistence = inARow((minute, usual) => minute.rate > usual.p75);
  const uneven = turbulence(recent);
  const turbulent = uneven !== null && hour.turbulenceP95 !== null && uneven > hour.turbulenceP95;
  const { severeTimes, severeWindows, stormWindows, turbulentWindows } = thresholds;
  if (rate > hour.p95 && rate >= severeTimes * hour.p50 && persistence >= severeWindows) return 'severe_storm';
  if (rate > hour.p95 && persistence >= stormWindows) return 'storm';
  if ((rate > hour.p75 || turbulent) && persistence >= turbulentWindows) return 'turbulent';
  if (turbulent || rate > hour.p95) return 'unsettled';
  if (rate > hour.p75) return 'active';
  return 'calm';
}

/** Returns true if low counts may be reported as a lull, because no event was missed and the stream is settled. */
function canSayLull(recent: readonly ConditionMinute[]): boolean {
  const settled = recent.slice(-settlingWindows);
  return (
    recent.slice(-lullWindows).every(({ complete }) => complete) &&
    settled.length === settlingWindows &&
    settled.every(({ flags }) => (flags & windowFlag.seam) === 0)
  );
}

function turbulence(recent: readonly ConditionMinute[]): number | null {
  const rates = recent
    .slice(-offlineWindows)
    .filter(({ eligible, silent }) => eligible && !silent)
    .slice(-turbulenceMinutes)
    .map(({ rate }) => rate);
  return rates.length === turbulenceMinutes ? variation(rates) : null;
}

/** Usual rates in one UTC hour of the day, in interactions per observed second. */
export interface HourBaseline {
  readonly support: 'thin' | 'supported';
  readonly days: number;
  readonly p05: number;
  readonly p25: number;
  readonly p50: number;
  readonly p75: number;
  readonly p95: number;
  /** 95th percentile of the unevenness of ten consecutive minutes, or null if none was measured. */
  readonly turbulenceP95: number | null;
}

/**
 * Returns the number of earlier days that have enough comparable minutes in an hour. `days` has the same form as in
 * `hourBaseline`.
 */
function comparableDays(days: readonly (readonly number[])[]): number {
  return comparable(days).length;
}

/**
 * Computes an hour's baseline from the rates of its eligible minutes, given as one list per day. Returns null if there
 * are fewer than 7 days. Minutes are compared with minutes, never with hourly means.
 */
export function hourBaseline(days: readonly (readonly number[])[]): HourBaseline | null {
  const speaking = comparable(days);
  if (speaking.length < minuteRule.minDays) return null;
  const rates = Float64Array.from(speaking.flat()).sort();
  const turbulences = Float64Array.from(speaking.flatMap(turbulencesOf)).sort();
  return {
    support: speaking.length >= supportedDays ? 'supported' : 'thin',
    days: speaking.length,
    p05: percentile(rates, 0.05),
    p25: percentile(rates, 0.25),
    p50: percentile(rates, 0.5),
    p75: percentile(rates, 0.75),
    p95: percentile(rates, 0.95),
    turbulenceP95: turbulences.length > 0 ? percentile(turbulences, 0.95) : null,
  };
}

function comparable(days: readonly (readonly number[])[]): readonly (readonly number[])[] {
  return days.filter((rates) => rates.length >= minuteRule.minMinutes);
}

function turbulencesOf(rates: readonly number[]): number[] {
  const found: number[] = [];
  for (let end = turbulenceMinutes; end <= rates.length; end += 1) {
    const uneven = variation(rates.slice(end - turbulenceMinutes, end));
    if (uneven !== null) found.push(uneven);
  }
  return found;
}

const placesInDay = interactions.map((name) => collectionNames.indexOf(name));

/**
 * Creates a reader of the history of a window's hour, which is the same hour on earlier days. Each hour is read once.
 */
function historyOf(
  store: WindowStore,
  series: number,
  shares: Shares,
): Pick<ConditionInput, 'baseline' | 'comparableDays'> {
  const known = new Map<number, { readonly days: number; readonly baseline: HourBaseline | null }>();
  const places = interactions.map((_, i) => i);
  const uncounted = uncountedSpans(store.countedSince(series));
  const of = (startUs: number) => {
    // Exclude today's occurrence of the hour, because a burst must not raise its own baseline.
    const hour = startUs - (startUs % hourUs);
    const found = known.get(hour);
    if (found !== undefined) return found;
    const silences = [...uncounted, ...store.silences(series, spanBefore(hour))];
    const silent = interactions.flatMap((collection) => {
      const own = silences.filter((silence) => silence.collection === collection);
      return own.length === 0 ? [] : [{ collection, own }];
    });
    const isSilent = (minute: Minute): boolean =>
      shares.exceedBearable(silent.flatMap(({ collection, own }) => (isWithin(minute, own) ? [collection] : [])));
    const days = earlierDays(store, series, hour, interactions).map((day) =>
      day.filter((minute) => minute.eligible && !isSilent(minute)).map((minute) => rateOf(minute, places)),
    );
    const history = { days: comparableDays(days), baseline: hourBaseline(days) };
    known.set(hour, history);
    return history;
  };
  return { baseline: (startUs) => of(startUs).baseline, comparableDays: (startUs) => of(startUs).days };
}

/** Returns the interactions per observed second, or 0 for an unobserved minute, which no comparison uses. */
function rateOf({ counts, observedUs }: Minute, places: readonly number[]): number {
  if (observedUs === 0) return 0;
  return places.reduce((sum, place) => sum + (counts[place] ?? 0), 0) / (observedUs / 1_000_000);
}
