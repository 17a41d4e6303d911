import { type LabelerLine, labelersLimits } from '../../../artifact/labelers.ts';
import { findIdentity } from '../../../contract/privacy/find-identity.ts';
import type { Micros } from '../../../contract/timestamp.ts';
import { fewerThanFive } from '../../../contract/vocabulary.ts';
import { delayBounds, delayQuantile, type LabelerCounters } from '../../../store/counts.ts';
import { labelerHandle } from '../../../store/roster.ts';
import { timestamp } from '../coverage.ts';
import type { DayCount, DayCounts } from '../window/day-counts.ts';
import type { LabelerDefinitions } from './definition-cache.ts';
import { discoverySourcesOf, type ListedLabeler, listedGaps, type UnreadGap } from './listed-labeler.ts';

/** Input of a labeler's line. */
interface LineInputs {
  readonly labeler: ListedLabeler;
  /** Counts of each day of the window, or undefined for a day without rows. */
  readonly days: readonly (DayCount | undefined)[];
  /** Share of each day in which the labeler was read. */
  readonly shares: readonly number[];
  /** Indexes of the days on which the labeler was read late. */
  readonly lateDays: readonly number[];
  readonly unread: readonly UnreadGap[];
  /** Cached parts of the line from the last publication. */
  readonly memory: LabelerMemory;
  /** Number of counted events in the last seven days. */
  readonly week: number;
  /** Number of counted events in the last 24 hours. */
  readonly day: number;
  /** Minute of the last counted row, or null if the window has no counted row. */
  readonly lastRow: Micros | null;
  readonly definitions: LabelerDefinitions;
  /** Counts of the labeler, including zeros. Null if nothing is counted yet. */
  readonly counters: LabelerCounters | null;
}

/** Number of bytes of a line that are reserved for values while the line has more than a few gaps. */
const valuesRoom = 600;

/** Creates the line of a labeler, which has at most `labelersLimits.lineBytes` bytes. */
export function labelerLine(inputs: LineInputs): string {
  const { definitions, counters } = inputs;
  const front = textOf(frontOf(inputs));
  const signatures = textOf({ signatures: counters === null ? null : counters.verdicts });
  const back = textOf({ replaces_rows: inputs.labeler.replacesRows, delay_ms: delaysOf(counters) });
  // Bytes of the line that are left for gaps and values. All other texts are ASCII, so their lengths are sizes in
  // bytes.
  const room = labelersLimits.lineBytes - front.length - signatures.length - back.length - fixedBytes;
  const { values, undeclared } = countedValues(inputs);
  const valueBytes = values.reduce((sum, { declared }) => sum + entryBytes(declared), 0);
  const gaps = inputs.memory.gaps.within(inputs.unread, room - Math.min(valueBytes, valuesRoom), room);
  const listed = firstThatFit(values, room - gaps.bytes);
  const others = values.slice(listed.length);
  const middle: Pick<LabelerLine, 'values' | 'values_omitted' | 'undeclared'> = {
    values: listed.map(({ declared: { value, first_defined, last_defined }, events }) => {
      return { value, events, first_defined, last_defined };
    }),
    values_omitted: definitions.omitted + others.length,
    undeclared: publishedSum([undeclared, ...others.map(({ events }) => events)]),
  };
  return `{${front},"gaps":${gaps.text},"gap_overflow":${gaps.overflow},${signatures},${textOf(middle)},${back}}`;
}

/** Returns the members of an object as JSON without its braces. */
function textOf(members: Partial<LabelerLine>): string {
  return JSON.stringify(members).slice(1, -1);
}

type DeclaredValue = LabelerDefinitions['values'][number];

/** Value with its published count. */
interface Counted {
  readonly declared: DeclaredValue;
  readonly events: PublishedCount;
}

/** Returns the published counts of all declared values, in the order of the line, and of all other values together. */
function countedValues({ definitions, counters }: LineInputs): {
  readonly values: readonly Counted[];
  readonly undeclared: PublishedCount;
} {
  const events = eventsByValue(counters);
  const counts = definitions.values.map(({ value }) => events.get(value) ?? 0);
  const undeclared = Math.max(0, allEvents(counters) - counts.reduce((sum, count) => sum + count, 0));
  // The store counts at most 256 values of a day by name. If there are more, the counts by value are incomplete. Before
  // the definitions are read, it is not known which events are of declared values.
  const isComplete = definitions.isRead && counters !== null && counters.others.applied + counters.others.removed === 0;
  const published = isComplete ? publishedCounts([...counts, undeclared]) : [];
  const values = definitions.values
    .map((declared, i): Counted => ({ declared, events: published[i] ?? null }))
    .sort((a, b) => byPublishedCount(a.events, b.events) || (a.declared.value < b.declared.value ? -1 : 1));
  return { values, undeclared: published[counts.length] ?? null };
}

