import type { Micros } from '../contract/timestamp.ts';
import { type Interval, minute, second } from '../store/time.ts';

/** What a store says about when somebody last observed. */
export interface SignsOfLife {
  readonly startedAt: Micros;
  readonly heartbeat: Micros | null;
  /** The last accepted page, by the rows. */
  readonly observedThrough: Micros | null;
  /** The last accepted page as it was noted with the last heartbeat, beside the rows. */
  readonly notedThrough: Micros | null;
}

/** How long nobody observed, and whether parts of the store were put back to an earlier time. */
export interface Downtime extends Interval {
  readonly restored: boolean;
}

/** An epoch without a heartbeat that is this young began with this very start. */
const justBegun = 5 * second;
/** Rows may be this much newer than the last heartbeat: it comes every few seconds, or is late for once. */
const beatLate = minute;

/**
 * How long nobody observed before a start at `now`, or null: the time since the last sign of life. A store that was put
 * back from a copy gives itself away where rows and the file beside them contradict each other: rows that were noted
 * are gone, or rows are there that the heartbeats do not reach (and gaps noted since are gone). Then it is the earlier
 * of the two that counts. Where all of it was put back, its last sign of life is that of the copy.
 */
export function downtime(
  { startedAt, heartbeat, observedThrough, notedThrough }: SignsOfLife,
  now: Micros,
): Downtime | null {
  if (heartbeat === null && observedThrough === null && now - startedAt < justBegun) return null;
  const beat = Math.max(startedAt, heartbeat ?? 0);
  const through = Math.max(startedAt, observedThrough ?? 0);
  const restored = through > beat + beatLate || (notedThrough !== null && through < notedThrough);
  const start = (restored ? Math.min(beat, through) : Math.max(beat, through)) as Micros;
  return start < now ? { start, end: now, restored } : null;
}
