import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../../contract/timestamp.ts';
import type { LabelerCount } from '../../../store/counts.ts';
import type { Position, StoreReader } from '../../../store/port.ts';
import type { Purge } from '../../../store/removals.ts';
import { dayOf, dayStart, hour, type Interval, micros, minute } from '../../../store/time.ts';
import { burstsOf, lastMinute, type Repeats, readRepeats, repeatsName } from '../../repeats/repeats.ts';

/** Number of a labeler's events in a part of a day, without bursts of repeats. */
export interface DayCount {
  readonly applied: number;
  readonly removed: number;
  /** Number of rows that are omitted because they repeat known labels. */
  readonly repeats: number;
  /** Bit `h` is set if the labeler has rows, including repeats, in the settled hour `h` of the day. */
  readonly hours: number;
}

/** Counts of an interval that is shorter than an hour or to which rows may still be added. */
export interface EdgeCounts {
  readonly counts: readonly LabelerCount[];
  /** Hour of the day that contains the interval, or null if rows may still be added to the interval. */
  readonly hour: number | null;
}

/** Counts by labeler in a part of a day. */
export type DayCounts = ReadonlyMap<string, DayCount>;

/** Sums the counts of a part of a day and subtracts the bursts of repeats. */
export function dayCounts(
  part: Interval & { readonly floor: Micros },
  run: Run,
  edges: readonly EdgeCounts[],
  bursts: BurstsByLabeler,
): DayCounts {
  if (edges.length === 0) return wholeCounts(part, run, bursts);
  const sums = new Map<string, { applied: number; removed: number; hours: number }>();
  for (const [labeler, { applied, removed, hours }] of run) sums.set(labeler, { applied, removed, hours });
  for (const { counts, hour } of edges) {
    const bit = hour === null ? 0 : 1 << hour;
    for (const { labeler, applied, removed } of counts) {
      const sum = sums.get(labeler);
      if (sum) {
        sum.applied += applied;
        sum.removed += removed;
        sum.hours |= bit;
      } else sums.set(labeler, { applied, removed, hours: bit });
    }
  }
  const interval = wholeMinutes(part);
  const result = new Map<string, DayCount>();
  for (const [labeler, sum] of sums) {
    const own = bursts.get(labeler);
    result.set(labeler, { ...sum, ...(own ? withoutRepeats(sum, burstsIn(own, interval)) : { repeats: 0 }) });
  }
  return result;
}

/** Cache of the counts of runs before repeats are subtracted, because most publications use these counts again. */
const countsOfRuns = new WeakMap<Run, DayCounts>();

/** Returns the counts of a part that consists of one run. */
function wholeCounts(part: Interval & { readonly floor: Micros }, run: Run, bursts: BurstsByLabeler): DayCounts {
  let counts = countsOfRuns.get(run);
  if (counts === undefined) {
    counts = new Map([...run].map(([labeler, count]) => [labeler, { ...count, repeats: 0 }]));
    countsOfRuns.set(run, counts);
  }
  const interval = wholeMinutes(part);
  const changed = [...bursts].flatMap(([labeler, own]) => {
    const count = run.get(labeler);
    const repeats = count === undefined ? 0 : burstsIn(own, interval);
    return count !== undefined && repeats > 0
      ? [[labeler, { ...count, ...withoutRepeats(count, repeats) }] as const]
      : [];
  });
  return changed.length === 0 ? counts : new Map([...counts, ...changed]);
}

/**
 * Returns the interval in which repeats are counted. Repeats are counted by whole minutes, and all repeats of the
 * minute that contains the floor were accepted after the floor.
 */
function wholeMinutes({ start, end, floor }: Interval & { readonly floor: Micros }): Interval {
  return { start: start === floor ? micros(floor - (floor % minute)) : start, end };
}

/**
 * Subtracts at most `max` repeats from rows. Reduces applications first, because the store does not know which rows
 * repeat a removal.
 */
export function withoutRepeats(
  { applied, removed }: Pick<DayCount, 'applied' | 'removed'>,
  max: number,
): Omit<DayCount, 'hours'> {
  const repeats = Math.min(applied + removed, max);
  const fromApplied = Math.min(applied, repeats);
  return { applied: applied - fromApplied, removed: removed - (repeats - fromApplied), repeats };
}

/** Number of a labeler's rows in consecutive hours of one day. */
interface RunCount {
  readonly applied: number;
  readonly removed: number;
  /** Bit `h` is set if the labeler has rows in hour `h` of the day. */
  readonly hours: number;
}

/** Counts by labeler in consecutive hours of one day. */
export type Run = ReadonlyMap<string, RunCount>;

const noRows: RunCount = { applied: 0, removed: 0, hours: 0 };

/**
 * Cache of counts in consecutive hours that no longer change. Reads the store hour by hour, and yields to the event
 * loop after each hour. A run that is one hour longer than a cached run costs one read.
 */
