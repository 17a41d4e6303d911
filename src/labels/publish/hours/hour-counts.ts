import { setImmediate as nextTurn } from 'node:timers/promises';
import { maxHours } from '../../../artifact/hours/hours.ts';
import type { LabelerCount } from '../../../store/account-counts.ts';
import { StoreError } from '../../../store/errors.ts';
import type { Frontier, StoreReader } from '../../../store/port.ts';
import { hour, type Interval, micros, minute } from '../../../store/time.ts';

/** Store methods that are used to count the hours. */
export type HoursStore = Pick<StoreReader, 'frontier' | 'countsByLabeler' | 'countsOverTime'>;

/**
 * Number of rows by labeler, including repeats, in the closed part of one hour. This part begins at the start of the
 * hour.
 */
export interface CountedHour extends Interval {
  readonly counts: readonly LabelerCount[];
}

/** Interval of the closed minutes, and the hours that it includes. */
export interface ClosedHours extends Interval {
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
  const first = Math.min(last, Math.max(last - maxHours + 1, retained));
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
