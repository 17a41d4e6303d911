import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../../contract/timestamp.ts';
import type { BucketCount, StoreReader } from '../../../store/port.ts';
import { hour, micros, minute } from '../../../store/time.ts';
import { Turns } from '../../clock/clock.ts';
import { type BurstsByLabeler, burstsIn } from './day-counts.ts';

/** Hours that may contain counted rows of a labeler. */
export interface RowHours {
  readonly labeler: string;
  /** Newest settled hour, counted since 1970. */
  readonly newest: number;
  /** Returns all settled hours, newest first. */
  readonly all: () => readonly number[];
}

/** Input for finding the last rows. */
interface LastRowsInput {
  readonly labelers: readonly RowHours[];
  /** Counts by minute of the interval to which rows may still be added. */
  readonly open: readonly BucketCount[];
  readonly bursts: BurstsByLabeler;
  /** Start of the window. */
  readonly start: Micros;
  /** Earliest instant that can be queried. */
  readonly floor: Micros;
  /** First hour that is not cached. A later burst may still turn rows of this and later hours into repeats. */
  readonly uncachedFrom: number;
}

/** Number of searches that begin between two checks of the turn. */
const searchesAtOnce = 16;

/** Maximum number of hours that one call reads only because newer hours of a labeler have no counted row. */
const maxFurtherHours = 100;

/**
 * Finds the minute of each labeler's last counted row. Results are cached by labeler and hour, because the counters of
 * an hour do not contain minutes.
 */
export class LastRows {
  readonly #store: Pick<StoreReader, 'countsOverTime'>;
  #known = new Map<string, Known>();

  constructor(store: Pick<StoreReader, 'countsOverTime'>) {
    this.#store = store;
  }

  /**
   * Returns, by labeler, the start of the minute of the last counted row. A labeler without such a row has no entry. A
   * labeler whose search exceeds the maximum number of hours per call has no entry until a later call completes the
   * search.
   */
  async find(input: LastRowsInput): Promise<Map<string, Micros>> {
    const found = new Map<string, Micros>();
    addNewest(found, input.open, input.bursts);
    const queue = new Queue();
    const known = new Map<string, Known>();
    const finish = (labeler: string, result: Known | undefined, last: Micros | null): void => {
      if (result) known.set(labeler, result);
      if (last !== null && last + minute > input.start && !found.has(labeler)) found.set(labeler, last);
    };
    const turns = new Turns();
    for (const [i, { labeler, newest, all }] of input.labelers.entries()) {
      // Yield between searches, because thousands of searches begin after each hour, when most labelers have a newer
      // row.
      if (i % searchesAtOnce === 0 && turns.isOver) await turns.next();
      const before = this.#known.get(labeler);
      if (before?.through === newest && before.next === null) finish(labeler, before, before.at);
      else queue.add(new Search(labeler, all(), before, input.uncachedFrom), finish);
    }
    let further = 0;
    for (let next = queue.take(); next !== null; next = queue.take()) {
      const [at, searches] = next;
      if (searches.every(({ isFirst }) => !isFirst) && ++further > maxFurtherHours) {
        for (const search of searches) finish(search.labeler, search.suspended(), null);
        continue;
      }
      const counted = await this.#lastOf(at, input);
      for (const search of searches) {
        const last = counted.get(search.labeler);
        if (last !== undefined) finish(search.labeler, search.result(last), last);
        else queue.add(search.older(), finish);
      }
      await nextTurn();
    }
    this.#known = known;
    return found;
  }

  /** Returns the last counted minute of each labeler in an hour. */
  async #lastOf(at: number, { floor, bursts }: LastRowsInput): Promise<Map<string, Micros>> {
    const last = new Map<string, Micros>();
    // Skip the minute that contains the floor, because its counters cannot be queried.
    const start = micros(Math.max(at * hour, Math.ceil(floor / minute) * minute));
    const end = micros((at + 1) * hour);
    if (start < end) addNewest(last, await this.#store.countsOverTime({ bucket: 'minute', start, end }), bursts);
    return last;
  }

