import type { DefinitionShares } from '../../store/roster.ts';
import { isPrivileged, type PriorityClass } from '../state/reading-state.ts';

/** Identifies the share that a cost counts against. */
export interface ShareKey {
  readonly priority: PriorityClass;
  /** Registrable domain of the source's endpoint; one owner may run many labelers below it. */
  readonly domain: string;
  /** DID of the source. */
  readonly source: string;
}

/**
 * Weights of the priority classes that wait for the same resource, so that the number of new sources does not delay the
 * other classes.
 */
export const priorityWeights: Readonly<Record<PriorityClass, number>> = { seeded: 8, established: 4, new: 1 };

/**
 * Returns the rules for removing definitions: labelers of one registrable domain share a quota, and privileged
 * labelers are protected.
 */
export function definitionShares(shareOf: (did: string) => ShareKey): DefinitionShares {
  return {
    isProtected: (did) => isPrivileged(shareOf(did).priority),
    groupOf: (did) => shareOf(did).domain,
  };
}