export class HourRuns {
  readonly #store: Pick<StoreReader, 'countsByLabeler'>;
  #runs = new Map<string, Run>();
  #used = new Set<string>();

  constructor(store: Pick<StoreReader, 'countsByLabeler'>) {
    this.#store = store;
  }

  /** Returns the counts of the hours `from` (inclusive) to `until` (exclusive), counted since 1970, of one day. */
  async of(from: number, until: number): Promise<Run> {
    const name = nameOf(from, until);
    this.#used.add(name);
    const known = this.#runs.get(name);
    if (known) return known;
    let run: Run = new Map();
    let at = from;
    for (let end = until - 1; end > from && at === from; end -= 1) {
      const shorter = this.#runs.get(nameOf(from, end));
      if (shorter) [run, at] = [shorter, end];
    }
    const sums = new Map(run);
    for (; at < until; at += 1) {
      for (const { labeler, applied, removed } of await this.#store.countsByLabeler(hourOf(at))) {
        const sum = sums.get(labeler) ?? noRows;
        const hours = sum.hours | (1 << (at % 24));
        sums.set(labeler, { applied: sum.applied + applied, removed: sum.removed + removed, hours });
      }
      await nextTurn();
    }
    this.#runs.set(name, sums);
    return sums;
  }

  /** Discards the runs that were not requested since the last call. */
  sweep(): void {
    for (const name of this.#runs.keys()) if (!this.#used.has(name)) this.#runs.delete(name);
    this.#used = new Set();
  }

  /** Discards all runs, because rows were removed. */
  clear(): void {
    this.#runs = new Map();
  }
}

function nameOf(from: number, until: number): string {
  return `${from} ${until}`;
}

function hourOf(at: number) {
  return { start: micros(at * hour), end: micros((at + 1) * hour) };
}

/** Part of an interval that lies in one UTC day. */
export interface DayPart extends Interval {
  /** Day, counted since 1970. */
  readonly day: number;
}

/** Returns the parts of an interval by UTC day, oldest first. An empty interval has no parts. */
export function partsOf({ start, end }: Interval): DayPart[] {
  const parts: DayPart[] = [];
  for (let at = start; at < end; at = dayStart(dayOf(at) + 1)) {
    const day = dayOf(at);
    parts.push({ day, start: at, end: micros(Math.min(end, dayStart(day + 1))) });
  }
  return parts;
}

/**
 * Returns the number of burst rows in an interval. A minute counts in full if its start is in the interval. Merged minutes
 * count as if they had equal numbers of rows; all parts of them together have all their rows.
 */
export function burstsIn(bursts: readonly Repeats[], { start, end }: Interval): number {
  return bursts.reduce((sum, one) => {
    const last = lastMinute(one);
    if (one.minute * minute >= end || last * minute < start) return sum;
    const minutes = last - one.minute + 1;
    const rowsBefore = (at: number): number => {
      const begun = Math.min(minutes, Math.max(0, Math.ceil(at / minute) - one.minute));
      return Math.floor((one.count * begun) / minutes);
    };
    return sum + Math.max(0, rowsBefore(end) - rowsBefore(start));
  }, 0);
}

/** Number of stored strings that are parsed in one turn of the event loop. */
const textsAtOnce = 20;

/** Bursts of repeats by labeler, in order of their minutes. */
export type BurstsByLabeler = ReadonlyMap<string, readonly Repeats[]>;

/**
 * Finds bursts among the stored repeats. Omits repeats from before the end of a purge of the labeler's rows, because the
 * purge also removes rows that were accepted after its request.
 */
export async function burstsByLabeler(
  positions: readonly Position[],
  purges: readonly Purge[],
): Promise<BurstsByLabeler> {
  const removedUntil = new Map(purges.map(({ source, completedAt }) => [source, completedAt ?? Infinity]));
  const found = new Map<string, readonly Repeats[]>();
  let read = 0;
  for (const { source, endpoint, value } of positions) {
    if (endpoint !== repeatsName) continue;
    const since = (removedUntil.get(source) ?? 0) / minute;
    const bursts = burstsOf(readRepeats(value).filter((one) => one.minute >= since));
    if (bursts.length > 0) found.set(source, bursts);
    read += 1;
    if (read % textsAtOnce === 0) await nextTurn();
  }
  return found;
}

/** Counts without bursts of repeats, and the number of omitted rows. */
export interface Counted {
  /** Labelers in descending order of their counts, then by DID. Labelers whose rows are all repeats are omitted. */
  readonly counts: readonly { readonly labeler: string; readonly events: number }[];
  /** Number of rows that are omitted because they repeat known labels. */
  readonly leftOut: number;
  /** Number of labelers with a burst in the interval. */
  readonly labelers: number;
}
