import { type LabelerLine, maxLabelerGaps, maxLabelerLineBytes } from '../../../artifact/labelers.ts';
import { formatTimestamp, type Micros } from '../../../contract/timestamp.ts';
import { delayBounds, delayQuantile, type LabelerCounters } from '../../../store/labeler-counters.ts';
import { discoverySourcesOf } from '../../discovery/discovery-sources.ts';
import type { DayCount } from '../window/day-counts.ts';
import type { DeclaredValue, LabelerDefinitions } from './definition-cache.ts';
import { type ListedLabeler, publishedHandle } from './listed-labeler.ts';
import { listedGaps, type UnreadGap } from './unread-time.ts';
import { allEvents, eventsByValue, publishedCounts, rankOf } from './value-counts.ts';

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

/** Bytes that more than `minGaps` gaps leave for values. */
const valuesRoom = 600;
const minGaps = 4;

/** Creates the line of a labeler, which has at most `maxLabelerLineBytes` bytes. */
export function labelerLine(inputs: LineInputs): string {
  const { definitions, counters } = inputs;
  const base = composed(inputs);
  // The line without gaps and values, and the room for them. All of its texts are ASCII.
  const room = maxLabelerLineBytes - JSON.stringify(base).length - countBytes;
  const events = eventsByValue(counters);
  const sorted = definitions.values
    .map((value) => ({ ...value, count: events.get(value.value) ?? 0 }))
    .sort((a, b) => rankOf(b.count) - rankOf(a.count) || (a.value < b.value ? -1 : 1));
  const valueBytes = sorted.reduce((sum, value) => sum + entryBytes(value), 0);
  const { gaps, overflow, bytes } = gapsWithin(inputs.unread, room - Math.min(valueBytes, valuesRoom), room);
  const listed = firstThatFit(sorted, room - bytes);
  const named = listed.reduce((sum, { count }) => sum + count, 0);
  const all = [...listed.map(({ count }) => count), Math.max(0, allEvents(counters) - named)];
  // The store names at most 256 values of a day. Beyond them, the counts by value are incomplete.
  const isComplete = counters !== null && counters.others.applied + counters.others.removed === 0;
  const counts = isComplete ? publishedCounts(all) : [];
  const line: LabelerLine = {
    ...base,
    ...{ gaps: [...gaps], gap_overflow: overflow },
    values: listed.map(({ value, first_defined, last_defined }, i) => {
      return { value, events: counts[i] ?? null, first_defined, last_defined };
    }),
    values_omitted: definitions.omitted + sorted.length - listed.length,
    undeclared: counts[listed.length] ?? null,
  };
  return JSON.stringify(line);
}

type Gap = LabelerLine['gaps'][number];
type Counted = DeclaredValue & { readonly count: number };

/** Bytes by which the counts after the values may be longer than in the line without values. */
const countBytes = 40;
/** Bytes of an entry of a value that do not depend on it: names, quotes, a comma, a date, and the longest count. */
const fixedEntryBytes = '{"value":"","events":9007199254740991,"first_defined":"2026-01-01","last_defined":null},'
  .length;
/** Bytes by which a date is longer than null. */
const dateBytes = '"2026-01-01"'.length - 'null'.length;

function entryBytes({ value, last_defined }: DeclaredValue): number {
  return fixedEntryBytes + value.length + (last_defined === null ? 0 : dateBytes);
}

function firstThatFit(values: readonly Counted[], room: number): readonly Counted[] {
  let used = 0;
  const first = values.findIndex((value) => {
    used += entryBytes(value);
    return used > room;
  });
  return first === -1 ? values : values.slice(0, first);
}

/**
 * Returns as many gaps as fit into the preferred room, or into the whole room if they are at most `minGaps`, with their
 * bytes.
 */
function gapsWithin(
  unread: readonly UnreadGap[],
  preferred: number,
  room: number,
): { readonly gaps: readonly Gap[]; readonly overflow: boolean; readonly bytes: number } {
  for (let limit = maxLabelerGaps; ; limit -= 2) {
    const listed = listedGaps(unread, limit);
    const gaps = listed.gaps.map(({ start, end, reason }) => ({
      start: timestamp(start),
      end: timestamp(end),
      reason,
    }));
    const bytes = gaps.length === 0 ? 0 : JSON.stringify(gaps).length;
    if (bytes <= (limit <= minGaps ? room : preferred) || limit <= 2) return { gaps, overflow: listed.overflow, bytes };
  }
}

/** Composes the line without gaps and values. */
function composed({ labeler, days, shares, week, day, lastRow, counters }: LineInputs): LabelerLine {
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
    gaps: [],
    gap_overflow: false,
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

function timestamp(at: Micros): string {
  return formatTimestamp(Math.floor(at / 1000));
}
