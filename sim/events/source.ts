import type { Range } from '../ranges.ts';
import type { Species } from './metrics.ts';
import type { Wire } from './wire.ts';

/**
 * What happened in the network, numbered: event `n` is the same event for everybody, live and in any replay.
 * A source holds no history; it can tell any part of it again.
 */
export interface EventSource {
  /** Meanings, by the indices in plans and blocks. */
  readonly species: readonly Species[];
  /** The stretch of events that holds number `seq`, without the bytes of the frames. */
  plan(seq: number): Plan;
  /** The same stretch with its frames as a wire spells them; `subscribe` unless named. */
  block(seq: number, wire?: Wire): Block;
  /** The number behind the newest event that has happened at that moment (microseconds). */
  edge(nowUs: number): number;
  /** The number of the first event stamped at or after that moment. */
  seek(timeUs: number): number;
  /** The numbers among which the events stamped from one moment up to another lie. */
  span(fromUs: number, toUs: number): Range;
  /** The number of the oldest event that can still be told at that moment. */
  oldest(nowUs: number): number;
  /** How many events of each species whole UTC seconds hold, the last one not; where that is cheaper than to plan them. */
  tally?(fromSecond: number, toSecond: number): ArrayLike<number>;
}

/** A stretch of consecutive events. */
export interface Plan {
  /** Number of the first event. */
  readonly first: number;
  readonly count: number;
  /** `time_us` of each event. */
  readonly timeUs: Float64Array;
  /** Index of each event's species. */
  readonly species: Uint16Array;
}

/** A stretch of events with their websocket frames, one behind the other. */
export interface Block extends Plan {
  /** Where each frame begins in `bytes`, and one entry more for the end. */
  readonly offsets: Float64Array;
  readonly bytes: Buffer;
}

/** Index of the first member of a sorted array that is at least `bound`. */
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
