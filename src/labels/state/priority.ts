import type { Micros } from '../../contract/timestamp.ts';
import { day } from '../../store/time.ts';
import type { SourceState } from './source-state.ts';

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

/** Time since the first response after which a source is established, in microseconds: 7 days. */
export const establishedAfter = 7 * day;
/**
 * Time without a successful attempt after which a source is unreachable and leaves the enrolment, in microseconds: 7
 * days.
 */
export const unreachableAfter = 7 * day;

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
  const reachable = failingSince === null || now - failingSince < unreachableAfter;
  return reachable && now - firstAnswered >= establishedAfter ? 'established' : 'new';
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
