import type { Range } from '../ranges.ts';
import type { Species } from './metrics.ts';
import type { Wire } from './wire.ts';

/**
 * Numbered events of the network. Event `n` is the same for every consumer, both live and in a replay. A generated
 * source stores no history, because it can generate any part of the history again.
 */
export interface EventSource {
  /** All species. Plans and blocks refer to them by index. */
  readonly species: readonly Species[];
  /** Returns the block of events around number `seq`, without the bytes of their frames. */
  plan(seq: number): Plan;
  /**
   * Returns the block of events around number `seq`, with frames in the format of the protocol `wire`, which defaults
   * to the legacy protocol.
   */
  block(seq: number, wire?: Wire): Block;
  /** Returns the number of the newest event at `nowUs`, plus one. */
  edge(nowUs: number): number;
  /** Returns the number of the first event stamped at or after `timeUs`. */
  seek(timeUs: number): number;
  /** Returns a range of numbers that includes all events stamped within an interval. */
  span(fromUs: number, toUs: number): Range;
  /** Returns the number of the oldest event that can be replayed at `nowUs`. */
  oldest(nowUs: number): number;
  /**
   * Counts the events of each species in whole UTC seconds, end exclusive. Absent if counting costs as much as planning
   * the events.
   */
  tally?(fromSecond: number, toSecond: number): ArrayLike<number>;
}

/** Numbers, times and species of consecutive events, without frames. */
export interface Plan {
  /** Number of the first event. */
  readonly first: number;
  readonly count: number;
  /** `time_us` of each event. */
  readonly timeUs: Float64Array;
  /** Index of each event's species. */
  readonly species: Uint16Array;
}

/** Consecutive events, with their websocket frames concatenated. */
export interface Block extends Plan {
  /** Offset of each frame in `bytes`, followed by the length of `bytes`. */
  readonly offsets: Float64Array;
  readonly bytes: Buffer;
}

/** Returns the index of the first element in a sorted array that is at least `bound`, or the length of the array. */
export function lowerBound(sorted: Float64Array, bound: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
