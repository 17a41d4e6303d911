import { hourMs, hourOf } from './days/calendar.ts';
import type { ArchivedLine, ArchivedResponse } from './days/line.ts';
import { isHeld, refusalCode } from './days/lines.ts';
import type { HoursReading } from './hours/hours-reading.ts';

/**
 * State of the label facts in the current hour. `released`: they exist, and the operator does not hold them. `absent`: the
 * observatory has no label instrument. `unknown`: the operator may hold them.
 */
export type LabelFacts = 'released' | 'held' | 'absent' | 'unknown';

/** Time after which facts that were never available do not exist, in milliseconds: the hours of an hours file. */
export const labelFactsMs = 72 * hourMs;
/** Number of refusals in this time without which the facts may exist. */
const absentRefusals = 24;

/** The part of an hours file that determines the state. */
type LabelsReading = HoursReading<{ readonly hold?: boolean }>;

/**
 * Returns the state of the label facts. `lines` are the archived lines of the label overview since `labelFactsMs` before
 * `now`, which is in milliseconds since 1970. The overview of the hour may be older than the hold, and the refusal of an
 * unavailable source hides a hold: the hours file states it too.
 */
export function labelFactsAt(labels: LabelsReading | null, lines: readonly ArchivedLine[], now: number): LabelFacts {
  if (labels?.kind === 'readable' && labels.artifact.hold === true) return 'held';
  if (isHeld(lines)) return 'held';
  const last = lines.at(-1);
  if (last?.kind !== 'response' || last.hour !== hourOf(now)) return 'unknown';
  // A hold takes precedence over staleness, so that stale facts are not held.
  if (last.status === 200 || refusalCode(last) === 'source_stale') return 'released';
  return isAbsent(labels, lines, now) ? 'absent' : 'unknown';
}

function isAbsent(labels: LabelsReading | null, lines: readonly ArchivedLine[], now: number): boolean {
  if (labels !== null && !(labels.kind === 'failure' && labels.reason === 'missing')) return false;
  const responses = lines.filter(isResponse).filter(({ at }) => Date.parse(at) > now - labelFactsMs);
  const codes = responses.map(refusalCode);
  // The error page of a proxy has no code, and states nothing about the facts.
  const isUnavailable = responses.every(({ status }, at) => status !== 200 && isNeutral(codes[at] ?? null));
  return isUnavailable && codes.filter((code) => code === unavailable).length >= absentRefusals;
}

const unavailable = 'source_unavailable';

function isNeutral(code: string | null): boolean {
  return code === null || code === unavailable;
}

function isResponse(line: ArchivedLine): line is ArchivedResponse {
  return line.kind === 'response';
}
