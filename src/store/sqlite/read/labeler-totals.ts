import type { LabelerCounters, LabelersCounters } from '../../labeler-counters.ts';
import { dayOf, dayStart, type Interval, micros } from '../../time.ts';
import type { DayReader } from '../day/day-reader.ts';
import { LabelerSum } from '../labeler/labeler-sum.ts';
import { assertInterval } from './account-read.ts';
import { DayPacking } from './day-packing.ts';
import type { Days } from './days.ts';
import { countersWith, OpenDay } from './open-day.ts';
import type { PackedDay } from './packed-day.ts';

/** Maximum number of sets of days whose sums are cached. */
const maxCached = 3;
/** Maximum number of steps of one reading. Days that are still missing are then added in one step. */
const maxSteps = 2_000;
/** Maximum time of a step in milliseconds, except that of the step that reads today. */
const stepMs = 4;
/** Number of labelers between two looks at the time. */
const labelersAtOnce = 50;

/** Sum of days that no longer change, with the counters of labelers that have no rows in other days. */
interface Closed {
  /** Serial numbers of the files that are included, oldest day first. */
  readonly serials: number[];
  readonly sums: Map<string, LabelerSum>;
  readonly counters: Map<string, LabelerCounters>;
  /** Labelers of `sums` in the order of their DIDs; null until they are needed. */
  names: readonly string[] | null;
}

/** Sum of closed days in progress. */
interface Progress {
  readonly closed: Closed;
  /** Day that is being packed, or null if no day is. */
  packing: DayPacking | null;
  /** Labelers of the last included day that are not added yet, or null if all are added. */
  adding: Iterator<void> | null;
}

/**
 * Sums of the counters of all labelers over days. The counters of each day that no longer changes are cached by open
 * file, and the sum of these days is cached as well. A day that is sealed or purged gets another open file.
 */
export class LabelerTotals {
  readonly #days: Days;
  readonly #monotonic: () => number;
  readonly #packed = new WeakMap<DayReader, PackedDay>();
  readonly #closed = new Map<string, Closed>();
  #open: OpenDay | null = null;

  /** `monotonic` returns a time in milliseconds. */
  constructor(days: Days, monotonic: () => number = () => performance.now()) {
    this.#days = days;
    this.#monotonic = monotonic;
  }

