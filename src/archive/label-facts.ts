import { hourMs, hourOf } from './days/calendar.ts';
import { type ArchivedLine, type ArchivedResponse, isHeld, refusalCode } from './days/line.ts';
import type { HoursReading } from './hours/hour-lists.ts';

/**
 * State of the label facts in the current hour. `released`: the facts exist, and the operator does not hold them.
 * `absent`: the observatory has no label instrument. `unknown`: the operator may be holding the facts.
 */
export type LabelFacts = 'released' | 'held' | 'absent' | 'unknown';

/**
 * Time for which facts must have been unavailable before they are considered absent, in milliseconds: the span of an
 * hours file.
 */
export const labelFactsMs = 72 * hourMs;
/** Minimum number of refusals within `labelFactsMs` before the facts are considered absent. */
const absentRefusals = 24;

/** Label hours file, reduced to its `hold` field. */
type LabelsReading = HoursReading<{ readonly hold?: boolean }>;

/**
 * Determines the state of the label facts. `lines` are the archived lines of the label overview from the last
 * `labelFactsMs` milliseconds before `now` (milliseconds since 1970). `labels`, the hours file, is checked too: a hold
 * may have begun after the overview was archived, and a refusal with `source_unavailable` does not reveal a hold.
 */
export function labelFactsAt(labels: LabelsReading | null, lines: readonly ArchivedLine[], now: number): LabelFacts {
  if (labels?.kind === 'readable' && labels.artifact.hold === true) return 'held';
  if (isHeld(lines)) return 'held';
  const last = lines.at(-1);
  if (last?.kind !== 'response' || last.hour !== hourOf(now)) return 'unknown';
  // If facts are held and stale, the facts API reports the hold. Facts that it reports as stale are therefore not
  // held.
  if (last.status === 200 || refusalCode(last) === 'source_stale') return 'released';
  return isAbsent(labels, lines, now) ? 'absent' : 'unknown';
}

function isAbsent(labels: LabelsReading | null, lines: readonly ArchivedLine[], now: number): boolean {
  if (labels !== null && !(labels.kind === 'failure' && labels.reason === 'missing')) return false;
  const responses = lines.filter(isResponse).filter(({ at }) => Date.parse(at) > now - labelFactsMs);
  const codes = responses.map(refusalCode);
  // A proxy's error page has no code and does not show whether the facts exist.
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
