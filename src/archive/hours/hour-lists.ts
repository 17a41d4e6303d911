import type { LabelsHours } from '../../artifact/hours/labels-hours.ts';
import type { WeatherHours } from '../../artifact/hours/weather-hours.ts';
import { hourMs, startOf } from '../days/calendar.ts';

/** Lists with one entry for each hour of a day, and operations on the gaps of a day. */

/** Number of hours in a day. */
export const dayHours = 24;
/**
 * Reasons why the archive has no counts of an hour. `withheld`: the privacy scan found an identity in the file, or the
 * operator withdrew the hours.
 */
export const hoursFailures = ['missing', 'unreadable', 'malformed', 'held', 'withheld'] as const;
/** Reason why the archive has no counts of an hour. */
export type HoursFailure = (typeof hoursFailures)[number];

/**
 * Written form of a list with one entry for each hour: the entry itself if all entries are equal, otherwise the list.
 */
export type Packed<T> = T | readonly T[];

/** Returns the written form of a list with one entry for each hour. */
export function packed<T>(list: readonly T[]): Packed<T> {
  const [first] = list;
  return first !== undefined && list.every((one) => one === first) ? first : list;
}

/**
 * Expands a written form to a list. Returns null for a list that does not have one entry per hour, and for a list of
 * equal entries, which `packed` would have written as one entry.
 */
export function unpacked<T>(value: Packed<T>): T[] | null {
  if (!isList(value)) return Array.from({ length: dayHours }, () => value);
  return value.length === dayHours && isList(packed(value)) ? [...value] : null;
}

function isList<T>(value: Packed<T>): value is readonly T[] {
  return Array.isArray(value);
}

/** Returns a list with the same entry for each hour of a day. */
export function dayList<T>(entry: T): T[] {
  return Array.from({ length: dayHours }, () => entry);
}

/** An interval that was not observed; start inclusive, end exclusive. */
interface HoursGap {
  readonly start: string;
  readonly end: string;
}

/** An interval in milliseconds since 1970. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** The hours of a day that the hours of an instrument's file replace. */
export class Replacement {
  /** Index of each replacing hour within the file, by the index of the replaced hour within the day. */
  readonly #index: ReadonlyMap<number, number>;
  /** Index of each replaced hour within the day, by the index of the replacing hour within the file. */
  readonly #places: ReadonlyMap<number, number>;
  readonly #spans: readonly Span[];

  private constructor(day: string, index: ReadonlyMap<number, number>) {
    this.#index = index;
    this.#places = new Map([...index].map(([place, at]) => [at, place]));
    this.#spans = spansOf(day, [...index.keys()]);
  }

  /**
   * Returns the hours of the day that the file's `hours` replace. `isReplaced` decides about each hour of the file that
   * belongs to the day, given its index within the day (`place`) and within the file (`at`).
   */
  static of<H extends { readonly start: string }>(
    day: string,
    hours: readonly H[],
    isReplaced: (hour: H, place: number, at: number) => boolean,
  ): Replacement {
    const index = new Map<number, number>();
    for (const [at, hour] of hours.entries()) {
      const place = (Date.parse(hour.start) - startOf(day)) / hourMs;
      const isOfDay = Number.isInteger(place) && place >= 0 && place < dayHours;
      if (isOfDay && isReplaced(hour, place, at)) index.set(place, at);
    }
    return new Replacement(day, index);
  }

  isEmpty(): boolean {
    return this.#index.size === 0;
  }

  /** Returns true if the file replaces the hour of the day with this index. */
  has(place: number): boolean {
    return this.#index.has(place);
  }

  /** Returns the index within the day of an hour of the file; undefined if the hour replaces none. */
  placeOf(at: number): number | undefined {
    return this.#places.get(at);
  }

  /** Returns a copy of a list of the day with the file's entries for the replaced hours; `absent` where it has none. */
  entries<T>(kept: readonly T[], news: readonly T[] | undefined, absent: T): T[] {
    return kept.map((entry, place) => {
      const at = this.#index.get(place);
      return at === undefined ? entry : (news?.[at] ?? absent);
    });
  }

