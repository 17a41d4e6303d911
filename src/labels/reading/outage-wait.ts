import type { Micros } from '../../contract/timestamp.ts';
import { delayLimit } from '../state/reading-state.ts';

/** Maximum time by which the attempts of different sources are spread, in milliseconds. */
const spreadMs = 15_000;

/** Start of a source's failures, and the time at which its next wait begins. */
export interface OutageWait {
  /** Time of the first of the current failures; null if the last attempt succeeded. */
  readonly failingSince: Micros | null;
  readonly now: Micros;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/**
 * Limits a wait in milliseconds so that an attempt follows soon after the failures of a source become an outage. Only
 * an attempt changes the state of the source, and without this limit the wait before that attempt could be as long as
 * the delay limit.
 */
export function untilOutage(ms: number, { failingSince, now, random }: OutageWait): number {
  const leftMs = failingSince === null ? -1 : (failingSince + delayLimit - now) / 1000;
  return leftMs < 0 ? ms : Math.min(ms, leftMs + random() * spreadMs);
}
