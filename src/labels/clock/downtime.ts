import type { Micros } from '../../contract/timestamp.ts';
import { type Interval, minute, second } from '../../store/time.ts';

/** Times in the store that show when the last run was observing. */
export interface LastObservation {
  readonly startedAt: Micros;
  readonly heartbeat: Micros | null;
  /** Time of the last accepted page according to the rows. */
  readonly observedThrough: Micros | null;
  /** Time of the last accepted page according to the state file, recorded with the last heartbeat. */
  readonly notedThrough: Micros | null;
  /** True if the store lacks what an instrument read from it, according to the record next to the artifact. */
  readonly hasLost?: boolean;
}

/** Interval without observation, and whether parts of the store were restored to an earlier time. */
export interface Downtime extends Interval {
  readonly restored: boolean;
}

/** Maximum age in microseconds of an epoch without a heartbeat that this start may have begun. */
const maxNewEpochAge = 5 * second;
/**
 * Maximum time by which the newest row may be later than the last heartbeat, in microseconds; heartbeats are written
 * every few seconds.
 */
const maxHeartbeatLag = minute;

/**
 * Returns the interval without observation before a start at `now`, or null: the time since the last heartbeat. A
 * restored store is detected by contradictions between rows and state file: recorded rows are missing, or rows exist
 * that no heartbeat covers (and the gaps that were recorded since are missing). `hasLost` also finds a store that was
 * restored, or failed over, as a whole. In these cases the interval begins at the
 * earlier of the two times.
 */
export function downtime(
  { startedAt, heartbeat, observedThrough, notedThrough, hasLost = false }: LastObservation,
  now: Micros,
): Downtime | null {
  if (heartbeat === null && observedThrough === null && now - startedAt < maxNewEpochAge) return null;
  const beat = Math.max(startedAt, heartbeat ?? 0);
  const through = Math.max(startedAt, observedThrough ?? 0);
  const restored = hasLost || through > beat + maxHeartbeatLag || (notedThrough !== null && through < notedThrough);
  const start = (restored ? Math.min(beat, through) : Math.max(beat, through)) as Micros;
  return start < now ? { start, end: now, restored } : null;
}
