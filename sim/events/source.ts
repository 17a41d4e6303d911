import type { Range } from '../ranges.ts';
import type { Species } from './metrics.ts';
import type { Wire } from './wire.ts';

/**
 * Numbered events of the network. Event `n` is the same for every consumer, live and in any replay. A source stores no
 * history, because it can generate any part of it again.
 */
export interface EventSource {
  /** Species of events, in the order of the indexes in plans and blocks. */
  readonly species: readonly Species[];
  /** Returns the events around number `seq`, without the bytes of the frames. */
  plan(seq: number): Plan;
  /** Returns the same events with frames in the format of a protocol; default `subscribe`. */
  block(seq: number, wire?: Wire): Block;
  /** Returns the number after the newest event at a time in microseconds. */
  edge(nowUs: number): number;
  /** Returns the number of the first event stamped at or after a time in microseconds. */
  seek(timeUs: number): number;
  /** Returns a range of numbers that contains all events stamped within an interval. */
  span(fromUs: number, toUs: number): Range;
  /** Returns the number of the oldest event that can be replayed at a time in microseconds. */
  oldest(nowUs: number): number;
  /**
   * Counts the events of each species in whole UTC seconds, end exclusive. Absent if it is not cheaper to count the
   * events than to plan them.
   */
  tally?(fromSecond: number, toSecond: number): ArrayLike<number>;
}

/** Numbers, times and species of consecutive events, without their frames. */
export interface Plan {
  /** Number of the first event. */
  readonly first: number;
  readonly count: number;
  /** `time_us` of each event. */
  readonly timeUs: Float64Array;
  /** Index of each event's species. */
  readonly species: Uint16Array;
}

/** Consecutive events with their concatenated websocket frames. */
export interface Block extends Plan {
  /** Offset of each frame in `bytes`, followed by the length of `bytes`. */
  readonly offsets: Float64Array;
  readonly bytes: Buffer;
}

/** Returns the index of the first element that is at least `bound` in a sorted array. */
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
