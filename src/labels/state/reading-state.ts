import type { Micros } from '../../contract/timestamp.ts';
import { hour, minute } from '../../store/time.ts';
import { unreachableAfter } from './priority.ts';
import type { SourceState } from './source-state.ts';

/** Maximum outage that counts as a delay, without a gap: 15 minutes. */
export const delayLimit = 15 * minute;
/** Time for which a source that never responded is enrolled: 24 h. */
export const trialPeriod = 24 * hour;

/** State of a source except its position; survives a restart. */
export interface TrackedState {
  readonly state: SourceState;
  readonly stateSince: Micros;
  /** Time of the first attempt to read it; null before. */
  readonly firstAsked: Micros | null;
  /** Our clock at its first accepted page; null if it never responded. */
  readonly firstAnswered: Micros | null;
  /** Our clock at its last accepted page; null if it never responded. */
  readonly lastAnswered: Micros | null;
  /** Start of the current series of failed attempts, across our restarts; null if the last one succeeded. */
  readonly failingSince: Micros | null;
  /** Time up to which all its labels are stored, or recorded as a gap; null before it responded. */
  readonly completeThrough: Micros | null;
  /** True if any of its labels had a usable date. */
  readonly dated: boolean;
  /** True if it sent labels and none of them had a usable date. */
  readonly undated: boolean;
}

/** State of reading one source: an immutable value that only `step` changes. */
export interface ReadingState {
  readonly tracked: TrackedState;
  /** Consecutive failed attempts of this run; null if the last one succeeded. */
  readonly failing: { readonly since: Micros; readonly attempts: number } | null;
  /** Start of an outage that is not yet filled in. */
  readonly outageSince: Micros | null;
  /** Time at which missed labels were last accepted; null while the source does not respond, or nothing is missed. */
  readonly readAt: Micros | null;
  /** State before the first attempt; null once an attempt succeeded or failed, or before one began. */
  readonly beforeFirstAttempt: TrackedState | null;
  /** True if all labels arrive live: everything earlier was read to its end since the last attempt began. */
  readonly whole: boolean;
}

/** Returns the tracked state of a source that was never asked. */
export function untracked(at: Micros): TrackedState {
  const never = {
    ...{ firstAsked: null, firstAnswered: null, lastAnswered: null },
    ...{ failingSince: null, completeThrough: null },
  };
  return { state: 'unstarted', stateSince: at, ...never, dated: false, undated: false };
}

/** Returns the state of reading a source at the start of a run. */
export function readingOf(tracked: TrackedState): ReadingState {
  return { tracked, failing: null, outageSince: null, readAt: null, beforeFirstAttempt: null, whole: false };
}

/** Returns the time since which a source is not known to be complete; null if it never responded. */
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
