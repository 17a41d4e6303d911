import type { Micros } from '../../contract/timestamp.ts';
import { delayLimit } from '../state/reading-state.ts';

/** Maximum time by which the attempts of different sources are spread, in milliseconds. */
const spreadMs = 15_000;

/** Failures of a source, and the time of the next wait. */
export interface OutageWait {
  /** Time of the first of the current failures; null if the last attempt succeeded. */
  readonly failingSince: Micros | null;
  readonly now: Micros;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/**
 * Limits a wait in milliseconds so that an attempt follows soon after the failures of a source become an outage. Only an
 * attempt changes the state of the source, and the waits between attempts grow to the length of the limit itself.
 */
export function untilOutage(ms: number, { failingSince, now, random }: OutageWait): number {
  const leftMs = failingSince === null ? -1 : (failingSince + delayLimit - now) / 1000;
  return leftMs < 0 ? ms : Math.min(ms, leftMs + random() * spreadMs);
}
