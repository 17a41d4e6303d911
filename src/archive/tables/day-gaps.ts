import type { CollectionName } from '../../contract/vocabulary.ts';
import { hourMs } from '../days/calendar.ts';
import type { LabelsDay } from '../hours/labels-day.ts';
import type { DaySeries, WeatherDay } from '../hours/weather-day.ts';
import { type ownReasons, wholeScope } from './columns.ts';
import type { Row } from './table.ts';

/** An interval without observation, in milliseconds since 1970. */
interface Gap {
  readonly start: number;
  readonly end: number;
  readonly reason: string;
}

/** The hours of a day that are over, and the gaps that files of the archive state. */
interface Hours {
  readonly day: string;
  readonly hours: readonly string[];
}

type OwnReason = (typeof ownReasons)[number];

/** Returns the rows with the gaps of a series; `series` is undefined on a day without weather. */
export function weatherGapRows(weather: WeatherDay, series: DaySeries | undefined, hours: readonly string[]): Row[] {
  const own = { day: weather.day, hours };
  const stated = (series?.gaps ?? []).map((gap) => ({ ...spanOf(gap), collection: gap.collection }));
  const isElsewhere = (place: number) => weather.series.some(({ through }) => (through[place] ?? null) !== null);
  const whole = covered(own, {
    stated: [
      ...unknownHours(
        own,
        (place) => series?.through[place] ?? null,
        (place) => weather.failures[place] ?? (isElsewhere(place) ? 'other_host' : 'not_archived'),
      ),
      ...stated.filter(({ collection }) => collection === null),
    ],
    hasCount: (place) => (series?.events[place] ?? null) !== null,
  });
  const counts = Object.entries(series?.collections ?? {}) as [
    CollectionName,
    DaySeries['collections'][CollectionName],
  ][];
  const single = counts.flatMap(([name, count]) => {
    const gaps = covered(own, {
      stated: stated.filter(({ collection }) => collection === name),
      hasCount: (place) => (count?.events[place] ?? null) !== null,
      others: whole,
    });
    return rowsOf(own, name, gaps);
  });
  return [...rowsOf(own, wholeScope, whole), ...single];
}

/** Returns the rows with the gaps of the label instrument and of each labeler. */
export function labelGapRows(
  { day, failures, hours: known, gaps, labelers }: LabelsDay,
  hours: readonly string[],
): Row[] {
  const own = { day, hours };
  const whole = covered(own, {
    stated: [
      ...unknownHours(
        own,
        (place) => known[place]?.through ?? null,
        (place) => failures[place] ?? 'not_archived',
      ),
      ...gaps.map(spanOf),
    ],
    hasCount: (place) => (known[place]?.applications ?? null) !== null,
  });
  const single = labelers.flatMap((labeler) => {
    const { labeler_did: did, applications } = labeler;
    const hasCount = (place: number) => (applications[place] ?? null) !== null;
    return rowsOf(own, did, covered(own, { stated: labeler.gaps.map(spanOf), hasCount, others: whole }));
  });
  return [...rowsOf(own, wholeScope, whole), ...single];
}

function spanOf(gap: { readonly start: string; readonly end: string; readonly reason: string }): Gap {
  return { start: Date.parse(gap.start), end: Date.parse(gap.end), reason: gap.reason };
}

/** Returns the parts of the hours that the hours file does not cover. */
function unknownHours(
  { hours }: Hours,
  throughOf: (place: number) => string | null,
  reasonOf: (place: number) => string,
): Gap[] {
  return hours.flatMap((hour, place) => {
    const end = Date.parse(hour) + hourMs;
    const through = throughOf(place);
    if (through !== null && Date.parse(through) >= end) return [];
    const incomplete: OwnReason = 'incomplete';
    const reason = through === null ? reasonOf(place) : incomplete;
    return [{ start: Date.parse(through ?? hour), end, reason }];
  });
}

interface Coverage {
  readonly stated: readonly Gap[];
  /** Returns true if the hour with index `place` has a count. */
  readonly hasCount: (place: number) => boolean;
  /** Gaps of a wider scope, which already cover a part of the hours without a count. */
  readonly others?: readonly Gap[];
}

/**
 * Returns the stated gaps within the hours, without overlaps, followed by gaps with the reason `unknown` for the parts
 * of hours without a count that no gap covers. The result is in the order of time; touching gaps with the same reason are
 * joined.
 */
function covered({ hours }: Hours, { stated, hasCount, others = [] }: Coverage): Gap[] {
  const [first, last] = [hours[0], hours.at(-1)];
  if (first === undefined || last === undefined) return [];
  const day = { start: Date.parse(first), end: Date.parse(last) + hourMs, reason: '' };
  const own = separate(stated.map((gap) => within(gap, day)));
  const known = separate([...own, ...others]);
  const missing = hours.flatMap((hour, place): Gap[] => {
    if (hasCount(place)) return [];
    const reason: OwnReason = 'unknown';
    const start = Date.parse(hour);
    return without({ start, end: start + hourMs, reason }, known);
  });
  return joined([...own, ...missing].sort((a, b) => a.start - b.start));
}

function within(gap: Gap, { start, end }: Gap): Gap {
  return { ...gap, start: Math.max(gap.start, start), end: Math.min(gap.end, end) };
}

/** Returns the gaps in the order of time. Of overlapping gaps, the later one is shortened. */
function separate(gaps: readonly Gap[]): Gap[] {
  let at = Number.NEGATIVE_INFINITY;
  return gaps
    .toSorted((a, b) => a.start - b.start)
    .flatMap((gap) => {
      const start = Math.max(gap.start, at);
      if (start >= gap.end) return [];
      at = gap.end;
      return [{ ...gap, start }];
    });
}

/** Returns the parts of a gap that none of the separate gaps covers. */
function without(gap: Gap, known: readonly Gap[]): Gap[] {
  const near = known.filter(({ start, end }) => start < gap.end && end > gap.start);
  const ends = [gap.start, ...near.map(({ end }) => end)];
  const starts = [...near.map(({ start }) => start), gap.end];
  return ends.flatMap((start, place) => {
    const end = starts[place] ?? gap.end;
    return start < end ? [{ ...gap, start, end }] : [];
  });
}

function joined(gaps: readonly Gap[]): Gap[] {
  const result: Gap[] = [];
  for (const gap of gaps) {
    const last = result.at(-1);
    if (last?.end === gap.start && last.reason === gap.reason) result[result.length - 1] = { ...last, end: gap.end };
    else result.push(gap);
  }
  return result;
}

function rowsOf({ day }: Hours, scope: string, gaps: readonly Gap[]): Row[] {
  return gaps.map(({ start, end, reason }) => {
    const second = 1_000;
    const [from, to] = [Math.floor(start / second) * second, Math.ceil(end / second) * second];
    return [day, scope, reason, instant(from), (end - start) / second, instant(to)];
  });
}

function instant(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}
