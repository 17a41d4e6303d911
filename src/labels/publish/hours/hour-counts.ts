import { setImmediate as nextTurn } from 'node:timers/promises';
import { hoursLimits } from '../../../artifact/hours/hours.ts';
import type { LabelsHour, LabelsHours } from '../../../artifact/hours/labels-hours.ts';
import type { RecentOverview } from '../../../artifact/recognise.ts';
import { parseTimestamp } from '../../../contract/timestamp.ts';
import type { GapReason } from '../../../contract/vocabulary.ts';
import type { LabelerCount } from '../../../store/counts.ts';
import { StoreError } from '../../../store/errors.ts';
import type { Frontier, StoredGap, StoreReader } from '../../../store/port.ts';
import { hour, type Interval, micros, minute } from '../../../store/time.ts';
import type { Turns } from '../../clock/clock.ts';
import { type FilledInBySource, intervalOf, joinedSpans, type MinuteSpan } from '../../state/filled-in.ts';
import { burstsIn, withoutRepeats } from '../window/day-counts.ts';
import type { WindowReading } from '../window/window-reader.ts';

/** Store methods that are used to count the hours. */
type HoursStore = Pick<StoreReader, 'frontier' | 'countsByLabeler' | 'countsOverTime'>;

/**
 * Number of rows by labeler, including repeats, in the closed part of one hour. This part begins at the start of the
 * hour.
 */
export interface CountedHour extends Interval {
  readonly counts: readonly LabelerCount[];
}

/** Interval of the closed minutes, and the hours that it includes. */
interface ClosedHours extends Interval {
  /** Starts of the hours, oldest first. */
  readonly starts: readonly number[];
}

/**
 * Maximum number of attempts to count the rows of the hours. An attempt is repeated if rows or a day were removed
 * during it.
 */
const maxAttempts = 3;

/**
 * Returns the hours of a file that is written at `now`. A minute is closed one minute after its end, because a commit
 * takes time and a clock may be set back slightly. Hours whose rows are no longer retained are omitted; hours before
 * the start of the epoch are included.
 */
export function closedHours(now: number, frontier: Pick<Frontier, 'floor'>, startedAt: number): ClosedHours {
  const end = Math.floor((now - minute) / minute) * minute;
  const last = Math.ceil(end / hour) - 1;
  const retained = frontier.floor > startedAt ? Math.ceil(frontier.floor / hour) : 0;
  const first = Math.min(last, Math.max(last - hoursLimits.hours + 1, retained));
  const starts = Array.from({ length: last - first + 1 }, (_, at) => (first + at) * hour);
  return { start: micros(first * hour), end: micros(end), starts };
}

/**
 * Counts the rows of the last hours. Rows have increasing stamps, so hours before the hour of the newest row no longer
 * change, and their counts are cached. Yields to the event loop after each hour that is read.
 */
export class HourCounts {
  readonly #store: HoursStore;
  #cached = new Map<number, readonly LabelerCount[]>();
  #revision: number | null = null;

  constructor(store: HoursStore) {
    this.#store = store;
  }

  /**
   * Counts the rows of the hours. Repeats the attempt if rows or a day were removed during it, but accepts the counts
   * of the last attempt, because a purge may take a long time.
   */
  async read(hours: ClosedHours): Promise<CountedHour[]> {
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt === maxAttempts;
      const before = await this.#store.frontier();
      try {
        const counted = await this.#readOnce(hours, before);
        const { revision, floor } = await this.#store.frontier();
        if ((revision === before.revision && floor === before.floor) || isLast) return counted;
      } catch (error) {
        // Try again if the oldest day was dropped after the floor was read.
        if (isLast || !(error instanceof StoreError) || error.code !== 'out_of_window') throw error;
      }
    }
  }

  async #readOnce(hours: ClosedHours, { revision, floor, end }: Frontier): Promise<CountedHour[]> {
    if (revision !== this.#revision) this.#cached = new Map();
    this.#revision = revision;
    const settledThrough = Math.floor((end - 1) / hour) * hour;
    const cached = new Map<number, readonly LabelerCount[]>();
    const counted: CountedHour[] = [];
    for (const hourStart of hours.starts) {
      const start = micros(Math.max(hourStart, floor));
      const until = micros(Math.min(hourStart + hour, hours.end));
      const isSettled = hourStart + hour <= Math.min(settledThrough, hours.end);
      let counts = isSettled ? this.#cached.get(hourStart) : undefined;
      if (counts === undefined) {
        counts = start < until ? await this.#store.countsByLabeler({ start, end: until }) : [];
        await nextTurn();
      }
      if (isSettled) cached.set(hourStart, counts);
      counted.push({ start: micros(hourStart), end: until, counts });
    }
    this.#cached = cached;
    return counted;
  }
}

