import type { Micros } from '../../contract/timestamp.ts';
import { day } from '../../store/time.ts';
import type { SourceState } from './source-state.ts';

/**
 * Priority classes of sources, for the division of scarce resources:
 *
 * - `seeded`: the operator named it in the seeds file.
 * - `established`: it first responded at least 7 days ago, has not been failing for 7 days, and is in no state in
 * which its responses are useless. A DID is free, so only time distinguishes a labeler from one created for an attack.
 * - `new`: everything else, regardless of its claims.
 *
 * Seeded and established sources are **privileged**: slots, places and budgets are partly reserved for them, and a new
 * source never takes those that a privileged one holds. Metrics and reports call the class `standing`.
 */
export const priorityClasses = ['seeded', 'established', 'new'] as const;
/** Priority class of a source. */
export type PriorityClass = (typeof priorityClasses)[number];

/** A source that first answered at least this long ago is established: 7 days. */
export const establishedAfter = 7 * day;
/** A source whose attempts have all failed for this long is unreachable, and leaves the enrolment: 7 days. */
export const unreachableAfter = 7 * day;

/** Facts that decide the priority class of a source. */
export interface PriorityInput {
  /** True if the seeds file names it, even if another source named it first. */
  readonly seeded: boolean;
  readonly state: SourceState;
  /** Our clock at its first accepted page; null if it never responded. */
  readonly firstAnswered: Micros | null;
  /** Start of the current series of failed attempts; null if the last one succeeded. */
  readonly failingSince: Micros | null;
}

/** States in which the responses of a source are of no use. A source that fails to respond for a while is in none of them. */
const unusable: ReadonlySet<SourceState> = new Set([
  'refused',
  'provider_rejects',
  'cursor_order_unverified',
  'undated_only',
]);

/** Returns the priority class of a source at `now`. */
export function priorityOf({ seeded, state, firstAnswered, failingSince }: PriorityInput, now: Micros): PriorityClass {
  if (seeded) return 'seeded';
  if (firstAnswered === null || unusable.has(state)) return 'new';
  const reachable = failingSince === null || now - failingSince < unreachableAfter;
  return reachable && now - firstAnswered >= establishedAfter ? 'established' : 'new';
}

/** Returns true if reserved resources may serve a source of this priority class. */
export function isPrivileged(priority: PriorityClass): boolean {
  return priority !== 'new';
}

const rank: Readonly<Record<PriorityClass, number>> = { seeded: 0, established: 1, new: 2 };

/**
 * Orders sources that compete for places: by class (seeded, established, new), then by the time of their first response,
 * the earliest first and those without one last. Returns 0 for equals, so a stable sort keeps the order of discovery.
 */
export function comparePriority(a: PriorityInput, b: PriorityInput, now: Micros): number {
  const byRank = rank[priorityOf(a, now)] - rank[priorityOf(b, now)];
  if (byRank !== 0) return byRank;
  const [first, second] = [a.firstAnswered ?? Number.POSITIVE_INFINITY, b.firstAnswered ?? Number.POSITIVE_INFINITY];
  return first === second ? 0 : first - second;
}
