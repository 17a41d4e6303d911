import { collectionNames } from '../../contract/vocabulary.ts';
import { metricNames } from '../classify/metric-names.ts';

/** Width of a window: 60 s on the stream's clock, half open, aligned to the UTC minute. */
export const windowUs = 60_000_000;
/** Length of a day, in microseconds. */
export const dayUs = 86_400_000_000;
/** Maximum time by which an event may be ahead of this machine's clock without being rejected, in microseconds. */
export const futureUs = 60_000_000;
/** Number of windows of a day. */
export const windowsPerDay = 1440;
/** Length of an hour, in microseconds. */
export const hourUs = 60 * windowUs;

/** Returns the start of the window that contains `timeUs`. Both are in microseconds of the stream's clock. */
export function windowStart(timeUs: number): number {
  return timeUs - (timeUs % windowUs);
}

/** Flags that qualify a window's counts, as bits of one integer. */
export const windowFlag = {
  /** A connection began in the window. */
  seam: 1,
  /** Events of the window came more than two minutes late, because the host replayed them from its history. */
  replayed: 2,
  /**
   * Events of the window came so late that the host may have compacted its history, or a replay lacked numbers. The
   * window is excluded from the baseline.
   */
  compacted: 4,
  /** Events before the position arrived while the window was current. They were not counted. */
  lateOrRepeat: 8,
  /** A replay reached the present in the window: the host may have lost or reordered events. */
  possibleLoss: 16,
  /** Unreadable frames arrived in the window. */
  malformed: 32,
  /** The host omitted numbers between events of the window, because of hidden rows or loss. */
  leftOut: 64,
} as const;

/**
 * Counts of one window since the last commit. All values are numbers of a closed set of metrics, so they cannot contain
 * an identity.
 */
export interface WindowDelta {
  /** Start of the window, in microseconds of the stream's clock. */
  readonly start: number;
  events: number;
  lateOrRepeat: number;
  malformed: number;
  flags: number;
  /**
   * Number of rows that repeat a repository after a `sync`. They are not actions of an account, and `events` does not
   * include them.
   */
  resync: number;
  /**
   * Number of event numbers that the host omitted on a live connection, because events were lost or numbers were never
   * used.
   */
  leftOut: number;
  /** Counts in the order of `metricNames`. */
  readonly counts: Uint32Array;
  /**
   * Time of the first event of each published collection, in the order of `collectionNames`: one more than the number
   * of microseconds since the start of the window, or 0 if unknown.
   */
  readonly firsts: Uint32Array;
  /** Time of the last event of each published collection, in the same form as `firsts`. */
  readonly lasts: Uint32Array;
}

const published: readonly string[] = collectionNames;
/**
 * Index in `collectionNames` of each metric, in the order of `metricNames`, or -1 for a metric that is not published.
 */
const placeOfMetric = Int8Array.from(metricNames, (name) => published.indexOf(name));

/** Counts an event of a metric at `timeUs`, which lies in the window unless the event's own time is unusable. */
export function countMetric({ start, counts, firsts, lasts }: WindowDelta, metric: number, timeUs: number): void {
  counts[metric] = (counts[metric] ?? 0) + 1;
  const place = placeOfMetric[metric] ?? -1;
  if (place < 0) return;
  const at = Math.min(Math.max(timeUs - start, 0), windowUs - 1) + 1;
  const first = firsts[place] ?? 0;
  if (first === 0 || at < first) firsts[place] = at;
  if (at > (lasts[place] ?? 0)) lasts[place] = at;
}

/** Creates the counts of a window, all zero. */
export function emptyDelta(start: number): WindowDelta {
  return {
    start,
    events: 0,
    lateOrRepeat: 0,
    malformed: 0,
    flags: 0,
    resync: 0,
    leftOut: 0,
    counts: new Uint32Array(metricNames.length),
    firsts: new Uint32Array(collectionNames.length),
    lasts: new Uint32Array(collectionNames.length),
  };
}

