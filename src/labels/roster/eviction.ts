import type { Micros } from '../../contract/timestamp.ts';
import { registrableDomain } from '../../network/guard/host-rates.ts';
import { isPrivileged, priorityOf, trialPeriod } from '../state/reading-state.ts';
import { isSeeded, type KnownLabeler, priorityInput } from './known-labeler.ts';
import { domainOf, isWeb } from './resolution-queue.ts';

/**
 * Maximum shares of a full roster for new labelers that have the same domain in their did:web, in their endpoint, or in
 * the host of their records. Many honest labelers share the host of their records.
 */
const shares = { did: 1 / 20, endpoint: 1 / 20, pds: 1 / 4 } as const;

/** Labelers that a full roster may evict. The last entry of each list is evicted first. */
interface EvictionCandidates {
  /**
   * Labelers that never responded, and whose document declares no labeler service or whose trial has ended. These
   * labelers are evicted before `surplus`.
   */
  readonly unused: string[];
  /** Newest labelers of groups that exceed their share. */
  readonly surplus: string[];
  /**
   * Domains of did:web that have used up their share. A further labeler of such a domain must not evict a labeler of
   * `surplus`.
   */
  readonly crowded: ReadonlySet<string>;
}

/** Eviction candidates of a roster that is not full. */
export const noEvictionCandidates: EvictionCandidates = { unused: [], surplus: [], crowded: new Set() };

/** Returns the labelers that a full roster may evict. Seeded and established labelers are never evicted. */
export function evictionCandidates(labelers: Iterable<KnownLabeler>, max: number, now: Micros): EvictionCandidates {
  const failed: string[] = [];
  const withoutService: string[] = [];
  const others: KnownLabeler[] = [];
  for (const labeler of labelers) {
    if (!isEvictable(labeler, now)) continue;
    if (hasFailedTrial(labeler, now)) failed.push(labeler.did);
    else if (labeler.resolutionStatus === 'no_labeler' && labeler.tracker.tracked.lastAnswered === null)
      withoutService.push(labeler.did);
    else others.push(labeler);
  }
  return { unused: [...withoutService.reverse(), ...failed.reverse()], ...surplusOf(others, max) };
}

/** Returns true if a labeler is neither seeded nor established, so that it may be evicted. */
export function isEvictable(labeler: KnownLabeler, now: Micros): boolean {
  return !isPrivileged(priorityOf(priorityInput(labeler), now));
}

/** Returns true if a labeler was discovered and its trial ended without a response, or without a document. */
function hasFailedTrial(labeler: KnownLabeler, now: Micros): boolean {
  const { lastAnswered, firstAsked, stateSince } = labeler.tracker.tracked;
  return !isSeeded(labeler) && lastAnswered === null && now - (firstAsked ?? stateSince) >= trialPeriod;
}

/**
 * Returns the labelers that exceed the share of one of their groups, in the order of their discovery, and the domains
 * of did:web that have used up their share.
 */
function surplusOf(labelers: readonly KnownLabeler[], max: number): Pick<EvictionCandidates, 'surplus' | 'crowded'> {
  const counts = new Map<string, number>();
  const surplus: string[] = [];
  const crowded = new Set<string>();
  for (const labeler of labelers) {
    const groups = groupsOf(labeler);
    for (const { key } of groups) counts.set(key, (counts.get(key) ?? 0) + 1);
    if (groups.some(({ key, share }) => (counts.get(key) ?? 0) > share * max)) surplus.push(labeler.did);
    if (isWeb(labeler.did) && (counts.get(`did ${domainOf(labeler.did)}`) ?? 0) >= shares.did * max) {
      crowded.add(domainOf(labeler.did));
    }
  }
  return { surplus, crowded };
}

function groupsOf({ did, endpoint, pds }: KnownLabeler): { readonly key: string; readonly share: number }[] {
  return [
    ...(isWeb(did) ? [{ key: `did ${domainOf(did)}`, share: shares.did }] : []),
    ...(endpoint === null
      ? []
      : [{ key: `endpoint ${registrableDomain(new URL(endpoint).host)}`, share: shares.endpoint }]),
    ...(pds === null ? [] : [{ key: `pds ${registrableDomain(new URL(pds).host)}`, share: shares.pds }]),
  ];
}
