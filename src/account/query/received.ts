import type { Micros } from '../../contract/timestamp.ts';
import { StoreError } from '../../store/errors.ts';
import type { Frontier } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import type { AskedInterval } from './query.ts';

/**
 * Checks that a server has received what a request needs. A standby receives everything some time after the primary.
 * An interval of a number of days ends where the standby is; an explicit end and a cursor of another server wait until
 * the standby has received them.
 */

/** Returns the time of a reading: `now`, or on a standby the time before which it has received everything. */
export function readingTime({ replicatedThrough }: Pick<Frontier, 'replicatedThrough'>, now: Micros): Micros {
  return replicatedThrough === undefined ? now : micros(Math.min(now, replicatedThrough));
}

/** Throws `behind` unless the server has received everything before an instant. */
export function assertReceived({ replicatedThrough }: Frontier, until: Micros): void {
  if (replicatedThrough === undefined || until <= replicatedThrough) return;
  throw new StoreError(
    'behind',
    `the server has received everything before ${replicatedThrough}, but not before ${until}`,
  );
}

/**
 * Throws `behind` unless the server has received everything before the explicit end of an interval, as far as it has
 * passed, and before the position at which a list continues.
 */
export function assertAskedReceived(
  frontier: Frontier,
  asked: AskedInterval,
  now: Micros,
  before: Micros | null,
): void {
  if (asked.kind === 'explicit') assertReceived(frontier, micros(Math.min(asked.end, now)));
  if (before !== null) assertReceived(frontier, micros(Math.min(before, now)));
}
