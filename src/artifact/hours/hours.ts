import { parseTimestamp } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import { fileSource } from '../file-source.ts';
import { type ArtifactSource, decodeArtifact, type Malformed, type Reading, type Recogniser } from '../reading.ts';

/**
 * Rules that both hours files share. The label and the weather instrument each write one file with the counts of the
 * last 72 UTC hours. Lists of counts and seconds have one entry per hour, in the order of `hours`.
 *
 * An hour consists of whole minutes that the instrument closed. The last hour is usually not complete: its counts and
 * seconds then end at `through`. A count of an hour that was not observed is null, never 0.
 */

/** Limits of the hours files. */
export const hoursLimits = {
  /** Maximum number of hours, including the last hour, which is usually incomplete. */
  hours: 72,
  /** Maximum size of a file, in bytes. */
  fileBytes: 4 * 1024 * 1024,
  /** Maximum number of labelers whose counts the label instrument lists. */
  labelers: 5_000,
  /** Maximum number of series: two hosts, each with its current protocol and the legacy protocol that it replaces. */
  series: 4,
  /** Maximum number of gaps of a series. */
  seriesGaps: 1_000,
} as const;
/** Length of an hour in seconds. */
export const hourSeconds = 3600;

/** First violation of a rule that the schema does not express. */
export type HoursFault = Pick<Malformed, 'pointer' | 'why'>;

/** One hour of a file, with the fields that label and weather hours share. */
interface FileHour {
  readonly start: string;
  readonly complete: boolean;
  readonly observed_seconds: number;
}

const minuteUs = 60_000_000;
const hourUs = 60 * minuteUs;

/**
 * Checks that the hours are whole, consecutive UTC hours, that `through` is a whole minute within the last hour or at
 * its end, that exactly the hours that end at `through` or earlier are marked complete, and that no hour was observed
 * for longer than its closed part. Returns the first violation; null if there is none.
 */
export function hoursFault(hours: readonly FileHour[], through: string, pointer: string): HoursFault | null {
  const end = parseTimestamp(through);
  if (end === null || end % minuteUs !== 0) return { pointer: `${pointer}/through`, why: 'is not a whole minute' };
  let next: number | null = null;
  for (const [at, hour] of hours.entries()) {
    const own = `${pointer}/hours/${at}`;
    const start = parseTimestamp(hour.start);
    if (start === null || start % hourUs !== 0) return { pointer: `${own}/start`, why: 'is not a whole hour' };
    if (next !== null && start !== next) return { pointer: `${own}/start`, why: 'does not follow the previous hour' };
    next = start + hourUs;
    if (hour.complete !== next <= end) return { pointer: `${own}/complete`, why: 'does not match `through`' };
    const closed = Math.max(0, Math.min(next, end) - start) / 1_000_000;
    if (hour.observed_seconds > closed) return tooLong(`${own}/observed_seconds`);
  }
  if (next !== null && (end > next || end < next - hourUs)) {
    return { pointer: `${pointer}/through`, why: 'is not in the last hour' };
  }
  return null;
}

/**
 * Returns an error for the first list that is too long; null if there is none. A list has at most 72 items unless
 * `maxItems` states another maximum for its name. The caller must call this before the schema check, which would
 * describe every invalid item of a long list before it returns the first error.
 */
export function longListFault(
  value: unknown,
  maxItems: Readonly<Record<string, number>>,
  name = '',
  pointer = '',
): HoursFault | null {
  const isList = Array.isArray(value);
  const max = maxItems[name] ?? hoursLimits.hours;
  if (isList && value.length > max) return { pointer, why: `has more than ${max} items` };
  if (!isList && !isObject(value)) return null;
  for (const [key, item] of Object.entries(value)) {
    if (typeof item !== 'object' || item === null) continue;
    const fault = longListFault(item, maxItems, isList ? '' : key, `${pointer}/${key}`);
    if (fault) return fault;
  }
  return null;
}

/** One list of counts, or several lists with the same observed time. */
interface HourLists {
  readonly counts: Readonly<Record<string, readonly (number | null)[]>>;
  readonly observed_seconds: readonly number[];
}

/**
 * Checks that lists have one entry per hour, that the observed time fits into the hour, that every observed hour has a
 * count, and that no unobserved hour has a count of 0. Returns the first violation; null if there is none.
 */
