import type { DefinitionShares } from '../../store/roster.ts';
import { isPrivileged } from '../state/priority.ts';
import type { ShareKey } from './shares.ts';

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
