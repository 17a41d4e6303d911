import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import type { Edges, Silence } from '../window/store-schema.ts';
import {
  coverage,
  dayUs,
  type Interval,
  type Minute,
  median,
  percentile,
  union,
  windowUs,
  without,
} from '../window/window.ts';
import { type Usual, uncountedSpans } from './usual.ts';

/** Minimum observed time, in microseconds, for a window without an event to count as evidence. */
const watchedUs = 59_000_000;

/** Thresholds by which a collection counts as silent. */
export const silenceRule = {
  /** Minimum number of windows of a silence. */
  minWindows: 3,
  /** Minimum 5th percentile at which a collection counts as frequent, in events per minute. */
  frequentRate: 10,
  /** Number of missing events after which a frequent collection is silent. */
  missingEvents: 50,
  /** Minimum ratio of a pause to the longest earlier pause, for a silence of a collection that is not frequent. */
  pauseFactor: 6,
  /** Minimum number of windows of a silence of a collection that is not frequent. */
  minPauseWindows: 10,
  /**
   * Thresholds while there is no baseline. `pauseFactor` then applies to every collection, and to its longest pause in
   * the preceding windows.
   */
  withoutBaseline: {
    /** Number of windows (the hour before a pause) that replace the baseline. */
    hourWindows: 60,
    /** Minimum number of these windows that were observed. */
    minHourWindows: 45,
    /** Minimum number of observed windows (half a day) before a silence of a collection that is not frequent. */
    minDayWindows: 720,
    /**
     * Minimum number of windows of a silence of a collection that is not frequent. It exceeds the one with a baseline,
     * because the end of a bulk operation in a rare collection is not a silence.
     */
    minPauseWindows: 240,
  },
} as const;

/** The time before the minutes that are read, since the last event of a collection. */
export interface EarlierPause {
  /** Start of the window of the last event. */
  readonly lastEventUs: number;
  /** Returns the windows after that one, up to the minutes that are read. */
  readonly minutes: () => readonly Minute[];
}

/** Inputs of the search for silences. */
interface SilenceInput {
  /** Consecutive closed minutes, with counts in the order of `collectionNames`. */
  readonly minutes: readonly Minute[];
  readonly usual: Usual;
  /** Returns the first and last event of a collection in a window. */
  readonly edges: (startUs: number, collection: CollectionName) => Edges;
  /** Already known silences that overlap the minutes. */
  readonly standing: readonly Silence[];
  /**
   * Start of the first window in which a collection is counted. A collection without an entry has always been counted.
   */
  readonly countedSince?: ReadonlyMap<CollectionName, number>;
  /**
   * Returns the pause of a collection before the minutes, or null if no event before them is known. It is used only for
   * a collection without an event in the minutes.
   */
  readonly earlier?: (collection: CollectionName) => EarlierPause | null;
}

/**
 * Finds the times at which a collection had no events while others continued: from its last event to its next event, or
 * to the end of the minutes. The decision about a window uses no later window. docs/weather.md describes the rule and
 * its limits.
 */
export function findSilences(input: SilenceInput): Silence[] {
  return collectionNames.flatMap((collection, place) => silencesOf(input, collection, place));
}

/** Inputs of the search for the silences of one collection. */
interface Search extends SilenceInput {
  readonly collection: CollectionName;
  readonly place: number;
}

/** Consecutive windows without an event of the collection. */
interface Run {
  /** Last window before the run with an event of the collection, or null if no minute has one. */
  readonly lastEvent: Pick<Minute, 'startUs'> | null;
  /** Index of the first window of the run. */
  readonly first: number;
  /** Observed windows of the run. */
  readonly windows: Minute[];
  /** Number of observed windows before the run. */
  readonly before: number;
  /** Longest pause of the collection in the observed windows before the run. */
  readonly longest: number;
  /** Start of the silence once the silence is proven, otherwise null. */
  silentFrom: number | null;
  /** Evidence for each rule. The evidence is accumulated, so that each window is evaluated only once. */
  readonly evidence: Readonly<Record<'missing' | 'weight', { windows: number; sum: number }>>;
  /** The hour before the run. It is computed on first use. */
  lastHour: LastHour | null;
}

interface LastHour {
  readonly windows: number;
  readonly p05: number;
  readonly p50: readonly number[];
}

function newRun(run: Pick<Run, 'first' | 'lastEvent' | 'before' | 'longest' | 'silentFrom'>): Run {
  const nothing = (): { windows: number; sum: number } => ({ windows: 0, sum: 0 });
  return { ...run, windows: [], evidence: { missing: nothing(), weight: nothing() }, lastHour: null };
}