export function listsFault(lists: HourLists, hours: number, pointer: string): HoursFault | null {
  const { counts, observed_seconds: seconds } = lists;
  if (seconds.length !== hours) return wrongLength(`${pointer}/observed_seconds`);
  const long = seconds.findIndex((one) => one > hourSeconds);
  if (long >= 0) return tooLong(`${pointer}/observed_seconds/${long}`);
  for (const [name, list] of Object.entries(counts)) {
    if (list.length !== hours) return wrongLength(`${pointer}/${name}`);
    for (const [at, count] of list.entries()) {
      const fault = countFault(count, seconds[at] ?? 0, `${pointer}/${name}/${at}`);
      if (fault) return fault;
    }
  }
  return null;
}

/**
 * Checks that a count is a number if the hour was observed, and otherwise is not 0. Returns the violation; null if
 * there is none.
 */
export function countFault(count: number | null, observedSeconds: number, pointer: string): HoursFault | null {
  if (observedSeconds === 0 && count === 0) return { pointer, why: 'is 0 although the hour was not observed' };
  if (observedSeconds > 0 && count === null) return { pointer, why: 'is null although the hour was observed' };
  return null;
}

/** Checks that every gap ends after it starts. Returns the first violation; null if there is none. */
export function gapsFault(
  gaps: readonly { readonly start: string; readonly end: string }[],
  pointer: string,
): HoursFault | null {
  for (const [at, gap] of gaps.entries()) {
    const [start, end] = [parseTimestamp(gap.start), parseTimestamp(gap.end)];
    if (start === null || end === null || start >= end) {
      return { pointer: `${pointer}/${at}`, why: 'does not end after it starts' };
    }
  }
  return null;
}

function wrongLength(pointer: string): HoursFault {
  return { pointer, why: 'does not have one entry per hour' };
}

function tooLong(pointer: string): HoursFault {
  return { pointer, why: 'is longer than the closed part of the hour' };
}

/** Decodes the bytes of an hours file. The caller must limit the number of bytes to `hoursLimits.fileBytes`. */
export function decodeHours<A>(bytes: Uint8Array, recognise: Recogniser<A>, modifiedAt = 0): Reading<A> {
  return decodeArtifact(bytes, modifiedAt, recognise, inputLimits.hoursFile);
}

/** Options for a source of an hours file. */
interface HoursSourceOptions<A> {
  readonly path: string;
  readonly recognise: Recogniser<A>;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
}

/** Creates the source of an hours file, which is read again whenever the file has changed. */
export function hoursSource<A>(options: HoursSourceOptions<A>): ArtifactSource<A> {
  return fileSource({ ...options, maxBytes: hoursLimits.fileBytes, limits: inputLimits.hoursFile });
}

/** A gap, in any unit of time. Only gaps with the same key may be joined. */
export interface KeyedGap {
  readonly from: number;
  readonly to: number;
  readonly key: string;
}

/** Result of limiting gaps to a maximum number. */
interface LimitedGaps<G> {
  /** Gaps sorted by start, then by key. */
  readonly gaps: readonly G[];
  /** True if distinct gaps were joined because there were too many; the unobserved time is then overstated. */
  readonly overflow: boolean;
}

/**
 * Initial maximum distance between gaps that are joined, in the unit of the gaps: one second if the unit is a
 * microsecond.
 */
const firstTolerance = 1_000_000;

/**
 * Returns at most `limit` gaps. Gaps with the same key that overlap or adjoin are always joined. If more than `limit`
 * gaps remain, joins gaps with the same key that are close to each other, and doubles the permitted distance until
 * the limit is met. The limit must not be lower than the number of keys; otherwise the function never returns.
 */
export function limitGaps<G extends KeyedGap>(gaps: readonly G[], limit: number): LimitedGaps<G> {
  let joined = joinedWithin(gaps, 0);
  for (let tolerance = firstTolerance; joined.length > limit; tolerance *= 2) joined = joinedWithin(gaps, tolerance);
  const overflow = joined.length < joinedWithin(gaps, 0).length;
  return { gaps: joined, overflow };
}

function joinedWithin<G extends KeyedGap>(gaps: readonly G[], tolerance: number): G[] {
  const last = new Map<string, number>();
  const result: G[] = [];
  for (const gap of gaps.toSorted(byStart)) {
    const at = last.get(gap.key);
    const before = at === undefined ? undefined : result[at];
    if (at !== undefined && before && gap.from - before.to <= tolerance) {
      result[at] = { ...before, to: Math.max(before.to, gap.to) };
    } else {
      last.set(gap.key, result.length);
      result.push(gap);
    }
  }
  return result;
}

function byStart(a: KeyedGap, b: KeyedGap): number {
  return a.from - b.from || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}