/**
 * Maximum size in bytes of the fixed parts of a line: punctuation, the empty lists of gaps and values, and the counts
 * after the values.
 */
const fixedBytes = '{,"gaps":[],"gap_overflow":false,,"values":[],"values_omitted":0,"undeclared":null,}'.length + 40;
/**
 * Size in bytes of a value's entry without the value itself: names, quotes, a comma, a date, and the longest count.
 */
const fixedEntryBytes = '{"value":"","events":9007199254740991,"first_defined":"2026-01-01","last_defined":null},'
  .length;
/** Number of bytes by which a date is longer than null. */
const dateBytes = '"2026-01-01"'.length - 'null'.length;

function entryBytes({ value, last_defined }: DeclaredValue): number {
  return fixedEntryBytes + value.length + (last_defined === null ? 0 : dateBytes);
}

function firstThatFit(values: readonly Counted[], room: number): readonly Counted[] {
  let used = 0;
  const first = values.findIndex(({ declared }) => {
    used += entryBytes(declared);
    return used > room;
  });
  return first === -1 ? values : values.slice(0, first);
}

/** Members of the line before its gaps. */
type Front = Omit<
  LabelerLine,
  'gaps' | 'gap_overflow' | 'signatures' | 'values' | 'values_omitted' | 'undeclared' | 'replaces_rows' | 'delay_ms'
>;

/** Composes the members of the line before its gaps. */
function frontOf({ labeler, days, shares, lateDays, memory, week, day, lastRow }: LineInputs): Front {
  const { firstAnswered, lastAnswered } = labeler;
  const sum = (of: (count: DayCount) => number): number =>
    days.reduce((total, count) => total + (count === undefined ? 0 : of(count)), 0);
  return {
    did: labeler.did,
    ...publishedHandle(labeler),
    enrolled: labeler.enrolled,
    state: labeler.state,
    state_since: memory.stamp('state_since', labeler.stateSince),
    problem: labeler.problem,
    found_by: [...discoverySourcesOf(labeler)],
    read_by: labeler.readBy,
    first_answered: firstAnswered === null ? null : memory.stamp('first_answered', firstAnswered),
    last_answered: lastAnswered === null ? null : memory.stamp('last_answered', lastAnswered),
    last_row: lastRow === null ? null : memory.stamp('last_row', lastRow),
    events: { window: sum(({ applied, removed }) => applied + removed), week, day },
    repeats: sum(({ repeats }) => repeats),
    days: shares.map((share, i) => dayEntry(days[i], share)),
    late_days: [...lateDays],
  };
}

/**
 * Returns the entry of a day. If the labeler was not read on that day and no event is counted, its counts are null,
 * because they are unknown.
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

/** A published count: the exact number, `fewer_than_5`, or null if the count is withheld. */
type PublishedCount = number | typeof fewerThanFive | null;

/** Smallest count that is published exactly. */
export const minExact = 5;

/** Returns the number of events of each value that is counted by name. */
function eventsByValue(counters: LabelerCounters | null): ReadonlyMap<string, number> {
  return new Map((counters?.values ?? []).map(({ value, applied, removed }) => [value, applied + removed]));
}

/** Returns the number of events of all values. */
function allEvents(counters: LabelerCounters | null): number {
  if (counters === null) return 0;
  const named = counters.values.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
  return named + counters.others.applied + counters.others.removed;
}

/**
 * Returns counts in the form in which they are published. The total and this rule are public, so a reader can compute
 * which counts have the same form:
 *
 * 1. If no count is under five, all counts are published.
 * 2. If the total is under five, every count is `fewer_than_5`.
 * 3. If two counts under five differ, all counts under five are `fewer_than_5`, and the other counts are published.
 * 4. Otherwise all counts under five are withheld, as is the smallest of the other counts and every count equal to it.
 *
 * A reader cannot derive any unpublished count, except zeros from a total of zero, and a single count from the total.
 * The rule does not depend on the order of the counts: exchanging two counts of one form gives the same form and total.
 * In case 2, any distribution of the total has the same form. In case 3, an unpublished count can have the value of any
 * count under five, and at least two of these differ. In case 4, a withheld count can have the value of any withheld
 * count, under five or not; if all counts are withheld, one of them can also be the total and all others zero.
 */
export function publishedCounts(counts: readonly number[]): PublishedCount[] {
  const small = counts.filter((count) => count < minExact);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total < minExact) return counts.map(() => fewerThanFive);
  const isMixed = small.some((count) => count !== small[0]);
  if (isMixed || small.length === 0) return counts.map((count) => (count < minExact ? fewerThanFive : count));
  const smallestOther = Math.min(...counts.filter((count) => count >= minExact));
  return counts.map((count) => (count <= smallestOther ? null : count));
}

/**
 * Compares published counts: exact counts in descending order, then all others. The order of the others does not
 * depend on their counts, because an order by count would reveal the counts.
 */
