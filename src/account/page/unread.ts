import type { Micros } from '../../contract/timestamp.ts';
import { isSilent, type SilenceInputs } from '../../store/coverage-rule.ts';
import { type Interval, micros } from '../../store/time.ts';
import type { Labelers } from './network.ts';

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

/** Whether labelers answered once, but no page was accepted for longer than the coverage tolerance. */
export function hasFallenSilent(frontier: SilenceInputs, now: Micros): boolean {
  return frontier.observedThrough !== null && isSilent(frontier, now);
}