function silencesOf(input: SilenceInput, collection: CollectionName, place: number): Silence[] {
  const search = { ...input, collection, place };
  const found: Silence[] = [];
  const firstUs = input.minutes[0]?.startUs ?? 0;
  const own = input.standing.filter((silence) => silence.collection === collection);
  const stood = own.find(({ from, to }) => from <= firstUs && to > firstUs);
  let lastEvent: Minute | null = null;
  let before = 0;
  let longest = 0;
  let run: Run | null = stood ? newRun({ first: 0, lastEvent, before, longest, silentFrom: stood.from }) : null;
  const sinceUs = input.countedSince?.get(collection) ?? 0;
  for (const [i, minute] of input.minutes.entries()) {
    if (minute.startUs < sinceUs) continue;
    if ((minute.counts[place] ?? 0) > 0) {
      if (run?.silentFrom != null) found.push({ collection, from: run.silentFrom, to: firstOf(search, minute) });
      else longest = Math.max(longest, run?.windows.length ?? 0);
      before += 1 + (run?.windows.length ?? 0);
      lastEvent = minute;
      run = null;
    } else if (minute.observedUs >= watchedUs) {
      run ??= newRun({ first: i, lastEvent, before, longest, silentFrom: standingStart(search, own, lastEvent) });
      run.windows.push(minute);
      if (run.silentFrom === null && isSilent(search, run)) run.silentFrom = startOf(search, lastEvent);
    }
  }
  const end = input.minutes.at(-1);
  if (run && lastEvent === null) run.silentFrom ??= silentBefore(search, run);
  if (end && run?.silentFrom != null) found.push({ collection, from: run.silentFrom, to: end.startUs + windowUs });
  return found.filter(({ from, to }) => from < to);
}

function firstOf({ edges, collection }: Search, { startUs }: Minute): number {
  return edges(startUs, collection).firstUs ?? startUs;
}

/**
 * Returns the start of a silence. A window stored by an earlier version has no time of its last event, so the whole
 * window counts as observed.
 */
function startOf({ edges, collection, minutes, countedSince }: Search, lastEvent: Run['lastEvent']): number {
  if (!lastEvent) return Math.max(minutes[0]?.startUs ?? 0, countedSince?.get(collection) ?? 0);
  const { lastUs } = edges(lastEvent.startUs, collection);
  return lastUs === null ? lastEvent.startUs + windowUs : lastUs + 1;
}

/**
 * Returns the start of the known silence that begins after the last event, or null if there is none. Such a silence is
 * not proven again, because the minutes that proved it may precede the minutes that are read.
 */
function standingStart(search: Search, known: readonly Silence[], lastEvent: Run['lastEvent']): number | null {
  if (known.length === 0) return null;
  const start = startOf(search, lastEvent);
  return known.some(({ from }) => from === start) ? start : null;
}

/**
 * Returns the start of a silence that began before the minutes, or null if it is not proven. A collection with long
 * pauses has no event in the minutes before its silence can be proven.
 */
function silentBefore(search: Search, run: Run): number | null {
  const newest = run.windows.at(-1);
  const firstUs = search.minutes[0]?.startUs ?? 0;
  const least = newest ? leastPause(search, run, newest.startUs) : null;
  const earlier = least === null ? null : (search.earlier?.(search.collection) ?? null);
  if (!newest || least === null || earlier === null) return null;
  const { lastEventUs } = earlier;
  const isCounted = lastEventUs >= (search.countedSince?.get(search.collection) ?? 0);
  if (!isCounted || newest.startUs - lastEventUs < least * windowUs) return null;
  const lastEvent = { startUs: lastEventUs };
  const before = earlier.minutes().filter(({ observedUs }) => observedUs >= watchedUs);
  const whole: Run = { ...newRun({ ...run, lastEvent }), windows: [...before, ...run.windows] };
  // The usual counts of each hour are read once, and the minutes already include every hour of the day.
  const laterUs = (startUs: number): number => startUs + Math.ceil(Math.max(0, firstUs - startUs) / dayUs) * dayUs;
  const usual: Usual = { ...search.usual, hour: (startUs) => search.usual.hour(laterUs(startUs)) };
  return isSilent({ ...search, usual }, whole) ? startOf(search, lastEvent) : null;
}

