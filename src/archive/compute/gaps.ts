import { type GapReason, gapReasons } from '../../contract/vocabulary.ts';
import { addDays, dayMs, hourMs, hoursOf, startOf } from '../days/calendar.ts';
import { type FactName, factNames } from '../days/facts.ts';
import type { KnownIssue } from '../days/known-issues.ts';
import type { ArchivedLine, ArchivedResponse } from '../days/line.ts';
import { refusalCode } from '../days/lines.ts';
import { observedIn, weatherWindow } from '../days/published.ts';
import type { DayHours } from '../hours/day-hours.ts';
import type { ArchiveGap } from './gap.ts';
import { hourGaps } from './hour-gaps.ts';

/** Name of the gap manifest in the directory of a day. */
export const gapsFile = 'gaps.json';
/** Schema of the gap manifest. */
const gapsSchema = 'almanac.archive.gaps/v1';
/** Number of following days on which label overviews may still report gaps of a day. */
const laterDays = 2;

/** Archived lines of one day, by fact. */
export type DayLines = Readonly<Record<FactName, readonly ArchivedLine[]>>;

/** Input for computing a day's gap manifest. */
export interface GapInputs {
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
export interface GapManifest {
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
  gaps.push(...labelGaps(day, days.slice(0, 1 + laterDays)), ...hourGaps(hours, end));
  // The hours file states when the weather was not observed; the published weather window states only for how long.
  if (hours.weather.series.length === 0) gaps.push(...weatherGaps(day, days));
  return { schema: gapsSchema, day, through: instant(end), gaps, known_issues: issues };
}

function instant(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

function missingHours(day: string, fact: FactName, lines: readonly ArchivedLine[], until: number): ArchiveGap[] {
  const byHour = new Map(lines.map((line) => [line.hour, line]));
  const gaps: ArchiveGap[] = [];
  for (const hour of hoursOf(day, until)) {
    const cause = causeOf(byHour.get(hour));
    if (cause === null) continue;
    const last = gaps.at(-1);
    const end = instant(Date.parse(hour) + hourMs);
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
