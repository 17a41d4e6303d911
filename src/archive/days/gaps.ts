import { canonicalJson } from '../../contract/canonical.ts';
import { type GapReason, gapReasons } from '../../contract/vocabulary.ts';
import { addDays, dayMs, hourMs, hoursOf, startOf } from './calendar.ts';
import { type FactName, factNames } from './facts.ts';
import type { ArchivedLine, ArchivedResponse } from './line.ts';
import { refusalCode } from './lines.ts';
import { observedIn, weatherWindow } from './published.ts';

/** Name of the gap manifest in the directory of a day. */
export const gapsFile = 'gaps.json';
/** Schema of the gap manifest. */
export const gapsSchema = 'almanac.archive.gaps/v1';
/** Days after a day whose overviews may state gaps of that day. */
const laterDays = 2;

/** A time that was not archived, not published, or not observed; start inclusive, end exclusive. */
export interface ArchiveGap {
  /** `archive`: this archive has no response. `publication`: a fact was refused. Otherwise the instrument. */
  readonly source: 'archive' | 'publication' | 'labels' | 'weather';
  /** Name of the fact, for the first two sources. */
  readonly fact?: FactName;
  readonly start: string;
  readonly end: string;
  readonly reason: string;
  /** Seconds within the interval that were not observed, if the facts do not state which. */
  readonly unobserved_seconds?: number;
}

/** Lines of the facts of one day. */
export type DayLines = Readonly<Record<FactName, readonly ArchivedLine[]>>;

/** Parts from which the manifest of a day is computed. */
export interface GapInputs {
  readonly day: string;
  /** Lines of the day, and of the two days after it as far as they are archived. */
  readonly days: readonly DayLines[];
  /** Instant up to which hours are judged, in milliseconds since 1970: at most the end of the day. */
  readonly until: number;
}

/** Returns the bytes of the gap manifest. They depend on the archived files and on `until` alone. */
export function gapManifest({ day, days, until }: GapInputs): Buffer {
  const [own] = days;
  const end = Math.min(until, startOf(day) + dayMs);
  const gaps: ArchiveGap[] = own ? factNames.flatMap((fact) => missingHours(day, fact, own[fact], end)) : [];
  gaps.push(...labelGaps(day, days.slice(0, 1 + laterDays)), ...weatherGaps(day, days));
  const manifest = { schema: gapsSchema, day, through: instant(end), gaps };
  return Buffer.from(`${canonicalJson(manifest)}\n`);
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

/** Returns the label gaps of the last overview that may know the whole day, clipped to the day. */
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
 * Returns the unobserved part of the first published weather window that ends after the day. The facts state its length,
 * not its place.
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
