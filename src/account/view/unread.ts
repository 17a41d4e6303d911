import type { Micros } from '../../contract/timestamp.ts';
import { isSilent, isUnobserved, type SilenceInputs } from '../../store/coverage-rule.ts';
import { type Interval, micros } from '../../store/time.ts';
import type { Labelers } from './network.ts';

/**
 * Reading history of a labeler: `read` if it was read at least once, `never_read` if it is known but was never read,
 * and `not_known` otherwise.
 */
type Reading = 'read' | 'never_read' | 'not_known';

/** State of a labeler, and when it was last read. */
export interface HowRead {
  readonly reading: Reading;
  /** Source state of the labeler, or null if the labeler is not enrolled. */
  readonly state: string | null;
  /** Time of the labeler's last successful read, or null if unknown. */
  readonly lastAsked: Micros | null;
}

/** Returns whether and when a labeler was read. `rows` is true if the account has rows from the labeler. */
export function howRead(labeler: string, rows: boolean, { states, notEnrolled, lastAsked }: Labelers): HowRead {
  const known = states.has(labeler) || notEnrolled.has(labeler);
  return {
    reading: rows || lastAsked.has(labeler) ? 'read' : known ? 'never_read' : 'not_known',
    state: states.get(labeler) ?? null,
    lastAsked: lastAsked.get(labeler) ?? null,
  };
}

/**
 * Returns the parts of an interval in which a labeler was not read. These parts complement the recorded gaps, which
 * exist only for labelers that are being read.
 */
export function unreadOf({ reading, state, lastAsked }: HowRead, { start, end }: Interval): Interval[] {
  if (reading !== 'read') return [{ start, end }];
  if (state !== null || lastAsked === null || lastAsked >= end) return [];
  return [{ start: micros(Math.max(start, lastAsked)), end }];
}

/**
 * Returns true if pages were accepted before, but none for longer than the coverage tolerance, or none since the start
 * of the interval.
 */
export function hasFallenSilent(
  frontier: SilenceInputs,
  { interval, now }: { readonly interval: Interval; readonly now: Micros },
): boolean {
  return frontier.observedThrough !== null && (isSilent(frontier, now) || isUnobserved(frontier, interval));
}
