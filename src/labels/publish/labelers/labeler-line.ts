import { type LabelerLine, maxLabelerGaps, maxLabelerLineBytes } from '../../../artifact/labelers.ts';
import { fewerThanFive } from '../../../contract/labeler-vocabulary.ts';
import { formatTimestamp, type Micros } from '../../../contract/timestamp.ts';
import { delayBounds, delayQuantile, type LabelerCounters } from '../../../store/labeler-counters.ts';
import { discoverySourcesOf } from '../../discovery/discovery-sources.ts';
import type { DayCount } from '../window/day-counts.ts';
import type { DeclaredValue, LabelerDefinitions } from './definition-cache.ts';
import { type ListedLabeler, publishedHandle } from './listed-labeler.ts';
import { type ListedGaps, listedGaps, type UnreadGap } from './unread-time.ts';
import { allEvents, eventsByValue, publishedCounts } from './value-counts.ts';

/** Input of a labeler's line. */
export interface LineInputs {
  readonly labeler: ListedLabeler;
  /** Counts of each day of the window, or undefined for a day without rows. */
  readonly days: readonly (DayCount | undefined)[];
  /** Share of each day in which the labeler was read. */
  readonly shares: readonly number[];
  readonly unread: readonly UnreadGap[];
  readonly week: number;
  readonly day: number;
  readonly lastRow: Micros | null;
  readonly definitions: LabelerDefinitions;
  /** Counts of the labeler, including zeros. Null if nothing is counted yet. */
  readonly counters: LabelerCounters | null;
}

/** Number of bytes that gaps must leave for values, unless there are at most `minGaps` gaps. */
const valuesRoom = 600;
const minGaps = 4;

/** Creates the line of a labeler, which has at most `maxLabelerLineBytes` bytes. */
export function labelerLine(inputs: LineInputs): string {
  const { definitions, counters } = inputs;
  const line = withoutValues(inputs);
  const declared = definitions.values;
  const events = eventsByValue(counters);
  const sorted = declared
    .map((value) => ({ ...value, count: events.get(value.value) ?? 0 }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
  const room = maxLabelerLineBytes - bytesOf(line) - countBytes;
  const listed = firstThatFit(sorted, room);
  const omitted = definitions.omitted + sorted.length - listed.length;
  if (counters === null) {
    const values = listed.map((value) => entryOf(value, null));
    return JSON.stringify({ ...line, values, values_omitted: omitted, undeclared: null });
  }
  const named = listed.reduce((sum, { count }) => sum + count, 0);
  const counts = publishedCounts([...listed.map(({ count }) => count), Math.max(0, allEvents(counters) - named)]);
  const values = listed.map((value, i) => entryOf(value, counts[i] ?? null));
  return JSON.stringify({ ...line, values, values_omitted: omitted, undeclared: counts.at(-1) ?? null });
}

/**
 * Maximum number of bytes of a comma and of the additional digits of a count that is longer than the text for a small
 * count.
 */
const separatorBytes = 3;
/** Maximum number of bytes by which the counts after the values may exceed the counts of the line without values. */
const countBytes = 40;

type Counted = DeclaredValue & { readonly count: number };
type ValueEntry = LabelerLine['values'][number];

function entryOf({ value, first_defined, last_defined }: DeclaredValue, events: ValueEntry['events']): ValueEntry {
  return { value, events, first_defined, last_defined };
}

function firstThatFit(values: readonly Counted[], room: number): readonly Counted[] {
  let used = 0;
  let fit = 0;
  for (const value of values) {
    used += bytesOf(entryOf(value, fewerThanFive)) + separatorBytes;
    if (used > room) break;
    fit += 1;
  }
  return values.slice(0, fit);
}

/** Returns the line without values, with as many gaps as leave space for values. */
function withoutValues(inputs: LineInputs): LabelerLine {
  const compose = (gaps: ListedGaps) => composed(inputs, gaps);
  for (let limit = maxLabelerGaps; ; limit -= 2) {
    const line = compose(listedGaps(inputs.unread, limit));
    if (limit <= 1 || bytesOf(line) <= maxLabelerLineBytes - valuesRoom) return line;
    if (limit <= minGaps && bytesOf(line) <= maxLabelerLineBytes - countBytes) return line;
  }
}

function composed(
  { labeler, days, shares, week, day, lastRow, counters }: LineInputs,
  { gaps, overflow }: ListedGaps,
): LabelerLine {
  const { firstAnswered, lastAnswered } = labeler;
  const sum = (of: (count: DayCount) => number): number =>
    days.reduce((total, count) => total + (count === undefined ? 0 : of(count)), 0);
  return {
    did: labeler.did,
    ...publishedHandle(labeler),
    enrolled: labeler.enrolled,
    state: labeler.state,
    state_since: timestamp(labeler.stateSince),
    problem: labeler.problem,
    found_by: [...discoverySourcesOf(labeler)],
    read_by: labeler.readBy,
    first_answered: firstAnswered === null ? null : timestamp(firstAnswered),
    last_answered: lastAnswered === null ? null : timestamp(lastAnswered),
    last_row: lastRow === null ? null : timestamp(lastRow),
    events: { window: sum(({ applied, removed }) => applied + removed), week, day },
    repeats: sum(({ repeats }) => repeats),
    days: shares.map((share, i) => dayEntry(days[i], share)),
    gaps: gaps.map(({ start, end, reason }) => ({ start: timestamp(start), end: timestamp(end), reason })),
    gap_overflow: overflow,
    signatures: counters === null ? null : { ...counters.verdicts },
    values: [],
    values_omitted: 0,
    undeclared: null,
    replaces_rows: labeler.replacesRows,
    delay_ms: delaysOf(counters),
  };
}

/**
 * Returns the entry of a day. The counts of a day in which the labeler was not read are unknown, and therefore null.
 */
function dayEntry(count: DayCount | undefined, share: number): LabelerLine['days'][number] {
  const { applied = 0, removed = 0 } = count ?? {};
  return share === 0 && applied + removed === 0 ? [null, null, 0] : [applied, removed, share];
}

function delaysOf(counters: LabelerCounters | null): LabelerLine['delay_ms'] {
  if (counters === null) return null;
  const labels = counters.delays.reduce((sum, count) => sum + count, 0);
  const [p50, p90] = [0.5, 0.9].map((fraction) => delayQuantile(counters.delays, fraction));
  if (p50 === null || p90 === null || p50 === undefined || p90 === undefined) return null;
  // Publish a delay above the last bound as that bound.
  const longest = delayBounds.at(-1) ?? 0;
  return { p50: Math.min(p50, longest), p90: Math.min(p90, longest), labels };
}

function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function timestamp(at: Micros): string {
  return formatTimestamp(Math.floor(at / 1000));
}
