import type { LabelerDefinitionsLine, LabelerLine, LabelersHeader } from '../../artifact/labelers.ts';
import {
  type LabelerDefinitions,
  type LabelerEnvelope,
  type LabelerFacts,
  type LabelerHandle,
  type LabelerSummary,
  type LabelersEnvelope,
  labelerContractIds,
} from '../../contract/labelers.ts';
import type { IdentityPlaces } from '../../contract/privacy/find-identity.ts';
import { formatTimestamp, parseTimestamp } from '../../contract/timestamp.ts';
import { fewerThanFive, type Origin, signatureVerdicts } from '../../contract/vocabulary.ts';
import { agreeing, countText, instantText } from '../../web/format.ts';
import { recentLabelProvenance } from '../project-labels.ts';
import { describeLeak, findLeakExcept, PrivacyAlarm } from '../representation.ts';
import { caveatsOfOrigin } from '../shown-facts.ts';
import type { Pair, Paired } from './pair.ts';
import { remedyOf } from './remedy.ts';

/** Projection of the labelers artifact to the published documents. Only fields that are named here reach a client. */

/** Syntax of a handle: https://atproto.com/specs/handle */
const handleText = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Places in `/labelers.json` where identities are allowed. */
const listPlaces: IdentityPlaces = {
  dids: /^\/facts\/labelers\/\d+\/did$/,
  handles: /^\/facts\/labelers\/\d+\/handle\/name$/,
};

/** Places in `/labelers/DID.json` where identities are allowed. */
const labelerPlaces: IdentityPlaces = { dids: /^\/facts\/did$/, handles: /^\/facts\/handle\/name$/ };

/**
 * Returns the entry of a labeler in the list. If the privacy scan finds an identity in the entry, withholds its handle,
 * and calls `alarm` with the location of the identity, never with its text. `index` is the index of the entry.
 */
export function listedSummary(
  line: LabelerLine,
  { window }: LabelersHeader,
  index: number,
  alarm: (leak: string) => void,
): LabelerSummary {
  const entry = { ...identityOf(line), events: eventsOf(line, window), unread_days_7d: unreadDays(line.days) };
  const leak = findLeakExcept(listPlaces, entry, `/facts/labelers/${index}`);
  if (leak === null) return entry;
  alarm(describeLeak(leak));
  return { ...entry, handle: null, handle_withheld: 'privacy' };
}

const caveats = [
  'Observed application and removal events do not establish which labels are active now.',
  'Having no observations does not mean that no labels exist.',
  'For a day that was only partly read, only the observed events are counted. For an unread day, the counts are null.',
  'The absence of recorded gaps does not prove complete coverage.',
] as const;

const labelerCaveats = [
  'A value is named only if the definitions of the labeler declare it; the events of all other values are counted together.',
  'Definitions and values are the words of the labeler.',
] as const;

function caveatsOf(origin: Origin, more: readonly string[]): string[] {
  return [...caveatsOfOrigin(origin), ...caveats, ...more];
}

function head({ overview, labelers }: Pair<unknown>, { freshness }: Paired<unknown>['judgement'], now: number) {
  return {
    instrument: 'labels' as const,
    generated_at: labelers.set.header.generated_at,
    retrieved_at: formatTimestamp(now),
    age_seconds: freshness.age_seconds ?? 0,
    provenance: { ...recentLabelProvenance(overview), artifact_schema_version: labelers.set.header.schema },
    freshness,
  };
}

function frame({ overview, labelers }: Pair<unknown>) {
  const { window, counted_since } = labelers.set.header;
  const { generation_id, started_at, basis } = overview.acquisition;
  return {
    window: { start: window.start, end: window.end },
    acquisition: { generation_id, started_at, basis },
    counted_since,
  };
}

/** Parts of the list that are the same in every document made from the artifact. */
type ListParts = Pick<LabelersEnvelope['facts'], 'conclusion' | 'states'>;