/** An interval of the stream's clock in microseconds: `from` inclusive, `to` exclusive. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Returns the union of intervals, sorted and disjoint. Adjacent intervals are merged. */
export function union(intervals: readonly Interval[]): Interval[] {
  const sorted = intervals.filter(({ from, to }) => to > from).sort((a, b) => a.from - b.from);
  const joined: { from: number; to: number }[] = [];
  for (const { from, to } of sorted) {
    const last = joined.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else joined.push({ from, to });
  }
  return joined;
}

/** Returns the parts of sorted, disjoint intervals that no interval in `cuts` covers. */
export function without(intervals: readonly Interval[], cuts: readonly Interval[]): Interval[] {
  const sorted = union(cuts);
  return intervals.flatMap((interval) => {
    const parts: Interval[] = [];
    let { from } = interval;
    for (const cut of sorted) {
      if (cut.to <= from || cut.from >= interval.to) continue;
      if (cut.from > from) parts.push({ from, to: cut.from });
      from = cut.to;
    }
    return from < interval.to ? [...parts, { from, to: interval.to }] : parts;
  });
}

/**
 * Divides the time from `start` into `spans` spans of `width` microseconds, and returns the covered length of each.
 * The intervals must be sorted and disjoint, as `union` returns them. If an interval crosses several spans, each span
 * includes only the part within that span.
 */
export function coverage(intervals: readonly Interval[], start: number, width: number, spans: number): Float64Array {
  const covered = new Float64Array(spans);
  const end = start + spans * width;
  for (const interval of intervals) {
    const to = Math.min(interval.to, end);
    let from = Math.max(interval.from, start);
    while (from < to) {
      const span = Math.floor((from - start) / width);
      const edge = Math.min(to, start + (span + 1) * width);
      covered[span] = (covered[span] ?? 0) + edge - from;
      from = edge;
    }
  }
  return covered;
}

/**
 * Maximum number of interruptions in one window. After the last, a span has a place of its own only if it continues in
 * the next window.
 */
const maxBreaksPerWindow = 16;

/**
 * Observed spans of the stream's clock that `take` has not returned yet, in microseconds. Frequent interruptions
 * cannot create many spans: after the last permitted interruption of a window, a span that ends in the window only makes
 * the last kept span longer. The observed time of the window is then exact, and its place within the window is not.
 */
export class ObservedSpans {
  #closed: { from: number; to: number }[] = [];
  #from = 0;
  #to = 0;
  #window = 0;
  #breaks = 0;
  /** End of the last kept span, with the lengths that were added to it. It is never later than `#seenTo`. */
  #keptTo = 0;
  /** Latest end of all spans before the current one. */
  #seenTo = 0;

  /** End of the current span, exclusive. */
  get to(): number {
    return this.#to;
  }

  /** Number of spans that `take` returns in addition to the current one. */
  get size(): number {
    return this.#closed.length;
  }

