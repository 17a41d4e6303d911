import type { Micros } from '../../contract/timestamp.ts';
import { StoreError } from '../../store/errors.ts';
import type { Frontier } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import type { AskedInterval } from './query.ts';

/**
 * Checks that this server has received the data that a request needs. A standby receives data after the primary. On a
 * standby, an interval given as a number of days ends at the time up to which all data has been received. Requests
 * with an explicit end, or with a cursor from another server, wait until the standby has caught up.
 */

/**
 * Returns the time up to which data can be read: `now`, or, if earlier, the time up to which a standby has received
 * everything.
 */
export function readingTime({ replicatedThrough }: Pick<Frontier, 'replicatedThrough'>, now: Micros): Micros {
  return replicatedThrough === undefined ? now : micros(Math.min(now, replicatedThrough));
}

/** Throws `behind` unless this server has received everything before `until`. */
export function assertReceived({ replicatedThrough }: Frontier, until: Micros): void {
  if (replicatedThrough === undefined || until <= replicatedThrough) return;
  throw new StoreError(
    'behind',
    `the server has received the data before ${replicatedThrough} µs, but the request needs the data before ${until} µs`,
  );
}

/**
 * Throws `behind` unless this server has received everything before the end of an explicit interval and before the
 * position at which a list continues. Both are limited to `now`.
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