export function byPublishedCount(a: PublishedCount, b: PublishedCount): number {
  return (typeof b === 'number' ? b : 0) - (typeof a === 'number' ? a : 0);
}

/**
 * Returns the sum of published counts as a published count. If one of several counts is not exact, the sum is withheld,
 * because it must not reveal more than the published counts do.
 */
export function publishedSum(counts: readonly PublishedCount[]): PublishedCount {
  const [first, ...others] = counts;
  if (others.length === 0) return first ?? null;
  return counts.every((count) => typeof count === 'number') ? counts.reduce((sum, count) => sum + count, 0) : null;
}

/** Cached parts of a labeler's line from the last publication, which the next publication uses again. */
export class LabelerMemory {
  readonly gaps = new GapTexts();
  readonly #stamps = new Map<string, { readonly at: Micros; readonly text: string }>();
  #days: readonly DayCounts[] = [];
  #counts: readonly (DayCount | undefined)[] = [];

  /** Returns the formatted timestamp of a member. The timestamp is cached, because most members rarely change. */
  stamp(member: string, at: Micros): string {
    const known = this.#stamps.get(member);
    if (known?.at === at) return known.text;
    const text = timestamp(at);
    this.#stamps.set(member, { at, text });
    return text;
  }

  /** Returns the counts of a labeler by day. Returns the same object again for a day whose counts did not change. */
  countsOf(did: string, days: readonly DayCounts[]): readonly (DayCount | undefined)[] {
    if (days.length !== this.#days.length || days.some((counts, i) => counts !== this.#days[i])) {
      this.#counts = days.map((counts, i) => (counts === this.#days[i] ? this.#counts[i] : counts.get(did)));
      this.#days = days;
    }
    return this.#counts;
  }
}

/** Maximum number of gaps that may use the bytes reserved for values. */
const minGaps = 4;

/** Gaps of a labeler in JSON. */
interface WrittenGaps {
  /** JSON array. */
  readonly text: string;
  /** True if gaps were merged. */
  readonly overflow: boolean;
  /** Bytes of the array, or 0 for an empty array. */
  readonly bytes: number;
}

interface GapText extends UnreadGap {
  readonly text: string;
}

/** Cache of a labeler's gaps in JSON, because most publications write the same gaps again. */
class GapTexts {
  #written: readonly GapText[] = [];
  #text = '[]';

  /**
   * Returns the gaps in JSON. Merges gaps until the JSON fits into `preferred` bytes, or into `room` bytes once at most
   * `minGaps` gaps are left. Returns two gaps even if their JSON does not fit.
   */
  within(unread: readonly UnreadGap[], preferred: number, room: number): WrittenGaps {
    for (let limit = labelersLimits.gaps; ; limit -= 2) {
      const { gaps, overflow } = listedGaps(unread, limit);
      this.#write(gaps);
      const bytes = gaps.length === 0 ? 0 : this.#text.length;
      if (bytes <= (limit <= minGaps ? room : preferred) || limit <= 2) return { text: this.#text, overflow, bytes };
    }
  }

  #write(gaps: readonly UnreadGap[]): void {
    const texts = gaps.map((gap, i) => this.#textOf(gap, i));
    if (texts.length === this.#written.length && texts.every((text, i) => text === this.#written[i])) return;
    this.#written = texts;
    this.#text = `[${texts.map(({ text }) => text).join(',')}]`;
  }

  #textOf(gap: UnreadGap, place: number): GapText {
    const before = this.#written[place];
    if (before && isSame(before, gap)) return before;
    const known = this.#written.find((written) => isSame(written, gap));
    if (known) return known;
    const { start, end, reason } = gap;
    const written: LabelerLine['gaps'][number] = { start: startTexts.of(start), end: endTexts.of(end), reason };
    return { start, end, reason, text: JSON.stringify(written) };
  }
}

function isSame(a: UnreadGap, b: UnreadGap): boolean {
  return a.start === b.start && a.end === b.end && a.reason === b.reason;
}

/**
 * Cache of the timestamp that was formatted last, because consecutive labelers often have gaps at the same bound of the
 * window.
 */
class LastText {
  #at: Micros | null = null;
  #text = '';

  of(at: Micros): string {
    if (this.#at !== at) this.#text = timestamp(at);
    this.#at = at;
    return this.#text;
  }
}

const startTexts = new LastText();
const endTexts = new LastText();

/**
 * Returns the handle that a labeler's document claims, or null if the text is not a handle or contains a DID or another
 * handle.
 */
function publishedHandle({ handle }: Pick<ListedLabeler, 'handle'>): Pick<LabelerLine, 'handle' | 'handle_withheld'> {
  if (handle === null) return { handle: null };
  const name = labelerHandle(handle.name, handle.confirmed);
  const shape = name === null ? null : findIdentity(name.name);
  if (name !== null && (shape === null || shape === 'handle')) return { handle: name };
  return { handle: null, handle_withheld: 'privacy' };
}
