import type { LabelerCounters, LabelersCounters } from '../../labeler-counters.ts';
import { dayOf, dayStart, type Interval, micros } from '../../time.ts';
import type { DayReader } from '../day/day-reader.ts';
import { LabelerSum } from '../labeler/labeler-sum.ts';
import { assertInterval } from './account-read.ts';
import { DayPacking } from './day-packing.ts';
import type { Days } from './days.ts';
import { countersWith, OpenDay } from './open-day.ts';
import type { PackedDay } from './packed-day.ts';

/** Maximum number of day sets whose sums are cached. */
const maxCached = 3;
/** Maximum number of steps per call of `over`. All remaining days are then added in one step. */
const maxSteps = 2_000;
/** Maximum duration of a step, in milliseconds; the step that also reads the newest day may take longer. */
const stepMs = 4;
/** Number of labelers that are processed between two checks of the time. */
const labelersAtOnce = 50;

/** Sum of days that no longer change. */
interface Closed {
  /** Serial numbers of the included files, oldest day first. */
  readonly serials: number[];
  readonly sums: Map<string, LabelerSum>;
  /** Cached results for labelers that have no rows on the newest day. */
  readonly counters: Map<string, LabelerCounters>;
  /** Labelers in `sums`, sorted by DID, or null until first needed. */
  names: readonly string[] | null;
}

/** Partial sum of days that no longer change. */
interface Progress {
  readonly closed: Closed;
  /** Day that is being packed, or null if no day is being packed. */
  packing: DayPacking | null;
  /** Iterator that adds the remaining labelers of the last included day, or null if all of them are added. */
  adding: Iterator<void> | null;
}

/**
 * Sums of the counters of all labelers over several days. For days that no longer change, the counters of each day
 * and the sums of sets of days are cached by opened file. A day that is sealed or purged is opened again, so the
 * earlier entries are not used.
 */
export class LabelerTotals {
  readonly #days: Days;
  readonly #monotonic: () => number;
  readonly #packed = new WeakMap<DayReader, PackedDay>();
  readonly #closed = new Map<string, Closed>();
  #open: OpenDay | null = null;

  /** `monotonic` returns the time of a monotonic clock in milliseconds. */
  constructor(days: Days, monotonic: () => number = () => performance.now()) {
    this.#days = days;
    this.#monotonic = monotonic;
  }

  /**
   * Returns a function that computes the sums step by step: each call performs one step, and all calls but the last
   * return null. The step that completes the sum of the days that no longer change also reads the newest day, so the
   * result describes the rows at that step. All other steps end after a few milliseconds.
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
      // Leave the computation of the result to the next steps: other reads share this turn of the event loop.
      return null;
    };
  }

  #timer(): () => boolean {
    const startedAt = this.#monotonic();
    return () => this.#monotonic() - startedAt >= stepMs;
  }

  /** Reads the counters of the newest day. */
  #readOpen(day: DayReader): ReturnType<OpenDay['read']> {
    if (this.#open?.serial !== day.serial) this.#open = new OpenDay(day.serial);
    return this.#open.read(day);
  }

  /** Adds days to the sum until `isOver` returns true. Starts over if an included file was replaced. */
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
      // Include the day before its labelers are added: if its file is replaced in between, the sum starts over.
      closed.serials.push(day.serial);
      progress.adding = packed.adding(closed.sums);
      if (!isAdded(progress, isOver)) return progress;
    }
    const [oldest] = this.#closed.keys();
    if (this.#closed.size >= maxCached && oldest !== undefined) this.#closed.delete(oldest);
    this.#closed.set(key, closed);
    return progress;
  }

  /**
   * Returns the packed counters of a day that no longer changes, or null if `isOver` returned true before all
   * counters were packed.
   */
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

  /** Returns a function that computes the counters of several labelers per call. All calls but the last return null. */
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

/**
 * Returns the labelers of all days, sorted by DID. Usually reuses the sorted list of the earlier days, because most
 * labelers of the newest day also have rows on earlier days.
 */
function namesOf(closed: Closed, today: ReturnType<OpenDay['read']>): readonly string[] {
  closed.names ??= [...closed.sums.keys()].sort();
  const added = [...today.keys()].filter((labeler) => !closed.sums.has(labeler));
  return added.length === 0 ? closed.names : [...closed.names, ...added].sort();
}

/** Adds labelers of the last included day until `isOver` returns true. Returns true once all of them are added. */
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

/** Returns the stamp before which rows of a day are not counted, or 0 if all rows of the day are counted. */
function uncountedUntil(day: DayReader): number {
  const from = day.labelerCounters.from();
  return from > dayStart(day.day) ? from : 0;
}
