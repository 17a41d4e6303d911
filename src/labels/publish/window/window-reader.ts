import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../../contract/timestamp.ts';
import type { LabelersCounters } from '../../../store/counts.ts';
import { StoreError } from '../../../store/errors.ts';
import type { BucketCount, Epoch, Frontier, RefusalCount, StoredGap, StoreReader } from '../../../store/port.ts';
import type { Purge, SpaceRemoval } from '../../../store/removals.ts';
import { day, hour, type Interval, micros, minute } from '../../../store/time.ts';
import { type FilledInBySource, FilledInReader } from '../../state/filled-in.ts';
import {
  type BurstsByLabeler,
  burstsByLabeler,
  type Counted,
  type DayCount,
  type DayCounts,
  type DayPart,
  dayCounts,
  type EdgeCounts,
  HourRuns,
  partsOf,
  type Run,
} from './day-counts.ts';
import { LastRows, type RowHours } from './last-rows.ts';

/** Pieces of a part of a day, from which its counts are summed. */
interface Pieces {
  /** Settled intervals that contain no whole hour. */
  readonly edges: readonly Interval[];
  /** Settled whole hours, counted since 1970. Null if there are no such hours. */
  readonly hours: { readonly from: number; readonly until: number } | null;
  /** Interval to which rows may still be added, or null if the part is settled. */
  readonly open: Interval | null;
}

/** Store methods that are used to read a window. */
type WindowStore = Pick<
  StoreReader,
  | 'epoch'
  | 'frontier'
  | 'countsByLabeler'
  | 'countsOverTime'
  | 'labelerCounters'
  | 'refusals'
  | 'gaps'
  | 'positions'
  | 'purges'
  | 'spaceRemoval'
>;

/**
 * Data of a window, read from the store. Every part describes the same rows, unless rows were removed during each
 * attempt to read them: counts of settled hours may then include rows that the other parts no longer contain.
 */
export interface WindowReading {
  readonly window: Interval;
  readonly epoch: Epoch;
  readonly frontier: Frontier;
  /** Gaps, clipped to the window. */
  readonly gaps: readonly StoredGap[];
  readonly refusals: readonly RefusalCount[];
  readonly purges: readonly Purge[];
  readonly spaceRemoval: SpaceRemoval | null;
  /** Counts of the window's days that are retained. */
  readonly days: CountedParts;
  /** Sums over the window. */
  readonly inWindow: Counted;
  /** Sums over the last seven days. */
  readonly inWeek: Counted;
  /** Sums over the last 24 hours. */
  readonly inDay: Counted;
  /** Refusals of the last 24 hours; refusals are counted by the hour, so the first hour is complete. */
  readonly refusedInDay: readonly RefusalCount[];
  /** Start of the minute of each labeler's last counted row. */
  readonly lastRows: ReadonlyMap<string, Micros>;
  /** Repeats that are stored and not counted. */
  readonly bursts: BurstsByLabeler;
  /** Times in which a source was read late. */
  readonly filledIn: FilledInBySource;
  /** Verdicts, values and delays, or null if no time of the window is retained. */
  readonly counters: LabelersCounters | null;
}

/** Maximum number of attempts to read the store. An attempt is repeated if rows or a day were removed during it. */
const maxAttempts = 3;
/** Maximum length of the interval that is counted by minute, in microseconds. */
const maxMinutes = 2 * day;

const noRun: Run = new Map();

/** Sums over the published intervals. */
type Sums = Readonly<Record<'inWindow' | 'inWeek' | 'inDay', CountSums>>;

/**
 * Reads the counts of the window. Rows have increasing stamps, so hours before the hour of the newest row no longer
 * change. Their counts are cached, and the rest is read in one turn of the event loop.
 */
export class WindowReader {
  readonly #store: WindowStore;
  readonly #runs: HourRuns;
  readonly #lastRows: LastRows;
  readonly #filledIn = new FilledInReader();
  readonly #sums: Sums = { inWindow: new CountSums(), inWeek: new CountSums(), inDay: new CountSums() };
  #revision: number | null = null;

  constructor(store: WindowStore) {
    this.#store = store;
    this.#runs = new HourRuns(store);
    this.#lastRows = new LastRows(store);
  }

