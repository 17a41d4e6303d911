import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../../contract/timestamp.ts';
import type { BucketCount, StoreReader } from '../../../store/port.ts';
import { hour, micros, minute } from '../../../store/time.ts';
import type { BurstsByLabeler } from '../../repeats/counted.ts';
import { burstsIn } from '../../repeats/repeat-log.ts';

/** Hours in which a labeler has rows. */
export interface RowHours {
  readonly labeler: string;
  /** Newest settled hour with rows, counted since 1970. */
  readonly newest: number;
  /** Returns the settled hours with rows, newest first. */
  readonly all: () => readonly number[];
}

/** Input of the search for last rows. */
export interface LastRowsInput {
  readonly labelers: readonly RowHours[];
  /** Counts by minute of the interval to which rows may still be added. */
  readonly open: readonly BucketCount[];
  readonly bursts: BurstsByLabeler;
  /** Earliest instant that can be queried. */
  readonly floor: Micros;
  /** First hour that is not cached. A later burst may still turn rows of this and later hours into repeats. */
  readonly uncachedFrom: number;
}

/**
 * Finds the minute of each labeler's last counted row. Results are cached by the labeler's newest hour, because the
 * counters of an hour do not contain minutes.
 */
export class LastRows {
  readonly #store: Pick<StoreReader, 'countsOverTime'>;
  #known = new Map<string, { readonly newest: number; readonly at: Micros | null }>();

  constructor(store: Pick<StoreReader, 'countsOverTime'>) {
    this.#store = store;
  }

  /**
   * Returns, by labeler, the start of the minute of the last counted row. A labeler without such a row has no entry.
   */
  async find({ labelers, open, bursts, floor, uncachedFrom }: LastRowsInput): Promise<Map<string, Micros>> {
    const found = new Map<string, Micros>();
    addNewest(found, open, bursts);
    const known = new Map<string, { readonly newest: number; readonly at: Micros | null }>();
    const waiting = new Map<number, Waiting[]>();
    const wait = (at: number, one: Waiting): void => {
      const own = waiting.get(at);
      if (own) own.push(one);
      else waiting.set(at, [one]);
    };
    for (const hours of labelers) {
      const { labeler, newest } = hours;
      const before = this.#known.get(labeler);
      if (before?.newest === newest && newest < uncachedFrom) {
        known.set(labeler, before);
        if (before.at !== null && !found.has(labeler)) found.set(labeler, before.at);
      } else wait(newest, { hours, tried: 0 });
    }
    for (let at = Math.max(...waiting.keys()); waiting.size > 0; at = Math.max(...waiting.keys())) {
      const own = waiting.get(at) ?? [];
      waiting.delete(at);
      const settled = new Map<string, Micros>();
      // The counters of the minute that contains the floor cannot be queried.
      const start = micros(Math.max(at * hour, Math.ceil(floor / minute) * minute));
      const end = micros((at + 1) * hour);
      if (start < end) addNewest(settled, await this.#store.countsOverTime({ bucket: 'minute', start, end }), bursts);
      for (const { hours, tried } of own) {
        const { labeler, newest } = hours;
        const last = settled.get(labeler);
        const next = last === undefined ? hours.all()[tried + 1] : undefined;
        if (next !== undefined) {
          wait(next, { hours, tried: tried + 1 });
          continue;
        }
        known.set(labeler, { newest, at: last ?? null });
        if (last !== undefined && !found.has(labeler)) found.set(labeler, last);
      }
      await nextTurn();
    }
    this.#known = known;
    return found;
  }

  /** Discards all results, because rows were removed. */
  clear(): void {
    this.#known = new Map();
  }
}

/** A labeler whose last row is not in the hours that were read. */
interface Waiting {
  readonly hours: RowHours;
  /** Number of hours without a counted row. */
  readonly tried: number;
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
