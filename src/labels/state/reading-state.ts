import type { Micros } from '../../contract/timestamp.ts';
import { hour, minute } from '../../store/time.ts';
import { unreachableAfter } from './priority.ts';
import type { SourceState } from './source-state.ts';

/** Resumed at its position within this time, a source was only delayed: 15 minutes. */
export const delayLimit = 15 * minute;
/** A source that never answered is enrolled for this long: 24 h. */
export const trialPeriod = 24 * hour;

/** State of a source besides its position; survives a restart. */
export interface TrackedState {
  readonly state: SourceState;
  readonly stateSince: Micros;
  /** Time of the first attempt to read it; null before. */
  readonly firstAsked: Micros | null;
  /** Our clock at its first accepted page; null when it never answered. */
  readonly firstAnswered: Micros | null;
  /** Our clock at its last accepted page; null when it never answered. */
  readonly lastAnswered: Micros | null;
  /** Since when every try has failed, restarts of ours included; null where the last one did not. */
  readonly failingSince: Micros | null;
  /** Up to when all that it gave is stored, or recorded as a gap; null before it answered. */
  readonly completeThrough: Micros | null;
  /** True if any of its labels had a usable date. */
  readonly dated: boolean;
  /** True if it sent labels and none of them had a usable date. */
  readonly undated: boolean;
}

/** The reading of one source, as a value: only `step` makes the next one. */
export interface ReadingState {
  readonly tracked: TrackedState;
  /** Attempts that failed one after the other; null where the last one did not. */
  readonly failing: { readonly since: Micros; readonly tries: number } | null;
  /** Start of an outage that is not yet filled in. */
  readonly outageSince: Micros | null;
  /** Time at which missed labels were last accepted; null while the source does not respond, or nothing is missed. */
  readonly readAt: Micros | null;
  /** As it was before the first try; null once a try was made, or where none has begun. */
  readonly beforeFirstAttempt: TrackedState | null;
  /** True if all labels arrive live: everything earlier was read to its end since the last attempt began. */
  readonly whole: boolean;
}

/** The tracked state of a source that was never asked. */
export function untracked(at: Micros): TrackedState {
  const never = {
    ...{ firstAsked: null, firstAnswered: null, lastAnswered: null },
    ...{ failingSince: null, completeThrough: null },
  };
  return { state: 'unstarted', stateSince: at, ...never, dated: false, undated: false };
}

/** The reading of a source of which a run knows no more than what was kept. */
export function readingOf(tracked: TrackedState): ReadingState {
  return { tracked, failing: null, outageSince: null, readAt: null, beforeFirstAttempt: null, whole: false };
}

/** Since when a source is not known to be complete; null when it never answered. */
export function unreadSince({ outageSince, tracked }: ReadingState): Micros | null {
  return outageSince ?? tracked.completeThrough;
}

/**
 * Returns true if a source is enrolled at `now`: it has responded, or is still on trial. A source that has been
 * unreachable for 7 days leaves; this run must have tried it, because time during which we did not run proves nothing.
 */
export function isEnrolledAt({ tracked, failing }: ReadingState, now: Micros): boolean {
  const { lastAnswered, firstAsked, failingSince } = tracked;
  if (lastAnswered === null) return firstAsked === null || now - firstAsked < trialPeriod;
  return failing === null || failingSince === null || now - failingSince < unreachableAfter;
}