  /** Ends the current span and starts one at an event. */
  open(from: number): void {
    // After a step back, the last kept span may be in a later window, which must not become longer.
    const isKeptHere = windowStart(this.#keptTo - 1) === this.#window;
    if (!this.#close() && isKeptHere) this.#keep(this.#keptTo, this.#keptTo + this.#to - this.#from);
    this.#seenTo = Math.max(this.#seenTo, this.#to);
    const window = windowStart(from);
    if (window !== this.#window) {
      this.#window = window;
      this.#breaks = 0;
    }
    this.#breaks += 1;
    // Only the length of such a span may be kept. Time that it shares with earlier spans must not count again. If those
    // reach a later window, the length is not kept, and the span must not lose the time that continues there.
    const isShared = this.#breaks > maxBreaksPerWindow && windowStart(this.#seenTo - 1) === window;
    this.#from = isShared ? Math.max(from, this.#seenTo) : from;
    this.#to = from;
  }

  /** Continues the current span up to an event, inclusive. */
  extend(timeUs: number): void {
    this.#to = timeUs + 1;
  }

  /** Returns the spans since the last call, sorted and disjoint, and clears them. The current span continues. */
  take(): Interval[] {
    if (this.#close()) this.#from = this.#to;
    const spans = union(this.#closed);
    this.#closed = [];
    return spans;
  }

  /**
   * Keeps the current span in its place and returns true. Returns false without keeping the span if its window has had
   * too many interruptions and the span does not yet continue in the next window.
   */
  #close(): boolean {
    if (this.#breaks > maxBreaksPerWindow && windowStart(this.#to - 1) === this.#window) return false;
    this.#keep(this.#from, this.#to);
    return true;
  }

  #keep(from: number, to: number): void {
    if (to <= from) return;
    const last = this.#closed.at(-1);
    if (last?.to === from) last.to = to;
    else this.#closed.push({ from, to });
    this.#keptTo = Math.max(this.#keptTo, to);
  }
}

/** One row of a stored window. */
export interface WindowRow {
  readonly startUs: number;
  readonly events: number;
  readonly lateOrRepeat: number;
  readonly malformed: number;
  readonly flags: number;
  readonly resync: number;
  readonly leftOut: number;
  /** Counts of the requested columns, in their order. */
  readonly counts: readonly number[];
}

/** Flags of windows that may lack events that the host sent. */
const lossFlags = windowFlag.lateOrRepeat | windowFlag.possibleLoss | windowFlag.malformed;

/** Minimum of observed time by which a minute or an earlier day is compared. */
export const minuteRule = {
  /** Minimum observed time of a minute that may be compared with others, in microseconds. */
  eligibleUs: 59_000_000,
  /** Maximum share of uncounted events in a minute that may be compared with others. */
  maxUncounted: 0.01,
  /** Minimum number of days of history for a comparison. */
  minDays: 7,
  /** Minimum number of comparable minutes that a day needs in an hour to be included. */
  minMinutes: 10,
};

/** One closed window of the history, observed or not. */
export interface Minute {
  readonly startUs: number;
  /** Observed part of the minute, in microseconds. */
  readonly observedUs: number;
  readonly events: number;
  readonly flags: number;
  readonly resync: number;
  readonly leftOut: number;
  /** Counts of the requested metrics, in their order. They are zero if no event was counted. */
  readonly counts: readonly number[];
  /** True if the minute was observed without a break and lacks no event. */
  readonly complete: boolean;
  /** True if the counts of the minute may be compared with the counts of other minutes. */
  readonly eligible: boolean;
}

/**
 * Returns every window from `startUs` onwards, including windows without a row, computed from the stored rows and the
 * observed spans.
 */
export function minutes(
  rows: readonly WindowRow[],
  observed: readonly Interval[],
  startUs: number,
  windows: number,
  metrics: number,
): Minute[] {
  const watched = coverage(observed, startUs, windowUs, windows);
  const byStart = new Map(rows.map((row) => [row.startUs, row]));
  const none = Array<number>(metrics).fill(0);
  return Array.from(watched, (observedUs, i) => {
    const at = startUs + i * windowUs;
    const row = byStart.get(at);
    const {
      events = 0,
      flags = 0,
      resync = 0,
      leftOut = 0,
      lateOrRepeat = 0,
      malformed = 0,
      counts = none,
    } = row ?? {};
    return {
      startUs: at,
      observedUs,
      events,
      flags,
      resync,
      leftOut,
      counts,
      complete: observedUs === windowUs && (flags & lossFlags) === 0,
      eligible:
        observedUs >= minuteRule.eligibleUs &&
        (flags & windowFlag.compacted) === 0 &&
        lateOrRepeat + malformed <= events * minuteRule.maxUncounted,
    };
  });
}

/** Returns true if a window overlaps one of the intervals, which are silences. */
export function isWithin({ startUs }: Pick<Minute, 'startUs'>, silences: readonly Interval[]): boolean {
  return silences.some(({ from, to }) => startUs < to && startUs + windowUs > from);
}

/** Returns the `p` quantile (0 to 1) of sorted values, linearly interpolated. Returns NaN if there are no values. */
export function percentile(sorted: Float64Array, p: number): number {
  const at = p * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** Returns the median of values in any order. Returns NaN if there are no values. */
export function median(values: readonly number[]): number {
  return percentile(Float64Array.from(values).sort(), 0.5);
}

/** Returns the standard deviation divided by the mean, a measure of unevenness, or null if the mean is 0. */
export function variation(values: readonly number[]): number | null {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (!(mean > 0)) return null;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) / mean;
}