/** Number of rows that were read late, including repeats. */
interface LateRows {
  readonly applied: number;
  readonly removed: number;
}

/** Rows of one hour that were read late, by labeler; labelers without such rows are absent. */
type LateRowsOfHour = ReadonlyMap<string, LateRows>;

/** Times that are left out of rates: those of each labeler, and those of labelers without an entry. */
export interface LateTimes {
  readonly bySource: FilledInBySource;
  readonly others: readonly MinuteSpan[];
}

/**
 * Time after an interruption of the whole instrument, in microseconds, in which the rows that waited in memory and in
 * connections are accepted.
 */
export const settleTime = 2 * minute;

/**
 * Returns the times that are left out of rates, in whole minutes: the catch-ups and gaps of each labeler, and the time
 * after interruptions of the instrument. Rows that are accepted during a gap of their labeler, as by a labeler that
 * exceeds its share, belong to no observed time either.
 */
export async function lateTimes(
  filledIn: FilledInBySource,
  gaps: {
    /** Gaps of the instrument, including those that end within `settleTime` before the first hour. */
    readonly settling: readonly StoredGap[];
    readonly bySource: ReadonlyMap<string | null, readonly StoredGap[]>;
  },
  turns: Turns,
): Promise<LateTimes> {
  const others = joinedSpans(gaps.settling.flatMap((gap) => settlingSpan(gap, gap.reason) ?? []));
  const bySource = new Map<string, readonly MinuteSpan[]>();
  for (const source of new Set([...filledIn.keys(), ...gaps.bySource.keys()])) {
    if (source === null) continue;
    const own = (gaps.bySource.get(source) ?? []).map(({ start, end }) => {
      return { start: Math.ceil(start / minute), end: Math.floor(end / minute) };
    });
    bySource.set(source, joinedSpans([...others, ...own, ...(filledIn.get(source) ?? [])]));
    if (turns.isOver) await turns.next();
  }
  return { bySource, others };
}

/**
 * Returns the time around an interruption of the instrument in which all sources are read late. Other gaps of the
 * instrument have no labels that arrive later.
 */
function settlingSpan({ start, end }: Interval, reason: GapReason): MinuteSpan | null {
  if (reason === 'not_observed' || reason === 'source_unavailable') return null;
  return { start: Math.ceil(start / minute), end: Math.ceil((end + settleTime) / minute) };
}

const none: LateRowsOfHour = new Map();

/**
 * Counts the rows that were accepted in given minutes. Reads the counters by minute, and only those of hours that
 * contain such minutes and rows. The counts of an hour are cached until its rows or minutes change.
 */
export class FilledInCounts {
  readonly #store: Pick<StoreReader, 'countsOverTime'>;
  #cached = new Map<number, { readonly key: string; readonly rows: LateRowsOfHour }>();

  constructor(store: Pick<StoreReader, 'countsOverTime'>) {
    this.#store = store;
  }

  /** Returns the rows of each hour that were accepted in the given times. Rejects with any error of the store. */
  async read(counted: readonly CountedHour[], times: LateTimes, floor: number): Promise<LateRowsOfHour[]> {
    const cached = new Map<number, { readonly key: string; readonly rows: LateRowsOfHour }>();
    const result: LateRowsOfHour[] = [];
    for (const one of counted) {
      const late = lateIn(one, times);
      if (late === null) {
        result.push(none);
        continue;
      }
      const before = this.#cached.get(one.start);
      const rows = before?.key === late.key ? before.rows : await this.#count(one, late, floor);
      cached.set(one.start, { key: late.key, rows });
      result.push(rows);
      await nextTurn();
    }
    this.#cached = cached;
    return result;
  }

