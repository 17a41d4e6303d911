import { parseTimestamp } from '../../contract/timestamp.ts';
import { type CollectionName, type GapReason, gapReasons, type Wire } from '../../contract/vocabulary.ts';
import { addDays, closesAt, dayMs, hourMs, hoursOf, instantOf, startOf } from '../days/calendar.ts';
import type { KnownIssue } from '../days/known-issues.ts';
import {
  type ArchivedLine,
  type ArchivedResponse,
  type FactName,
  factNames,
  lineFileOf,
  refusalCode,
} from '../days/line.ts';
import type { Tombstone } from '../days/records.ts';
import type { LabelsDay } from '../hours/labels-day.ts';
import type { WeatherDay } from '../hours/weather-day.ts';
import type { DayHours } from '../tables/table.ts';

/** Name of the gap manifest in the directory of a day. */
export const gapsFile = 'gaps.json';
/** Schema of the gap manifest. */
const gapsSchema = 'almanac.archive.gaps/v1';
/** Number of following days on which label overviews may still report gaps of a day. */
const laterDays = 2;
/** Names of the files of following days from which the gap manifest of a day is computed. */
const laterFiles: readonly string[] = [lineFileOf('labels-overview'), lineFileOf('weather-metrics')];

/** Archived lines of one day, by fact. */
export type DayLines = Readonly<Record<FactName, readonly ArchivedLine[]>>;

/** Input for computing a day's gap manifest. */
interface GapInputs {
  readonly day: string;
  /** Archived lines of the day, followed by the lines of the two following days. */
  readonly days: readonly DayLines[];
  /** End of the period that the manifest covers, in milliseconds since 1970: at most the end of the day. */
  readonly until: number;
  /** Known issues of the day. */
  readonly issues: readonly KnownIssue[];
  readonly hours: DayHours;
}

/** Gap manifest of one day, in its published form. */
interface GapManifest {
  readonly schema: typeof gapsSchema;
  readonly day: string;
  readonly through: string;
  readonly gaps: readonly ArchiveGap[];
  readonly known_issues: readonly KnownIssue[];
}

/** Computes the gap manifest of a day. The result depends only on the archived files and on `until`. */
export function gapManifest({ day, days, until, issues, hours }: GapInputs): GapManifest {
  const [own] = days;
  const end = Math.min(until, startOf(day) + dayMs);
  const gaps: ArchiveGap[] = own ? factNames.flatMap((fact) => missingHours(day, fact, own[fact], end)) : [];
  gaps.push(...labelGaps(day, days.slice(0, 1 + laterDays)), ...hourFileGaps(hours, end));
  // The hours file states when the weather was not observed; the published weather window states only for how long.
  if (hours.weather.series.length === 0) gaps.push(...weatherGaps(day, days));
  return { schema: gapsSchema, day, through: instantOf(end), gaps, known_issues: issues };
}

/** Returns the following days from whose files the gap manifest of a day is computed. */
export function daysAfter(day: string): string[] {
  return Array.from({ length: laterDays }, (_, place) => addDays(day, place + 1));
}

/**
 * Returns true if the gap manifest of a closed day can no longer be computed, because one of its later input files was
 * withdrawn after the day may have been closed. `later` are the tombstones of the days in `daysAfter`.
 */
export function isManifestFinal(day: string, later: readonly Tombstone[]): boolean {
  return later.some(({ name, withdrawn_at }) => laterFiles.includes(name) && Date.parse(withdrawn_at) >= closesAt(day));
}

function missingHours(day: string, fact: FactName, lines: readonly ArchivedLine[], until: number): ArchiveGap[] {
  const byHour = new Map(lines.map((line) => [line.hour, line]));
  const gaps: ArchiveGap[] = [];
  for (const hour of hoursOf(day, until)) {
    const cause = causeOf(byHour.get(hour));
    if (cause === null) continue;
    const last = gaps.at(-1);
    const end = instantOf(Date.parse(hour) + hourMs);
    if (last?.end === hour && last.reason === cause.reason && last.source === cause.source) {
      gaps[gaps.length - 1] = { ...last, end };
    } else {
      gaps.push({ ...cause, fact, start: hour, end });
    }
  }
  return gaps;
}