  /** Discards all results, because rows were removed. */
  clear(): void {
    this.#known = new Map();
  }
}

/** Cached result of a search through hours that no longer change. */
interface Known {
  /** Newest hour that was searched. */
  readonly through: number;
  /**
   * Hour at which the search continues, because the newer hours have no counted row. Null if the search is complete.
   */
  readonly next: number | null;
  /** Last counted minute of the searched hours, or null if there is no such minute. */
  readonly at: Micros | null;
}

type Finish = (labeler: string, result: Known | undefined, last: Micros | null) => void;

/** Search for the last counted row of one labeler, from its newest hour to its oldest. */
class Search {
  readonly labeler: string;
  readonly before: Known | undefined;
  readonly #hours: readonly number[];
  /** Newest of the hours that no longer change. */
  readonly #through: number | undefined;
  #index = 0;

  constructor(labeler: string, hours: readonly number[], before: Known | undefined, uncachedFrom: number) {
    this.labeler = labeler;
    this.before = before;
    this.#hours = hours;
    this.#through = hours.find((at) => at < uncachedFrom);
    this.#skipSearched();
  }

  /** True until an hour was searched without result. */
  get isFirst(): boolean {
    return this.#index === 0;
  }

  /** Next hour to search. Undefined if no hour is left. */
  get hour(): number | undefined {
    return this.#hours[this.#index];
  }

  /** True if a complete earlier search has found the result for the remaining hours. */
  get isKnown(): boolean {
    return this.before?.next === null && this.hour !== undefined && this.hour <= this.before.through;
  }

  /** Proceeds to the next older hour that has not been searched. */
  older(): this {
    this.#index += 1;
    this.#skipSearched();
    return this;
  }

  /** Returns the result to cache. A result in an hour that may still change leaves the earlier result valid. */
  result(at: Micros | null): Known | undefined {
    const through = this.#through;
    if (through === undefined || (at !== null && at >= (through + 1) * hour)) return this.before;
    return { through, next: null, at };
  }

  /** Returns the incomplete result to cache. */
  suspended(): Known | undefined {
    const [through, next] = [this.#through, this.hour];
    return through === undefined || next === undefined || next > through ? this.before : { through, next, at: null };
  }

  /** Skips the hours that an incomplete earlier search has searched without result. */
  #skipSearched(): void {
    const { through, next } = this.before ?? {};
    if (through === undefined || next === undefined || next === null) return;
    for (let at = this.hour; at !== undefined && at <= through && at > next; at = this.hour) this.#index += 1;
  }
}

/** Queue of searches, grouped by the hour that each search reads next. */
class Queue {
  readonly #waiting = new Map<number, Search[]>();

  /** Adds a search, or finishes it if no hour must be read. */
  add(search: Search, finish: Finish): void {
    const { labeler, hour: at, before, isKnown } = search;
    const last = isKnown ? (before?.at ?? null) : null;
    if (isKnown || at === undefined) {
      finish(labeler, search.result(last), last);
      return;
    }
    const own = this.#waiting.get(at);
    if (own) own.push(search);
    else this.#waiting.set(at, [search]);
  }

  /** Removes and returns the newest hour with its searches. Returns null if no search is waiting. */
  take(): readonly [at: number, searches: readonly Search[]] | null {
    if (this.#waiting.size === 0) return null;
    const at = Math.max(...this.#waiting.keys());
    const searches = this.#waiting.get(at) ?? [];
    this.#waiting.delete(at);
    return [at, searches];
  }
}

/** Adds the newest minute with counted rows of each labeler. */
function addNewest(found: Map<string, Micros>, counts: readonly BucketCount[], bursts: BurstsByLabeler): void {
  for (const { labeler, start, applied, removed } of counts) {
    if ((found.get(labeler) ?? Number.NEGATIVE_INFINITY) >= start) continue;
    const own = bursts.get(labeler);
    const repeats = own ? burstsIn(own, { start, end: micros(start + minute) }) : 0;
    if (applied + removed > repeats) found.set(labeler, start);
  }
}