  /**
   * Within the replaced hours, replaces the `kept` gaps with the `news` gaps. A kept gap that crosses the border of
   * these hours keeps its part outside them.
   */
  gaps<G extends HoursGap>(kept: readonly G[], news: readonly G[]): G[] {
    return this.#spans.reduce<G[]>((all, span) => replacedIn(all, news, span), [...kept]);
  }
}

/** Groups consecutive hours of a day into spans; `places` are hour indices in ascending order. */
function spansOf(day: string, places: readonly number[]): Span[] {
  const spans: Span[] = [];
  for (const place of places) {
    const start = startOf(day) + place * hourMs;
    const last = spans.at(-1);
    if (last?.end === start) spans[spans.length - 1] = { start: last.start, end: start + hourMs };
    else spans.push({ start, end: start + hourMs });
  }
  return spans;
}

function replacedIn<G extends HoursGap>(kept: readonly G[], news: readonly G[], span: Span): G[] {
  const before = kept.flatMap((gap) => clipped(gap, { start: Number.NEGATIVE_INFINITY, end: span.start }));
  const after = kept.flatMap((gap) => clipped(gap, { start: span.end, end: Number.POSITIVE_INFINITY }));
  const own = news.flatMap((gap) => clipped(gap, span));
  return [...before, ...own, ...after].sort((a, b) => Date.parse(a.start) - Date.parse(b.start));
}

/** Returns the part of a gap within a span as a list, which is empty if they do not overlap. */
function clipped<G extends HoursGap>(gap: G, span: Span): G[] {
  const start = Math.max(span.start, Date.parse(gap.start));
  const end = Math.min(span.end, Date.parse(gap.end));
  return start < end ? [{ ...gap, start: new Date(start).toISOString(), end: new Date(end).toISOString() }] : [];
}

/** Returns the time up to which a file counts an hour: the end of the hour or `through`, whichever is earlier. */
export function throughOf(start: string, through: string): string {
  return new Date(Math.min(Date.parse(start) + hourMs, Date.parse(through))).toISOString();
}

/** Returns the failures of a day, with `reason` added for each past hour that has neither data nor a failure. */
export function notedFailures(
  day: string,
  failures: readonly (HoursFailure | null)[],
  { reason, isKnown, now }: { reason: HoursFailure; isKnown: (place: number) => boolean; now: number },
): (HoursFailure | null)[] {
  return failures.map((known, place) => {
    const isOver = startOf(day) + (place + 1) * hourMs <= now;
    return isOver && !isKnown(place) ? (known ?? reason) : known;
  });
}

/**
 * Operations on the archived hours of one instrument: `Day` are the hours of one day in the archive, and `Artifact` is the
 * hours file of the instrument.
 */
export interface DayForm<Day, Artifact> {
  /** Name of the archive file with the hours of a day, and of the instrument's hours file. */
  readonly name: string;
  /** Returns a day without data. */
  readonly unknown: (day: string) => Day;
  /** Parses the archive file of a day; null unless the bytes are exactly those that `format` returns. */
  readonly parse: (bytes: Uint8Array, day: string) => Day | null;
  readonly format: (hours: Day) => Buffer;
  /** Replaces the hours that the instrument's file contains. Returns the same object if the file is not newer. */
  readonly merge: (kept: Day, file: Artifact) => Day;
  /** Notes a reason for each hour without data that is over at `now`, in milliseconds since 1970. */
  readonly note: (kept: Day, reason: HoursFailure, now: number) => Day;
}

/** Result of reading the hours file of an instrument. */
export type HoursReading<A> =
  | { readonly kind: 'readable'; readonly artifact: A }
  | { readonly kind: 'failure'; readonly reason: HoursFailure };

/** The hours files of both instruments. */
export interface HoursReadings {
  readonly weather: HoursReading<WeatherHours>;
  readonly labels: HoursReading<LabelsHours>;
}