  /**
   * Reads the window of `windowDays` days that ends at `now`. Tries again if rows or a day were removed during the
   * read. Returns the result of the last attempt even if rows were removed, because a purge of an open day takes
   * longer than many attempts. Rejects with any error of the store, and if the oldest day was dropped during each
   * attempt.
   */
  async read(now: Micros, windowDays: number): Promise<WindowReading> {
    for (let attempt = 1; ; attempt += 1) {
      const before = await this.#store.frontier();
      if (before.revision !== this.#revision) {
        this.#runs.clear();
        this.#lastRows.clear();
        this.#revision = before.revision;
      }
      const isLast = attempt === maxAttempts;
      try {
        const reading = await this.#readOnce(now, windowDays, before);
        const { revision, floor } = reading.frontier;
        if ((revision === before.revision && floor === before.floor) || isLast) return reading;
      } catch (error) {
        // Try again if the oldest day was dropped after the floor was read.
        if (isLast || !(error instanceof StoreError) || error.code !== 'out_of_window') throw error;
      }
    }
  }

  async #readOnce(now: Micros, windowDays: number, { floor, end }: Frontier): Promise<WindowReading> {
    const window = { start: micros(now - windowDays * day), end: now };
    const settledThrough = Math.floor(Math.min(end - 1, now) / hour) * hour;
    const plan = new ReadingPlan({ now, windowDays, floor, settledThrough });
    for (const { part, pieces } of plan.parts) {
      const run = pieces.hours === null ? noRun : await this.#runs.of(pieces.hours.from, pieces.hours.until);
      const edges: EdgeCounts[] = [];
      for (const edge of pieces.edges) {
        const counts = await this.#store.countsByLabeler(edge);
        edges.push({ counts, hour: Math.floor((edge.start % day) / hour) });
        await nextTurn();
      }
      plan.settle(part, run, edges);
    }
    this.#runs.sweep();
    await this.#warmDays(window, { floor, end });
    const open = await this.#readOpen(plan, window, settledThrough);
    const bursts = await burstsByLabeler(open.positions, open.purges);
    const counted = await plan.countAll(open.counts, bursts, floor, this.#sums);
    const labelers = await plan.rowHours();
    const uncachedFrom = settledThrough / hour - 1;
    const { start } = window;
    const lastRows = await this.#lastRows.find({ labelers, open: open.minutes, bursts, start, floor, uncachedFrom });
    const filledIn = await this.#filledIn.read(open.positions);
    return { ...open.reading, ...counted, window, lastRows, bursts, filledIn };
  }

  /**
   * Reads the refusals and counters of the days that no longer change, so that the store has cached them when the
   * counts of today are read.
   */
  async #warmDays(window: Interval, { floor, end }: Pick<Frontier, 'floor' | 'end'>): Promise<void> {
    const start = micros(Math.max(floor, window.start));
    const today = micros(Math.min(window.end, Math.floor((end - 1) / day) * day));
    if (start >= today) return;
    for (const part of partsOf({ start, end: today })) {
      await this.#store.refusals(part);
      await nextTurn();
    }
    await this.#store.labelerCounters({ start, end: today });
  }

  /** Reads all data that may still change. The calls run in one turn, so that all of them read the same rows. */
  async #readOpen(plan: ReadingPlan, window: Interval, settledThrough: number) {
    const { now, floor } = plan.inputs;
    const store = this.#store;
    const counted = { start: micros(Math.max(floor, window.start)), end: now };
    const lastDay = { start: micros(Math.max(floor, now - day)), end: now };
    const [
      epoch,
      frontier,
      gaps,
      refusals,
      refusedInDay,
      positions,
      purges,
      spaceRemoval,
      counters,
      minutes,
      ...counts
    ] = await Promise.all([
      store.epoch(),
      store.frontier(),
      store.gaps(window),
      counted.start < counted.end ? store.refusals(counted) : [],
      lastDay.start < lastDay.end ? store.refusals(lastDay) : [],
      store.positions(),
      store.purges(),
      store.spaceRemoval(),
      counted.start < counted.end ? store.labelerCounters(counted) : null,
      openMinutes(store, settledThrough, plan.inputs),
      ...plan.open.map((interval) => store.countsByLabeler(interval)),
    ]);
    const reading = { epoch, frontier, gaps, refusals, refusedInDay, purges, spaceRemoval, counters };
    return { reading, positions, purges, minutes, counts };
  }
}