  /**
   * Starts a reading. Each call of the returned function performs one step, and returns null until the last step. The
   * step that adds the last of the days that no longer change also reads today, so that the result describes the rows of
   * that step. The other steps end after a few milliseconds.
   */
  over(interval: Interval): () => LabelersCounters | null {
    assertInterval(interval);
    let steps = 0;
    let progress: Progress | null = null;
    let finishing: (() => LabelersCounters | null) | null = null;
    return () => {
      const isOver = this.#timer();
      if (finishing) return finishing();
      steps += 1;
      finishing = this.#days.over(interval, ({ days, newest, floor }) => {
        const closedDays = days.filter(({ day }) => day !== newest);
        progress = this.#advance(closedDays, progress, steps < maxSteps ? isOver : () => false);
        if (progress.closed.serials.length < closedDays.length || progress.adding !== null) return null;
        const open = days.find(({ day }) => day === newest);
        const since = Math.max(dayStart(dayOf(interval.start)), floor, ...days.map(uncountedUntil));
        return this.#finish(progress.closed, open ? this.#readOpen(open) : new Map(), micros(since));
      });
      // The result is computed in the next steps, because other reads of this instant share the turn of this step.
      return null;
    };
  }

  #timer(): () => boolean {
    const startedAt = this.#monotonic();
    return () => this.#monotonic() - startedAt >= stepMs;
  }

  /** Reads the counters of today. */
  #readOpen(day: DayReader): ReturnType<OpenDay['read']> {
    if (this.#open?.serial !== day.serial) this.#open = new OpenDay(day.serial);
    return this.#open.read(day);
  }

  /** Adds days to the sum until `isOver` returns true. Starts again if one of the included files was replaced. */
  #advance(days: readonly DayReader[], begun: Progress | null, isOver: () => boolean): Progress {
    const key = days.map(({ serial }) => serial).join(' ');
    const known = this.#closed.get(key);
    if (known) return { closed: known, packing: null, adding: null };
    const isPrefix = begun?.closed.serials.every((serial, i) => days[i]?.serial === serial) === true;
    const progress: Progress =
      begun && isPrefix
        ? begun
        : { closed: { serials: [], sums: new Map(), counters: new Map(), names: null }, packing: null, adding: null };
    if (!isAdded(progress, isOver)) return progress;
    const { closed } = progress;
    for (const day of days.slice(closed.serials.length)) {
      const packed = this.#packedOf(day, progress, isOver);
      if (packed === null) return progress;
      // Include the day before its labelers are added: the sum starts again if the file is replaced in between.
      closed.serials.push(day.serial);
      progress.adding = packed.adding(closed.sums);
      if (!isAdded(progress, isOver)) return progress;
    }
    const [oldest] = this.#closed.keys();
    if (this.#closed.size >= maxCached && oldest !== undefined) this.#closed.delete(oldest);
    this.#closed.set(key, closed);
    return progress;
  }

  /** Returns the counters of a day that no longer changes, or null if they are not all packed in time. */
  #packedOf(day: DayReader, progress: Progress, isOver: () => boolean): PackedDay | null {
    const known = this.#packed.get(day);
    if (known) return known;
    if (progress.packing?.serial !== day.serial) progress.packing = new DayPacking(day);
    const packed = progress.packing.advance(day, isOver);
    if (packed === null) return null;
    progress.packing = null;
    this.#packed.set(day, packed);
    return packed;
  }

  /** Returns a function that computes the counters of some labelers per call, and returns null until the last call. */
  #finish(closed: Closed, today: ReturnType<OpenDay['read']>, since: LabelersCounters['since']) {
    const names = namesOf(closed, today);
    const labelers: LabelerCounters[] = [];
    let next = 0;
    return (): LabelersCounters | null => {
      const isOver = this.#timer();
      while (next < names.length) {
        for (const labeler of names.slice(next, next + labelersAtOnce)) {
          labelers.push(countersOf(labeler, closed, today));
        }
        next += labelersAtOnce;
        if (next < names.length && isOver()) return null;
      }
      return { since, labelers };
    };
  }
}

/** Returns the labelers of all days in the order of their DIDs. Most labelers of today have rows in earlier days. */
function namesOf(closed: Closed, today: ReturnType<OpenDay['read']>): readonly string[] {
  closed.names ??= [...closed.sums.keys()].sort();
  const added = [...today.keys()].filter((labeler) => !closed.sums.has(labeler));
  return added.length === 0 ? closed.names : [...closed.names, ...added].sort();
}

/** Adds labelers until `isOver` returns true. Returns true if all labelers of the included days are added. */
function isAdded(progress: Progress, isOver: () => boolean): boolean {
  while (progress.adding !== null) {
    for (let left = labelersAtOnce; left > 0 && progress.adding !== null; left -= 1) {
      if (progress.adding.next().done) progress.adding = null;
    }
    if (progress.adding !== null && isOver()) return false;
  }
  return true;
}

function countersOf(labeler: string, closed: Closed, today: ReturnType<OpenDay['read']>): LabelerCounters {
  const before = closed.sums.get(labeler) ?? null;
  const entry = today.get(labeler);
  if (entry !== undefined) return countersWith(entry, before);
  const counters = closed.counters.get(labeler) ?? (before ?? new LabelerSum()).counters(labeler);
  closed.counters.set(labeler, counters);
  return counters;
}

/** Returns the instant before which a day's rows are not counted; 0 if all of its rows are counted. */
function uncountedUntil(day: DayReader): number {
  const from = day.labelerCounters.from();
  return from > dayStart(day.day) ? from : 0;
}
