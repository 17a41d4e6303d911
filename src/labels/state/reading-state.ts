import type { Micros } from '../../contract/timestamp.ts';
import type { LabelerProblem, ReadingTransport } from '../../contract/vocabulary.ts';
import { day, hour, minute } from '../../store/time.ts';

/**
 * States of an enrolled source. Each source is in exactly one state, and the artifact contains the number of sources
 * in each state.
 */
export const sourceStates = [
  'unstarted',
  'probing',
  'established',
  'refused',
  'cursor_order_unverified',
  'undated_only',
  'provider_rejects',
  'unavailable',
] as const;
/** One state of an enrolled source. */
export type SourceState = (typeof sourceStates)[number];

/** Events that change the state of a source, with their descriptions for the documentation. */
export const sourceEvents = {
  asked: 'an attempt to read the source began',
  answered: 'a frame, a page or a confirmed tail was accepted',
  only_undated: 'the source responded, and all its labels so far were undated',
  order_unverified: 'the pages do not prove that ids increase with time, or have no usable cursor',
  refusing: '401 or 403, an address that the guard refuses, or an endpoint that is not an https address',
  rejecting: 'HTML, invalid JSON, 400, 404 or 501, by stream and by poll',
  failed: 'a DNS, TLS or connection failure, a timeout, 429 or 5xx',
  failed_long: 'at least 3 transient failures in a row, over more than 15 minutes',
  moved: 'the DID document names another endpoint',
  restarted: 'the process of this instrument restarted',
} as const;
/** An event that changes the state of a source. */
export type SourceEvent = keyof typeof sourceEvents;

type Row = Readonly<Record<SourceEvent, SourceState>>;

/** Transitions of most states: the newest event decides. */
const defaultRow = {
  asked: 'probing',
  answered: 'established',
  only_undated: 'undated_only',
  order_unverified: 'cursor_order_unverified',
  refusing: 'refused',
  rejecting: 'provider_rejects',
  failed: 'probing',
  failed_long: 'unavailable',
  moved: 'probing',
  restarted: 'probing',
} as const satisfies Row;

/**
 * Transition table of the source states. Only the state `established` gives coverage. The start of an attempt is no
 * evidence and changes only the state `unstarted`. A further transient failure does not change the state `unavailable`.
 */
const transitions: Readonly<Record<SourceState, Row>> = {
  unstarted: { ...defaultRow, restarted: 'unstarted', moved: 'unstarted' },
  probing: defaultRow,
  established: { ...defaultRow, asked: 'established' },
  refused: { ...defaultRow, asked: 'refused', restarted: 'refused' },
  cursor_order_unverified: { ...defaultRow, asked: 'cursor_order_unverified', restarted: 'cursor_order_unverified' },
  undated_only: { ...defaultRow, asked: 'undated_only', restarted: 'undated_only' },
  provider_rejects: { ...defaultRow, asked: 'provider_rejects', restarted: 'provider_rejects' },
  unavailable: { ...defaultRow, asked: 'unavailable', failed: 'unavailable', restarted: 'unavailable' },
};

/** Returns the state after an event. */
export function transition(state: SourceState, event: SourceEvent): SourceState {
  return transitions[state][event];
}

/** Parses a stored state; an unknown state (of another version) is parsed as `probing`. */
export function sourceStateOf(text: string): SourceState {
  return sourceStates.find((state) => state === text) ?? 'probing';
}

/**
 * Priority classes of sources, for the division of scarce resources:
 *
 * - `seeded`: the operator named the source in the seeds file.
 * - `established`: the source first responded at least 7 days ago, has sent a dated label of its own, has not been
 * failing for 7 days, and its responses are not useless. A DID is free, so only time distinguishes a labeler from one
 * created for an attack. A document may name the host of another labeler, whose labels prove nothing about the source.
 * - `new`: every other source.
 *
 * Seeded and established sources are **privileged**: connection slots, reading slots and budgets are partly reserved
 * for them, and a new source never takes a slot that a privileged source holds. Metrics and reports call the class
 * `standing`.
 */
export const priorityClasses = ['seeded', 'established', 'new'] as const;
/** Priority class of a source. */
export type PriorityClass = (typeof priorityClasses)[number];