  async #count({ end }: CountedHour, { from, until, spansOf }: LateHour, floor: number): Promise<LateRowsOfHour> {
    const start = micros(Math.max(from, Math.ceil(floor / minute)) * minute);
    const stop = micros(Math.min(until * minute, end));
    if (start >= stop) return none;
    const sums = new Map<string, LateRows>();
    for (const { labeler, start: at, applied, removed } of await this.#store.countsOverTime({
      ...{ bucket: 'minute', start, end: stop },
    })) {
      const isLate = spansOf(labeler).some((span) => at >= span.start * minute && at < span.end * minute);
      if (!isLate) continue;
      const sum = sums.get(labeler) ?? { applied: 0, removed: 0 };
      sums.set(labeler, { applied: sum.applied + applied, removed: sum.removed + removed });
    }
    return sums;
  }
}

interface LateHour {
  /** First and last minute that is late for any labeler of the hour; `until` is exclusive. */
  readonly from: number;
  readonly until: number;
  readonly spansOf: (labeler: string) => readonly MinuteSpan[];
  /** Text that changes whenever the rows or the late minutes of the hour change. */
  readonly key: string;
}

/** Returns the late minutes of the labelers that have rows in the hour; null if there are none. */
function lateIn({ start, counts }: CountedHour, { bySource, others }: LateTimes): LateHour | null {
  const [first, last] = [start / minute, (start + hour) / minute];
  const isWithin = (span: MinuteSpan): boolean => span.start < last && span.end > first;
  const rest = others.filter(isWithin);
  const own = new Map<string, readonly MinuteSpan[]>();
  const key: string[] = [];
  let [from, until] = [last, first];
  for (const { labeler, applied, removed } of counts) {
    const all = bySource.get(labeler);
    const spans = all === undefined ? rest : all.filter(isWithin);
    if (spans.length === 0) continue;
    own.set(labeler, spans);
    let line = `${labeler} ${applied} ${removed}`;
    for (const { start, end } of spans) {
      line += ` ${start}-${end}`;
      from = Math.min(from, start);
      until = Math.max(until, end);
    }
    key.push(line);
  }
  if (own.size === 0) return null;
  const spansOf = (labeler: string) => own.get(labeler) ?? [];
  return { from: Math.max(first, from), until: Math.min(last, until), spansOf, key: key.join('\n') };
}

/** Rows of one labeler, or of all labelers, in one hour. */
export interface HourRows {
  readonly applied: number;
  readonly removed: number;
  readonly repeats: number;
  /** Part of `applied` and `removed` that was read late. */
  readonly late: LateRows;
}

/** Input of `countHourRows`. */
interface HourRowsInputs {
  readonly counted: readonly CountedHour[];
  readonly bursts: WindowReading['bursts'];
  readonly times: LateTimes;
  /** Rows that were read late, in the order of `counted`. */
  readonly lateRows: readonly LateRowsOfHour[];
}

/** Number of labelers whose rows are processed between two checks of the turn. */
const labelersAtOnce = 250;

/** Counts the rows of each labeler by hour. Subtracts repeats from applications first, as in the counts of days. */
export async function countHourRows(inputs: HourRowsInputs, turns: Turns): Promise<HourRowTable> {
  const { counted, bursts, times, lateRows } = inputs;
  const table = new HourRowTable(counted.length);
  for (const [at, { counts, start, end }] of counted.entries()) {
    for (const [nth, { labeler, applied, removed }] of counts.entries()) {
      if (nth % labelersAtOnce === 0 && turns.isOver) await turns.next();
      const own = bursts.get(labeler) ?? [];
      const repeatsIn = (parts: readonly Interval[]) => parts.reduce((sum, part) => sum + burstsIn(own, part), 0);
      const rows = withoutRepeats({ applied, removed }, own.length === 0 ? 0 : repeatsIn([{ start, end }]));
      table.set(labeler, at, rows);
      const late = lateRows[at]?.get(labeler);
      if (late === undefined) continue;
      const spans = within(times.bySource.get(labeler) ?? times.others, { start, end });
      const lateEvents = withoutRepeats(late, repeatsIn(spans));
      table.setLate(labeler, at, {
        applied: Math.min(rows.applied, lateEvents.applied),
        removed: Math.min(rows.removed, lateEvents.removed),
      });
    }
  }
  return table;
}

