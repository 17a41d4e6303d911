import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoreReader } from '../../../store/port.ts';
import { hour, micros } from '../../../store/time.ts';

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
