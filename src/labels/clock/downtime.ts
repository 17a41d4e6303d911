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
  /**
   * True if the store lacks rows that the instrument once read from it, according to the record next to the artifact.
   */
  readonly hasLost?: boolean;
}

/** Interval without observation, and whether parts of the store were restored from an older copy. */
export interface Downtime extends Interval {
  readonly restored: boolean;
}

/** An epoch without a heartbeat counts as begun by this run up to this age, in microseconds. */
const maxNewEpochAge = 5 * second;
/**
 * Maximum time by which the newest row may be later than the last heartbeat, in microseconds; heartbeats are written
 * every few seconds.
 */
const maxHeartbeatLag = minute;

/**
 * Returns the interval without observation before a start at `now`, or null if there was none. The interval begins at
 * the later of the last heartbeat and the last accepted page. A store that was restored from a backup is detected by
 * contradictions between its rows and its state file: rows that a heartbeat recorded are missing, or the newest row
 * is much later than the last heartbeat, so that gaps recorded after this heartbeat may be missing. `hasLost` detects
 * that a store was restored, or failed over, as a whole. After a restore, the interval begins at the earlier of the
 * two times.
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