function causeOf(line: ArchivedLine | undefined): Pick<ArchiveGap, 'source' | 'reason'> | null {
  if (!line) return { source: 'archive', reason: 'not_archived' };
  if (line.kind === 'failure') return { source: 'archive', reason: line.failure };
  if (line.status === 200) return null;
  return { source: 'publication', reason: refusalCode(line) ?? `status_${line.status}` };
}

/**
 * Returns the label gaps of the last overview that was served on the given days, clipped to the day. Returns an empty
 * list if no overview was served.
 */
function labelGaps(day: string, days: readonly DayLines[]): ArchiveGap[] {
  const overview = days.flatMap((lines) => lines['labels-overview']).findLast(isServed);
  if (!overview) return [];
  const [start, end] = [startOf(day), startOf(addDays(day, 1))];
  return observedIn(overview.text).flatMap((gap) => {
    const from = Math.max(start, Date.parse(gap.start));
    const to = Math.min(end, Date.parse(gap.end));
    return from < to
      ? [{ source: 'labels' as const, start: iso(from), end: iso(to), reason: knownReason(gap.reason) }]
      : [];
  });
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function knownReason(text: string): GapReason {
  return gapReasons.find((known) => known === text) ?? 'unknown';
}

function isServed(line: ArchivedLine): line is ArchivedResponse {
  return line.kind === 'response' && line.status === 200;
}

/**
 * Returns one gap with the unobserved time of the first published weather window that ends at or after the end of the
 * day. Returns an empty list if there is no such window, or if it has no unobserved time. The facts state only the
 * length of the unobserved time, not its position.
 */
function weatherGaps(day: string, days: readonly DayLines[]): ArchiveGap[] {
  const end = startOf(addDays(day, 1));
  const windows = days
    .slice(0, 2)
    .flatMap((lines) => lines['weather-metrics'])
    .filter(isServed)
    .map(({ text }) => weatherWindow(text));
  const window = windows.find((found) => found !== null && Date.parse(found.end) >= end) ?? null;
  if (window === null || window.unobservedSeconds <= 0) return [];
  const { start, end: to, unobservedSeconds } = window;
  return [{ source: 'weather', start, end: to, reason: 'not_observed', unobserved_seconds: unobservedSeconds }];
}

/** Name of something that the archive keeps for each hour: a published fact, or the hours file of an instrument. */
type KeptName = FactName | 'weather-hours' | 'labels-hours';

/** A period that was not archived, not published, or not observed; start inclusive, end exclusive. */
interface ArchiveGap {
  /**
   * Cause of the gap. `archive`: this archive has no response or no counts. `publication`: the facts API refused the
   * fact. `labels`, `weather`: the instrument did not observe.
   */
  readonly source: 'archive' | 'publication' | 'labels' | 'weather';
  /** Name of the missing fact or hours file; present for the sources `archive` and `publication` only. */
  readonly fact?: KeptName;
  /** Set to `instrument` if the label instrument observed no labeler at all. */
  readonly scope?: 'instrument';
  /** DID of the labeler that was not observed. */
  readonly labeler_did?: string;
  /** Host that was not observed; with `protocol`, it identifies the weather series. */
  readonly host?: string;
  readonly protocol?: Wire;
  /** Collection that was silent while other collections had events. */
  readonly collection?: CollectionName;
  readonly start: string;
  readonly end: string;
  readonly reason: string;
  /** Number of unobserved seconds in the interval; present if the facts state only this number and not the times. */
  readonly unobserved_seconds?: number;
}

// Extracts the parts of archived bodies that the gap manifest uses. A body with an unexpected shape yields no parts.

interface StatedGap {
  readonly start: string;
  readonly end: string;
  readonly reason: string;
}

/** Interval of a published weather window, with its unobserved time in seconds. */
interface StatedWindow {
  readonly start: string;
  readonly end: string;
  readonly unobservedSeconds: number;
}

/** Returns the gaps and the warm-up period that a label overview states. Ignores entries with an unexpected shape. */
function observedIn(text: string): StatedGap[] {
  const coverage = at(parsed(text), ['facts', 'coverage']);
  const gaps = at(coverage, ['gaps']);
  const stated: unknown[] = Array.isArray(gaps) ? gaps : [];
  return [at(coverage, ['warmup']), ...stated].flatMap((gap) => {
    const [start, end, reason] = [at(gap, ['start']), at(gap, ['end']), at(gap, ['reason'])];
    return isTime(start) && isTime(end) && typeof reason === 'string' ? [{ start, end, reason }] : [];
  });
}

/** Returns the window of published weather metrics; null if the body states no window. */
function weatherWindow(text: string): StatedWindow | null {
  const window = at(parsed(text), ['facts', 'window']);
  const [start, end] = [at(window, ['start']), at(window, ['end'])];
  const [span, observed] = [at(window, ['span_seconds']), at(window, ['observed_seconds'])];
  if (!isTime(start) || !isTime(end) || typeof span !== 'number' || typeof observed !== 'number') return null;
  // Round to microseconds: subtracting decimal fractions adds digits that no fact states.
  return { start, end, unobservedSeconds: Math.round((span - observed) * 1e6) / 1e6 };
}

function isTime(value: unknown): value is string {
  return parseTimestamp(value) !== null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function at(value: unknown, keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}

/**
 * Returns the gaps that the hours files of a day report, and the hours without data, up to `until` (milliseconds since
 * 1970).
 */
function hourFileGaps({ weather, labels }: DayHours, until: number): ArchiveGap[] {
  const hours = hoursOf(weather.day, until);
  const lastOf = (place: number): string | null =>
    weather.series.reduce<string | null>((last, { through }) => laterOf(last, through[place] ?? null), null);
  return [
    ...unknownHours('weather-hours', hours, { failures: weather.failures, throughOf: lastOf }),
    ...seriesGaps(weather, until),
    ...unknownHours('labels-hours', hours, {
      failures: labels.failures,
      throughOf: (place) => labels.hours[place]?.through ?? null,
    }),
    ...unreadGaps(labels, until),
  ];
}

function laterOf(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return Date.parse(a) >= Date.parse(b) ? a : b;
}

interface KnownHours {
  readonly failures: readonly (string | null)[];
  /** Returns the time up to which the hour with index `place` is counted; null if nothing is known about that hour. */
  readonly throughOf: (place: number) => string | null;
}

function unknownHours(fact: KeptName, hours: readonly string[], { failures, throughOf }: KnownHours): ArchiveGap[] {
  const gaps: ArchiveGap[] = [];
  for (const [place, hour] of hours.entries()) {
    const hourEnd = Date.parse(hour) + hourMs;
    const through = throughOf(place);
    if (through !== null && Date.parse(through) >= hourEnd) continue;
    const [start, end] = [instantOf(Date.parse(through ?? hour)), instantOf(hourEnd)];
    const reason = through === null ? (failures[place] ?? 'not_archived') : 'incomplete';
    const last = gaps.at(-1);
    if (last?.end === start && last.reason === reason) gaps[gaps.length - 1] = { ...last, end };
    else gaps.push({ source: 'archive', fact, start, end, reason });
  }
  return gaps;
}

function seriesGaps({ series }: WeatherDay, until: number): ArchiveGap[] {
  return series.flatMap(({ host, protocol, gaps }) =>
    before(gaps, until).map(({ collection, start, end, reason }) => {
      const kind = collection === null ? {} : { collection };
      return { source: 'weather' as const, host, protocol, ...kind, start, end, reason };
    }),
  );
}

function unreadGaps({ gaps, labelers }: LabelsDay, until: number): ArchiveGap[] {
  const own = before(gaps, until).map((gap) => ({ source: 'labels' as const, scope: 'instrument' as const, ...gap }));
  const others = labelers.flatMap((labeler) =>
    before(labeler.gaps, until).map((gap) => ({
      source: 'labels' as const,
      labeler_did: labeler.labeler_did,
      ...gap,
    })),
  );
  return [...own, ...others];
}

/** Returns the gaps that begin before `until` (milliseconds since 1970), cut off at `until`. */
function before<G extends { readonly start: string; readonly end: string }>(gaps: readonly G[], until: number): G[] {
  return gaps
    .filter(({ start }) => Date.parse(start) < until)
    .map((gap) => (Date.parse(gap.end) > until ? { ...gap, end: new Date(until).toISOString() } : gap));
}