function isSilent(search: Search, run: Run): boolean {
  const { usual, place } = search;
  const { windows } = run;
  const newest = windows.at(-1);
  if (!newest || windows.length < silenceRule.minWindows) return false;
  const usually = usual.hour(newest.startUs).p05[place] ?? null;
  if (usually !== null && usually >= silenceRule.frequentRate) {
    const missing = summed(run, 'missing', (minute) => {
      const { p05, p50 } = usual.hour(minute.startUs);
      return (p05[place] ?? 0) * levelOf(minute, place, p50);
    });
    return missing >= silenceRule.missingEvents;
  }
  const least = leastPause(search, run, newest.startUs);
  if (least === null) return usually === null && isSilentWithoutBaseline(search, run);
  if (windows.length < least) return false;
  return summed(run, 'weight', (minute) => levelOf(minute, place, usual.hour(minute.startUs).p50)) >= least;
}

/** Returns the length from which a pause of a rare collection is a silence, in windows, or null without a baseline. */
function leastPause({ usual, place }: Search, { longest }: Run, startUs: number): number | null {
  const pause = usual.pause(place, startUs);
  if (pause === null) return null;
  return Math.max(silenceRule.minPauseWindows, silenceRule.pauseFactor * Math.max(pause, longest));
}

function isSilentWithoutBaseline(search: Search, run: Run): boolean {
  const { place } = search;
  const { minHourWindows, minDayWindows, minPauseWindows } = silenceRule.withoutBaseline;
  const leastPause = silenceRule.pauseFactor * run.longest;
  run.lastHour ??= lastHourOf(search, run);
  const { windows, p05, p50 } = run.lastHour;
  if (windows < minHourWindows) return false;
  const level = (minute: Minute): number => levelOf(minute, place, p50);
  if (p05 >= silenceRule.frequentRate && run.windows.length >= leastPause) {
    return summed(run, 'missing', (minute) => p05 * level(minute)) >= silenceRule.missingEvents;
  }
  const least = Math.max(minPauseWindows, leastPause);
  if (run.before < minDayWindows || run.windows.length < least) return false;
  return summed(run, 'weight', level) >= least;
}

function lastHourOf({ minutes, place }: Search, { first }: Run): LastHour {
  const before = minutes
    .slice(Math.max(0, first - silenceRule.withoutBaseline.hourWindows), first)
    .filter(({ observedUs }) => observedUs >= watchedUs);
  return {
    windows: before.length,
    p05: percentile(Float64Array.from(before, ({ counts }) => counts[place] ?? 0).sort(), 0.05),
    p50: collectionNames.map((_, other) => median(before.map(({ counts }) => counts[other] ?? 0))),
  };
}

function summed(run: Run, rule: keyof Run['evidence'], of: (minute: Minute) => number): number {
  const evidence = run.evidence[rule];
  for (const minute of run.windows.slice(evidence.windows)) evidence.sum += of(minute);
  evidence.windows = run.windows.length;
  return evidence.sum;
}

/**
 * Returns the level of the other collections in a minute, from 0 to 1. It is the median ratio of count to usual count
 * over the frequent collections that are not silent. Returns 0 without such collections, because nothing then proves
 * that the stream continues.
 */
function levelOf({ counts }: Minute, place: number, p50: readonly (number | null)[]): number {
  const levels = p50.flatMap((usual, other) => {
    const count = counts[other] ?? 0;
    return other === place || usual === null || usual < silenceRule.frequentRate || count === 0
      ? []
      : [Math.min(1, count / usual)];
  });
  return levels.length === 0 ? 0 : median(levels);
}

/** Count and observed time of one collection. The observed time excludes the silences of the collection. */
export interface CollectionTime {
  readonly total: number;
  readonly observedUs: number;
  readonly observedWindows: number;
}

/**
 * Returns the counts and observed time of each collection in the minutes, in the order of `collectionNames`. Windows
 * before a collection was first counted are excluded from both.
 */
export function collectionTimes(
  minutes: readonly Minute[],
  observed: readonly Interval[],
  silences: readonly Silence[],
  countedSince: ReadonlyMap<CollectionName, number> = new Map(),
): CollectionTime[] {
  const unobserved = [...uncountedSpans(countedSince), ...silences];
  const whole = Float64Array.from(minutes, ({ observedUs }) => observedUs);
  return collectionNames.map((collection, place) => {
    const own = unobserved.filter((silence) => silence.collection === collection);
    const sinceUs = countedSince.get(collection) ?? 0;
    const startUs = minutes[0]?.startUs ?? 0;
    const watched =
      own.length === 0 ? whole : coverage(without(observed, union(own)), startUs, windowUs, minutes.length);
    return {
      total: minutes.reduce((sum, minute) => sum + (minute.startUs < sinceUs ? 0 : (minute.counts[place] ?? 0)), 0),
      observedUs: watched.reduce((sum, us) => sum + us, 0),
      observedWindows: watched.filter((us) => us > 0).length,
    };
  });
}