/** Returns the envelope of the list with an empty list of labelers. Throws PrivacyAlarm if it must not be served. */
export function listEnvelope({ pair, judgement }: Paired<ListParts>, now: number): LabelersEnvelope {
  const { prepared, set } = pair.labelers;
  const { provenance, freshness, ...first } = head(pair, judgement, now);
  return checked(listPlaces, {
    contract: labelerContractIds.list,
    ...first,
    facts: {
      ...frame(pair),
      conclusion: prepared.conclusion,
      states: { ...prepared.states },
      omitted: set.header.omitted,
      labelers: [],
    },
    caveats: caveatsOf(pair.overview.origin ?? 'live', []),
    provenance,
    freshness,
  });
}

/** Returns the envelope of one labeler's document. Throws PrivacyAlarm if the document must not be served. */
export function labelerEnvelope({ pair, judgement }: Paired<unknown>, did: string, now: number): LabelerEnvelope {
  const { set } = pair.labelers;
  const line = set.labeler(did);
  if (line === null) throw new Error('the artifact has no such labeler');
  const { provenance, freshness, ...first } = head(pair, judgement, now);
  return checked(labelerPlaces, {
    contract: labelerContractIds.one,
    ...first,
    facts: { ...frame(pair), ...projectLabeler(line, set.definitions(did), set.header) },
    caveats: caveatsOf(pair.overview.origin ?? 'live', labelerCaveats),
    provenance,
    freshness,
  });
}

function checked<E extends object>(places: IdentityPlaces, envelope: E): E {
  const leak = findLeakExcept(places, envelope);
  if (leak) throw new PrivacyAlarm(leak);
  return envelope;
}

/** Facts of a labeler's document, except those that come from the artifact's header. */
type OwnLabelerFacts = Omit<LabelerFacts, 'window' | 'acquisition' | 'counted_since'>;

