import type { LabelerDefinitionsLine, LabelerLine, LabelersHeader } from '../../artifact/labelers.ts';
import type { LabelerDefinitions, LabelerFacts, LabelerHandle, LabelerSummary } from '../../contract/labelers.ts';
import { fewerThanFive, signatureVerdicts } from '../../contract/vocabulary.ts';
import { isUnreadSpan, labelerConclusion, unreadDays } from './conclusion.ts';
import { remedies } from './remedies.ts';

/** Projection of the labelers artifact. Only fields that are named here reach a client. */

/** Syntax of a handle: https://atproto.com/specs/handle */
const handleText = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Returns the entry of a labeler in the list. */
export function projectSummary(line: LabelerLine, { window }: LabelersHeader): LabelerSummary {
  return { ...identityOf(line), events: eventsOf(line, window), unread_days_7d: unreadDays(line.days) };
}

/** Facts of a labeler's document, except those that come from the artifact's header. */
type OwnLabelerFacts = Omit<LabelerFacts, 'window' | 'acquisition' | 'counted_since'>;

/** Returns the facts of a labeler's document. */
export function projectLabeler(
  line: LabelerLine,
  definitions: LabelerDefinitionsLine | null,
  header: LabelersHeader,
): OwnLabelerFacts {
  return {
    conclusion: labelerConclusion(line, header.window),
    ...identityOf(line),
    first_answered: line.first_answered,
    remedy: line.problem === null ? null : remedies[line.problem],
    events: eventsOf(line, header.window),
    repeats: line.repeats,
    days: line.days.map(([applied, removed, share], index) => ({
      day: header.days[index] ?? '',
      applied,
      removed,
      read_share: share,
      ...(line.late_days !== undefined && { read_late: line.late_days.includes(index) }),
    })),
    gaps: line.gaps.map(({ start, end, reason }) => ({ start, end, reason })),
    gap_overflow: line.gap_overflow,
    signatures: signaturesOf(line),
    values: line.values.map(({ value, events, first_defined, last_defined }) => ({
      value,
      events: coarse(events),
      first_defined,
      last_defined,
    })),
    values_omitted: line.values_omitted,
    undeclared: coarse(line.undeclared),
    replaces_rows: line.replaces_rows,
    delay_ms:
      line.delay_ms === null ? null : { p50: line.delay_ms.p50, p90: line.delay_ms.p90, labels: line.delay_ms.labels },
    definitions: definitionsOf(definitions),
  };
}

function identityOf(line: LabelerLine) {
  const { handle, withheld } = handleOf(line);
  return {
    did: line.did,
    handle,
    ...(withheld ? { handle_withheld: 'privacy' as const } : {}),
    enrolled: line.enrolled,
    state: line.state,
    state_since: line.state_since,
    problem: line.problem,
    found_by: [...line.found_by],
    read_by: line.read_by,
    last_answered: line.last_answered,
    last_row: line.last_row,
  };
}

/** Returns true if a string has the syntax of a handle. */
export function isHandleText(text: string): boolean {
  return handleText.test(text);
}

/**
 * Returns the handle of a labeler. Withholds a string that is not a valid handle, because it could contain anything.
 */
function handleOf({ handle, handle_withheld }: LabelerLine): { handle: LabelerHandle | null; withheld: boolean } {
  if (handle === null) return { handle: null, withheld: handle_withheld !== undefined };
  if (!handleText.test(handle.name)) return { handle: null, withheld: true };
  return { handle: { name: handle.name, confirmed: handle.confirmed }, withheld: false };
}

/**
 * Returns the number of events in each span; null if nothing was read in the span, because a zero would claim that no
 * event occurred.
 */
function eventsOf(line: LabelerLine, window: LabelersHeader['window']): LabelerSummary['events'] {
  const { events } = line;
  const known = (span: keyof typeof events): number | null =>
    events[span] === 0 && isUnreadSpan(line, window, span) ? null : events[span];
  return { window: known('window'), week: known('week'), day: known('day') };
}

/**
 * Returns a count in its publishable form: a count below five becomes `fewer_than_5`, even if the artifact states the
 * number.
 */
function coarse(events: LabelerLine['undeclared']): LabelerFacts['undeclared'] {
  return typeof events === 'number' && events < 5 ? fewerThanFive : events;
}

function signaturesOf({ signatures }: LabelerLine): LabelerFacts['signatures'] {
  if (signatures === null) return null;
  const counts = { verified: 0, verified_earlier_key: 0, invalid: 0, unsigned: 0, unverified: 0 };
  for (const verdict of signatureVerdicts) counts[verdict] = signatures[verdict];
  return counts;
}

function definitionsOf(line: LabelerDefinitionsLine | null): LabelerDefinitions | null {
  if (line === null) return null;
  return {
    seen_at: line.seen_at,
    values: line.values.map(({ value, severity, blurs, default_setting, adult_only, locales, withheld }) => ({
      value,
      severity,
      blurs,
      default_setting,
      adult_only,
      locales: locales.map(({ lang, name, description }) => ({ lang, name, description })),
      ...(withheld === undefined ? {} : { withheld }),
    })),
    values_omitted: line.values_omitted,
  };
}