/** Numbers of an hour in the table: applied, removed, repeats, and the two numbers of late rows. */
const columns = 5;

/**
 * Rows of each labeler by hour. Thousands of labelers have hundreds of thousands of such hours. The table holds their
 * numbers in one array per labeler, because collecting garbage among as many objects takes longer than a turn.
 */
class HourRowTable {
  readonly #hours: number;
  readonly #byLabeler = new Map<string, Float64Array>();

  constructor(hours: number) {
    this.#hours = hours;
  }

  set(labeler: string, at: number, { applied, removed, repeats }: Omit<HourRows, 'late'>): void {
    const own = this.#byLabeler.get(labeler) ?? new Float64Array(columns * this.#hours);
    this.#byLabeler.set(labeler, own);
    // A call of `TypedArray.set` with a list takes several times as long as three assignments.
    own[columns * at] = applied;
    own[columns * at + 1] = removed;
    own[columns * at + 2] = repeats;
  }

  setLate(labeler: string, at: number, { applied, removed }: LateRows): void {
    this.#byLabeler.get(labeler)?.set([applied, removed], columns * at + 3);
  }

  /** Returns the rows of the labeler in each hour; 0 rows where it has none. */
  of(labeler: string): readonly HourRows[] {
    const own = this.#byLabeler.get(labeler) ?? new Float64Array(columns * this.#hours);
    return Array.from({ length: this.#hours }, (_, at) => rowsAt(own, columns * at));
  }

  /** Returns the rows of all labelers in the hour. */
  total(at: number): HourRows {
    const sum = new Float64Array(columns);
    for (const own of this.#byLabeler.values()) {
      for (let column = 0; column < columns; column += 1) {
        sum[column] = (sum[column] ?? 0) + (own[columns * at + column] ?? 0);
      }
    }
    return rowsAt(sum, 0);
  }
}

/** Returns the rows whose numbers begin at `from`. */
function rowsAt(numbers: Float64Array, from: number): HourRows {
  const at = (column: number): number => numbers[from + column] ?? 0;
  return { applied: at(0), removed: at(1), repeats: at(2), late: { applied: at(3), removed: at(4) } };
}

/** Returns the parts of the spans that lie in the interval. */
function within(spans: readonly MinuteSpan[], { start, end }: Interval): readonly Interval[] {
  return spans.map(intervalOf).map((one) => {
    return { start: micros(Math.max(one.start, start)), end: micros(Math.min(one.end, end)) };
  });
}

/** Number of enrolled sources in each state at one point in time. */
type SourceSample = NonNullable<LabelsHour['sources']>;

/**
 * Numbers of enrolled sources by state at the last publication of each hour. The store does not contain past states, so
 * after a restart the samples of the last file are used. An hour without a publication has no sample.
 */
export class SourceHistory {
  readonly #samples = new Map<number, SourceSample>();

  /** Adds the samples of the last file, unless they belong to another generation of the store. */
  load({ generation_id: generation, hours }: Pick<LabelsHours, 'generation_id' | 'hours'>, current: string): void {
    if (generation !== current) return;
    for (const { sources } of hours) if (sources !== null) this.add(sources);
  }

  /** Adds a sample. The new sample replaces an earlier sample of the same hour. */
  add(sample: SourceSample): void {
    const at = parseTimestamp(sample.at);
    if (at !== null) this.#samples.set(Math.floor(at / hour), sample);
  }

  /** Returns the sample of the hour that begins at `start`, or null if that hour has no sample. */
  of(start: number): SourceSample | null {
    return this.#samples.get(start / hour) ?? null;
  }

  /** Discards the samples from before `start`. */
  dropBefore(start: number): void {
    for (const at of this.#samples.keys()) if (at < start / hour) this.#samples.delete(at);
  }
}

/** Returns the sample in an overview. */
export function sampleOf({
  generated_at: at,
  coverage,
}: Pick<RecentOverview, 'generated_at' | 'coverage'>): SourceSample {
  const { enrolled, unstarted, probing, refused, established, cursor_order_unverified } = coverage.sources;
  const { undated_only, provider_rejects, unavailable } = coverage.sources;
  return {
    ...{ at: String(at), enrolled, unstarted, probing, refused, established, cursor_order_unverified },
    ...{ undated_only, provider_rejects, unavailable },
  };
}