/** Maximum number of enrolled labelers that are read at once. Those of a lower priority wait. */
export const labelerLimits = {
  /** Value of the setting by default. */
  default: 5_000,
  /** Highest value that was measured; see `docs/scale.md`. */
  highest: 10_000,
};

/** Times by which the state of a source changes, in microseconds. */
export const stateTimes = {
  /** Time since the first response after which a source is established, in microseconds: 7 days. */
  establishedAfter: 7 * day,
  /**
   * Time without a successful attempt after which a source is unreachable and leaves the enrolment, in microseconds: 7
   * days.
   */
  unreachableAfter: 7 * day,
  /** Maximum outage that counts as a delay and not as a gap, in microseconds: 15 minutes. */
  delayLimit: 15 * minute,
  /** Time for which a source that never responded is enrolled, in microseconds: 24 h. */
  trialPeriod: 24 * hour,
};

/** Properties that determine the priority class of a source. */
export interface PriorityInput {
  /** True if the seeds file names the source, even if another discovery source named it first. */
  readonly seeded: boolean;
  readonly state: SourceState;
  /** Time of the first accepted page by the local clock, or null if the source never responded. */
  readonly firstAnswered: Micros | null;
  /** True if a label with the source's own DID as `src` had a usable date. */
  readonly dated: boolean;
  /** Start of the current series of failed attempts, or null if the last attempt succeeded. */
  readonly failingSince: Micros | null;
}

/**
 * States of sources whose responses are useless. A source that merely fails to respond for some time is not in such a
 * state.
 */
const unusable: ReadonlySet<SourceState> = new Set([
  'refused',
  'provider_rejects',
  'cursor_order_unverified',
  'undated_only',
]);

/** Returns the priority class of a source at `now`. */
export function priorityOf(
  { seeded, state, firstAnswered, dated, failingSince }: PriorityInput,
  now: Micros,
): PriorityClass {
  if (seeded) return 'seeded';
  if (firstAnswered === null || !dated || unusable.has(state)) return 'new';
  const reachable = failingSince === null || now - failingSince < stateTimes.unreachableAfter;
  return reachable && now - firstAnswered >= stateTimes.establishedAfter ? 'established' : 'new';
}

/**
 * Returns the priority class that a source has once a dated label of its own is accepted. The daily shares of a source
 * are those of this class, because only such labels use them. Otherwise, one unusable response would give a source that
 * has used more than the share of a new one no further label, and thus no way to become established again.
 */
export function priorityWithLabel(input: PriorityInput, now: Micros): PriorityClass {
  return priorityOf({ ...input, state: 'established', dated: true, failingSince: null }, now);
}

/** Returns true if reserved resources may serve a source of this priority class. */
export function isPrivileged(priority: PriorityClass): boolean {
  return priority !== 'new';
}

const rank: Readonly<Record<PriorityClass, number>> = { seeded: 0, established: 1, new: 2 };

/**
 * Compares two sources that compete for a reading slot: first by class (seeded, established, new), then by the time of
 * their first response. The earliest response is first, and sources without a response are last. Returns 0 for equal
 * sources, so that a stable sort keeps the order of discovery.
 */
export function comparePriority(a: PriorityInput, b: PriorityInput, now: Micros): number {
  const byRank = rank[priorityOf(a, now)] - rank[priorityOf(b, now)];
  if (byRank !== 0) return byRank;
  const [first, second] = [a.firstAnswered ?? Number.POSITIVE_INFINITY, b.firstAnswered ?? Number.POSITIVE_INFINITY];
  return first === second ? 0 : first - second;
}

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
   * Consecutive failed attempts of this run, or null if attempts do not fail. A labeler that returned to the enrolment,
   * or that was allowed again after a denial, counts as failing, with 0 attempts, until it responds.
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
 * runs is no evidence. The instrument still tries to reach it once a day.
 */
export function isEnrolledAt({ tracked, failing }: ReadingState, now: Micros): boolean {
  const { lastAnswered, firstAsked, failingSince } = tracked;
  if (lastAnswered === null) return firstAsked === null || now - firstAsked < stateTimes.trialPeriod;
  return failing === null || failingSince === null || now - failingSince < stateTimes.unreachableAfter;
}