/** Returns the facts of a labeler's document. */
function projectLabeler(
  line: LabelerLine,
  definitions: LabelerDefinitionsLine | null,
  header: LabelersHeader,
): OwnLabelerFacts {
  return {
    conclusion: labelerConclusion(line, header.window),
    ...identityOf(line),
    first_answered: line.first_answered,
    remedy: remedyOf(line),
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

/** Sentences about the coverage of labelers. A sentence never claims more than the days and gaps show. */

const dayMs = 86_400_000;
/** Number of days that a sentence calls "the last days". */
const recentDays = 7;
const spanDays = { day: 1, week: recentDays };
const monthFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' });
const yearFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** Parts of a labeler's line on which the sentence depends. */
type Covered = Pick<LabelerLine, 'state' | 'state_since' | 'days' | 'gaps'>;
type Window = LabelersHeader['window'];
type Span = keyof LabelerLine['events'];

/** Describes the coverage of one labeler in one sentence. */
export function labelerConclusion({ state, state_since: since, days, gaps }: Covered, window: Window): string {
  const isUnread = days.every(([, , share]) => share === 0);
  if (state === 'departed' || state === 'denied') {
    const unknown = isUnread ? 'what it did in the window' : 'what it has done since then';
    return `Not followed since ${dateIn(millis(since), window)}; ${unknown} is not known.`;
  }
  if (isUnread) {
    return 'Not read at any time in the window; what it did is not known.';
  }
  const unreadFrom = openGapStart(gaps, window);
  if (unreadFrom !== null) {
    return `Not read since ${dateIn(unreadFrom, window)}; what it has done since then is not known.`;
  }
  return recentGaps(days) ?? `Read without a gap since ${readSince(gaps, window)}.`;
}

/** Returns how many of the last 7 days were not read completely. */
export function unreadDays(days: LabelerLine['days']): number {
  return days.slice(-recentDays).filter(([, , share]) => share < 1).length;
}

/** Returns true if nothing was read in a span that ends with the window. A span includes the day on which it begins. */
export function isUnreadSpan({ state, state_since: since, days, gaps }: Covered, window: Window, span: Span): boolean {
  const last = span === 'window' ? days : days.slice(-spanDays[span] - 1);
  if (last.every(([, , share]) => share === 0)) return true;
  const isLeft = state === 'departed' || state === 'denied';
  const unreadFrom = isLeft ? millis(since) : openGapStart(gaps, window);
  const start = span === 'window' ? millis(window.start) : millis(window.end) - spanDays[span] * dayMs;
  return unreadFrom !== null && unreadFrom <= start;
}

function recentGaps(days: LabelerLine['days']): string | null {
  const recent = days.slice(-recentDays);
  const none = recent.filter(([, , share]) => share === 0).length;
  const part = unreadDays(days) - none;
  const of = `of the last ${recent.length} days`;
  if (none > 0 && part > 0) {
    return `Not read on ${none} and read only in part on ${part} ${of}; what it did then is not known.`;
  }
  if (none > 0) return `Not read on ${none} ${of}; what it did then is not known.`;
  return part > 0 ? `Read only in part on ${part} ${of}; what it did in the gaps is not known.` : null;
}

/** Returns the start of the unread time that lasts until the end of the window; null if no gap lasts until then. */
function openGapStart(gaps: LabelerFacts['gaps'], window: Window): number | null {
  let start = millis(window.end);
  for (const gap of gaps.toSorted((a, b) => millis(b.end) - millis(a.end))) {
    if (millis(gap.end) < start) break;
    start = Math.min(start, millis(gap.start));
  }
  return start < millis(window.end) ? start : null;
}

/**
 * Returns the first day after the last gap that was read from its beginning, as text; if there is no such day yet, the
 * instant at which the gap ended. Without gaps, the days are counted from the start of the window.
 */
function readSince(gaps: LabelerLine['gaps'], window: Window): string {
  const from = Math.max(millis(window.start), ...gaps.map(({ end }) => millis(end)));
  const day = Math.ceil(from / dayMs) * dayMs;
  return day < millis(window.end) ? dateIn(day, window) : instantText(new Date(from).toISOString());
}

/** Formats a UTC day. Adds the year only if it differs from the year in which the window ends. */
function dateIn(instant: number, { end }: Window): string {
  const isThisYear = new Date(instant).getUTCFullYear() === new Date(millis(end)).getUTCFullYear();
  return (isThisYear ? monthFormat : yearFormat).format(instant);
}

function millis(timestamp: string): number {
  return Math.floor((parseTimestamp(timestamp) ?? 0) / 1000);
}

/**
 * Describes the coverage of the listed labelers. `complete` of the `enrolled` labelers were read without a gap for 7
 * days. If labelers are `omitted` from the list, the text does not claim to describe all labelers.
 */
export function listConclusion({
  enrolled,
  complete,
  omitted,
}: {
  readonly enrolled: number;
  readonly complete: number;
  readonly omitted: number;
}): string {
  const listed = omitted === 0 ? 'labelers' : 'listed labelers';
  if (enrolled === 0) {
    return omitted === 0
      ? 'Almanac follows no labeler, so nothing is known about any.'
      : 'Almanac follows none of the listed labelers, so nothing is known about their present activity.';
  }
  if (complete === 0 && enrolled > 1) {
    return `None of the ${countText(enrolled)} ${listed} that Almanac follows was read without a gap in the last ${recentDays} days: the activity of each is known only in part.`;
  }
  const others = enrolled - complete;
  const were = agreeing(complete, 'was', 'were');
  const all = `${countText(complete)} of the ${countText(enrolled)} ${listed} that Almanac follows ${were} read without a gap in the last ${recentDays} days.`;
  if (others === 0) return all;
  return others === 1
    ? `${all} The activity of the other one is known only in part.`
    : `${all} The activity of the other ${countText(others)} is known only in part.`;
}
