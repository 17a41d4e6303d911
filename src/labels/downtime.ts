import type { Micros } from '../contract/timestamp.ts';
import { type Interval, second } from '../store/time.ts';

/** What a store says about when somebody last observed. */
export interface SignsOfLife {
  readonly startedAt: Micros;
  readonly heartbeat: Micros | null;
  readonly observedThrough: Micros | null;
}

/** An epoch without a heartbeat that is this young began with this very start. */
const justBegun = 5 * second;

/** How long nobody observed before a start at `now`, or null: the time since the last sign of life. */
export function downtime({ startedAt, heartbeat, observedThrough }: SignsOfLife, now: Micros): Interval | null {
  if (heartbeat === null && observedThrough === null && now - startedAt < justBegun) return null;
  const last = Math.max(startedAt, heartbeat ?? 0, observedThrough ?? 0) as Micros;
  return last < now ? { start: last, end: now } : null;
}