async function openMinutes(
  store: WindowStore,
  settledThrough: number,
  { now, windowDays, floor }: PlanInputs,
): Promise<readonly BucketCount[]> {
  const from = Math.max(settledThrough, floor, now - windowDays * day);
  const start = micros(Math.ceil(from / minute) * minute);
  const end = micros(Math.min(Math.ceil(now / minute) * minute, start + maxMinutes));
  return start < end ? store.countsOverTime({ bucket: 'minute', start, end }) : [];
}

interface PlanInputs {
  readonly now: Micros;
  readonly windowDays: number;
  readonly floor: Micros;
  readonly settledThrough: number;
}

/** Parts of days that are counted for one window. Each part is counted once, even if several intervals contain it. */
class ReadingPlan {
  readonly inputs: PlanInputs;
  readonly parts: readonly { readonly part: DayPart; readonly pieces: Pieces }[];
  /** Open intervals, each listed once. */
  readonly open: readonly Interval[];
  readonly #intervals: Readonly<Record<'inWindow' | 'inWeek' | 'inDay', readonly DayPart[]>>;
  readonly #settled = new Map<string, { readonly run: Run; readonly edges: readonly EdgeCounts[] }>();
  readonly #counted = new Map<string, DayCounts>();

  constructor(inputs: PlanInputs) {
    const { now, windowDays, floor, settledThrough } = inputs;
    this.inputs = inputs;
    const since = (days: number) => partsOf({ start: micros(Math.max(floor, now - days * day)), end: now });
    this.#intervals = { inWindow: since(windowDays), inWeek: since(7), inDay: since(1) };
    const parts = new Map(Object.values(this.#intervals).flatMap((all) => all.map((part) => [nameOf(part), part])));
    this.parts = [...parts.values()].map((part) => ({ part, pieces: piecesOf(part, settledThrough) }));
    const open = this.parts.flatMap(({ pieces }) => pieces.open ?? []);
    this.open = [...new Map(open.map((interval) => [nameOf(interval), interval])).values()];
  }

  /** Sets the settled counts of a part. */
  settle(part: DayPart, run: Run, edges: readonly EdgeCounts[]): void {
    this.#settled.set(nameOf(part), { run, edges });
  }

  /** Sums the counts of each part; `open` contains the counts of the open intervals, in their order. */
  async countAll(open: readonly EdgeCounts['counts'][], bursts: BurstsByLabeler, floor: Micros, sums: Sums) {
    const openCounts = new Map(this.open.map((interval, i) => [nameOf(interval), open[i] ?? []]));
    for (const { part, pieces } of this.parts) {
      const { run = noRun, edges = [] } = this.#settled.get(nameOf(part)) ?? {};
      const rest = pieces.open === null ? [] : [{ counts: openCounts.get(nameOf(pieces.open)) ?? [], hour: null }];
      this.#counted.set(nameOf(part), dayCounts({ ...part, floor }, run, [...edges, ...rest], bursts));
      await nextTurn();
    }
    const of = (parts: readonly DayPart[]): CountedParts =>
      parts.map((part) => ({ day: part.day, counts: this.#counted.get(nameOf(part)) ?? new Map() }));
    const { inWindow, inWeek, inDay } = this.#intervals;
    const days = of(inWindow);
    return {
      days,
      inWindow: await sums.inWindow.of(days),
      inWeek: await sums.inWeek.of(of(inWeek)),
      inDay: await sums.inDay.of(of(inDay)),
    };
  }

  /**
   * Returns the newest settled hour of each labeler that may contain counted rows of the window. Omits days in which
   * all rows of the labeler are repeats.
   */
  async rowHours(): Promise<RowHours[]> {
    const newest = new Map<string, number>();
    const newestFirst = this.#newestFirst();
    for (const { day: at, counts } of newestFirst) {
      for (const [labeler, count] of counts) {
        const hours = hoursOf(count);
        if (hours !== 0 && !newest.has(labeler)) newest.set(labeler, at * 24 + 31 - Math.clz32(hours));
      }
      await nextTurn();
    }
    return [...newest].map(([labeler, hourOf]) => ({
      labeler,
      newest: hourOf,
      all: () => hoursIn(newestFirst, labeler),
    }));
  }

  #newestFirst(): CountedParts {
    return this.#intervals.inWindow
      .toReversed()
      .map((part) => ({ day: part.day, counts: this.#counted.get(nameOf(part)) ?? new Map() }));
  }
}

/** Returns the settled hours with rows of a labeler, newest first; `newestFirst` contains the counts of the days. */
function hoursIn(newestFirst: CountedParts, labeler: string): number[] {
  const found: number[] = [];
  for (const { day: at, counts } of newestFirst) {
    const bits = hoursOf(counts.get(labeler));
    for (let h = 23; h >= 0; h -= 1) if ((bits & (1 << h)) !== 0) found.push(at * 24 + h);
  }
  return found;
}

/** Returns the settled hours with rows as bits. Returns zero if there are no rows, or all rows are repeats. */
function hoursOf(count: DayCount | undefined): number {
  return count !== undefined && count.applied + count.removed > 0 ? count.hours : 0;
}

function nameOf({ start, end }: Interval): string {
  return `${start} ${end}`;
}

/** Counts by labeler in the parts of an interval. */
type CountedParts = readonly { readonly day: number; readonly counts: DayCounts }[];

interface Sum {
  readonly events: number;
  readonly repeats: number;
}

/** Sums of counts over an interval. The sum of the parts that did not change since the last call is cached. */
export class CountSums {
  #days: readonly DayCounts[] = [];
  #sums: ReadonlyMap<string, Sum> = new Map();

  /**
   * Sums the counts of the parts by labeler, sorted by count in descending order and then by DID. Omits labelers
   * without counted events. Yields to the event loop after each part that it adds.
   */
  async of(parts: CountedParts): Promise<Counted> {
    // Cache only the sum of the inner parts, because the first part becomes shorter and the last one longer with every
    // call.
    const inner = parts.slice(1, -1).map(({ counts }) => counts);
    if (inner.length !== this.#days.length || inner.some((counts, i) => counts !== this.#days[i])) {
      this.#sums = await added(new Map(), inner);
      this.#days = inner;
    }
    const ends = parts.length > 1 ? [parts.at(0), parts.at(-1)] : [parts.at(0)];
    const sums = await added(
      new Map(this.#sums),
      ends.flatMap((part) => part?.counts ?? []),
    );
    const counts = [...sums]
      .filter(([, { events }]) => events > 0)
      .map(([labeler, { events }]) => ({ labeler, events }))
      .sort((a, b) => b.events - a.events || (a.labeler < b.labeler ? -1 : 1));
    const repeated = [...sums.values()].filter(({ repeats }) => repeats > 0);
    return { counts, leftOut: repeated.reduce((sum, { repeats }) => sum + repeats, 0), labelers: repeated.length };
  }
}

async function added(sums: Map<string, Sum>, days: readonly DayCounts[]): Promise<Map<string, Sum>> {
  for (const counts of days) {
    for (const [labeler, { applied, removed, repeats }] of counts) {
      const sum = sums.get(labeler);
      const events = applied + removed;
      sums.set(labeler, sum ? { events: sum.events + events, repeats: sum.repeats + repeats } : { events, repeats });
    }
    await nextTurn();
  }
  return sums;
}

/** Divides a part of a day at `settledThrough`, a whole hour before which counts no longer change. */
function piecesOf({ start, end }: Interval, settledThrough: number): Pieces {
  const settledEnd = Math.min(end, Math.max(start, settledThrough));
  const open = settledEnd < end ? { start: micros(settledEnd), end } : null;
  const from = Math.ceil(start / hour);
  const until = Math.floor(settledEnd / hour);
  if (from >= until) {
    return { edges: nonEmpty([{ start, end: micros(settledEnd) }]), hours: null, open };
  }
  const edges = nonEmpty([
    { start, end: micros(from * hour) },
    { start: micros(until * hour), end: micros(settledEnd) },
  ]);
  return { edges, hours: { from, until }, open };
}

function nonEmpty(intervals: readonly Interval[]): Interval[] {
  return intervals.filter(({ start, end }) => start < end);
}
