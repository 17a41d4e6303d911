import type { Micros } from '../../contract/timestamp.ts';
import type { LabelerProblem, ReadingTransport } from '../../contract/vocabulary.ts';
import { hour, minute } from '../../store/time.ts';
import { unreachableAfter } from './priority.ts';
import type { SourceState } from './source-state.ts';

/** Maximum outage that counts as a delay and not as a gap, in microseconds: 15 minutes. */
export const delayLimit = 15 * minute;
/** Time for which a source that never responded is enrolled, in microseconds: 24 h. */
export const trialPeriod = 24 * hour;

/**
 * Part of the state of a source that is stored, and loaded after a restart. The position of the source is stored
 * separately.
 */
export interface TrackedState {
  readonly state: SourceState;
  readonly stateSince: Micros;
  /** Time of the first attempt to read the source, or null before the first attempt. */
  readonly firstAsked: Micros | null;
  /** Time of the first accepted page by the local clock, or null if the source never responded. */
  readonly firstAnswered: Micros | null;
  /** Time of the last accepted page by the local clock, or null if the source never responded. */
  readonly lastAnswered: Micros | null;
  /** Start of the current series of failed attempts, which may span restarts, or null if the last attempt succeeded. */
  readonly failingSince: Micros | null;
  /** Time up to which all labels of the source are stored or recorded as a gap, or null if no such time is known. */
  readonly completeThrough: Micros | null;
  /** True if a label with the source's own DID as `src`, read at the current endpoint, had a usable date. */
  readonly dated: boolean;
  /** True if a label of the source, read at the current endpoint, had no usable date. */
  readonly undated: boolean;
}

/** State of reading one source: an immutable value that only `step` changes. */
export interface ReadingState {
  readonly tracked: TrackedState;
  /**
   * Consecutive failed attempts of this run, or null if attempts do not fail. A labeler that returned to the enrolment
   * counts as failing, with 0 attempts, until it responds.
   */
  readonly failing: { readonly since: Micros; readonly attempts: number } | null;
  /** Start of an outage that is not yet filled in, or null if there is no such outage. */
  readonly outageSince: Micros | null;
  /**
   * Time at which missed labels were last accepted, or the source first responded after the outage. Null before that
   * response, or if no labels are missing.
   */
  readonly readAt: Micros | null;
  /**
   * Tracked state before the very first attempt to read the source, kept until an attempt succeeds or fails;
   * otherwise null.
   */
  readonly beforeFirstAttempt: TrackedState | null;
  /**
   * True if all earlier labels were read or recorded as a gap since the last attempt began, so that all further labels
   * arrive live.
   */
  readonly whole: boolean;
  /**
   * Problem of the last failed attempt of this run; null if there is none, if a later attempt succeeded, or if the
   * labeler moved to another endpoint.
   */
  readonly problem: LabelerProblem | null;
  /** Transport by which the source was last read in this run, or null if it has not been read yet. */
  readonly readBy: ReadingTransport | null;
  /**
   * Messages of the stream that were not understood and that no page has closed yet: the time up to which the source
   * was complete before the first of them, and the arrival of the last one. Null if there are none.
   */
  readonly hole: { readonly since: Micros; readonly last: Micros } | null;
  /** True if the source keeps only the newest row of a label; null if this run has no evidence. */
  readonly replacesRows: boolean | null;
}

/** Returns the tracked state of a source that was never read. */
export function untracked(at: Micros): TrackedState {
  const never = {
    ...{ firstAsked: null, firstAnswered: null, lastAnswered: null },
    ...{ failingSince: null, completeThrough: null },
  };
  return { state: 'unstarted', stateSince: at, ...never, dated: false, undated: false };
}

/** Returns the state of reading a source at the start of a run. */
export function readingOf(tracked: TrackedState): ReadingState {
  return {
    ...{ tracked, failing: null, outageSince: null, readAt: null, beforeFirstAttempt: null, whole: false },
    ...{ problem: null, readBy: null, hole: null, replacesRows: null },
  };
}

/** Returns the time since which a source is not known to be complete, or null if it never was complete. */
export function unreadSince({ outageSince, tracked }: ReadingState): Micros | null {
  return outageSince ?? tracked.completeThrough;
}

/**
 * Returns true if a source is enrolled at `now`: it has responded, or its trial has not ended. A source that has been
 * unreachable for 7 days leaves the enrolment, but only after a failed attempt of this run, because the time between
 * runs is no evidence.
 */
export function isEnrolledAt({ tracked, failing }: ReadingState, now: Micros): boolean {
  const { lastAnswered, firstAsked, failingSince } = tracked;
  if (lastAnswered === null) return firstAsked === null || now - firstAsked < trialPeriod;
  return failing === null || failingSince === null || now - failingSince < unreachableAfter;
}
