import type { Micros } from '../../contract/timestamp.ts';
import { day } from '../../store/time.ts';
import type { SourceState } from './source-state.ts';

/**
 * Class of a source for the division of scarce resources:
 *
 * - `seeded`: the operator named it in the seeds file.
 * - `established`: it first responded at least 7 days ago, has not been failing for 7 days, and is in no state in
 * which its responses are useless. A DID is free, so only time distinguishes a labeler from one created for an attack.
 * - `new`: everything else, regardless of its claims.
 *
 * Seeded and established sources are **privileged**: slots, places and budgets are partly reserved for them, and a new
 * source never takes those that a privileged one holds.
 */
export type SourceStanding = 'seeded' | 'established' | 'new';

/** A source that first answered at least this long ago is established: 7 days. */
export const establishedAfter = 7 * day;
/** A source of which every try failed for this long is unreachable, and leaves the enrolment: 7 days. */
export const unreachableAfter = 7 * day;

/** Input for a standing. */
export interface StandingFacts {
  /** True if the seeds file names it, even if another source named it first. */
  readonly seeded: boolean;
  readonly state: SourceState;
  /** Our clock at its first accepted page; null when it never answered. */
  readonly firstAnswered: Micros | null;
  /** Since when every try has failed; null where the last one did not. Time during which we did not run proves nothing. */
  readonly failingSince: Micros | null;
}

/** States that say that what the source answers is of no use. Failing to answer for a while is not among them. */
const unusable: ReadonlySet<SourceState> = new Set([
  'refused',
  'provider_rejects',
  'cursor_order_unverified',
  'undated_only',
]);

/** The standing of a source at `now`. */
export function standingOf({ seeded, state, firstAnswered, failingSince }: StandingFacts, now: Micros): SourceStanding {
  if (seeded) return 'seeded';
  if (firstAnswered === null || unusable.has(state)) return 'new';
  const reachable = failingSince === null || now - failingSince < unreachableAfter;
  return reachable && now - firstAnswered >= establishedAfter ? 'established' : 'new';
}

/** Returns true if reserved resources may serve a source of this standing. */
export function isPrivileged(standing: SourceStanding): boolean {
  return standing !== 'new';
}

const rank: Readonly<Record<SourceStanding, number>> = { seeded: 0, established: 1, new: 2 };

/**
 * Orders sources for places that are fewer than they: seeded ones first, then established ones, then the others; among
 * equals the one that first answered longest ago, and last those that never did. Zero for equals, so that a stable sort
 * keeps the order in which they were found.
 */
export function compareStanding(a: StandingFacts, b: StandingFacts, now: Micros): number {
  const byRank = rank[standingOf(a, now)] - rank[standingOf(b, now)];
  if (byRank !== 0) return byRank;
  const [first, second] = [a.firstAnswered ?? Number.POSITIVE_INFINITY, b.firstAnswered ?? Number.POSITIVE_INFINITY];
  return first === second ? 0 : first - second;
}
