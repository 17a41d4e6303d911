import type { Micros } from '../../contract/timestamp.ts';
import type { Frontier } from '../../store/port.ts';
import { type Interval, micros, minute } from '../../store/time.ts';
import type { Labelers } from './network.ts';

/** Without an accepted page for so long, nothing is known of what came since. */
const silence = 10 * minute;

/** Whether anything of a labeler was ever read. Of one that was not, none observed is not the same as none. */
export type Reading = 'read' | 'never_read' | 'not_known';

/** How a labeler is read, and was. */
export interface HowRead {
  readonly reading: Reading;
  /** How it is read, by the instrument's word; null when it is not enrolled. */
  readonly state: string | null;
  /** When it was last asked successfully; null when that is not known. */
  readonly lastAsked: Micros | null;
}

/** The same of a labeler: `rows` of it, or an answer, prove that it was read. */
export function howRead(labeler: string, rows: boolean, { states, notEnrolled, lastAsked }: Labelers): HowRead {
  const known = states.has(labeler) || notEnrolled.has(labeler);
  return {
    reading: rows || lastAsked.has(labeler) ? 'read' : known ? 'never_read' : 'not_known',
    state: states.get(labeler) ?? null,
    lastAsked: lastAsked.get(labeler) ?? null,
  };
}

/** What of an interval was not read of a labeler beside its gaps: those are recorded only of one that is read. */
export function unreadOf({ reading, state, lastAsked }: HowRead, { start, end }: Interval): Interval[] {
  if (reading !== 'read') return [{ start, end }];
  if (state !== null || lastAsked === null || lastAsked >= end) return [];
  return [{ start: micros(Math.max(start, lastAsked)), end }];
}

/** Since the last accepted page nothing was seen, whoever's fault it is. */
export function silenceOf({ observedThrough, floor }: Frontier, now: Micros): Interval[] {
  const since = observedThrough ?? floor;
  return now - since > silence ? [{ start: since, end: now }] : [];
}

/** Whether what is told of how labelers are read is of the past: there was an accepted page, and it is too long ago. */
export function isSilent({ observedThrough }: Frontier, now: Micros): boolean {
  return observedThrough !== null && now - observedThrough > silence;
}
