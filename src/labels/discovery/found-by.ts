import type { Member } from '../roster/member.ts';
import { type FindWay, findWays } from '../shares/telemetry.ts';

/** Returns the ways in which a labeler was found; its provenance names each, and the host for some. */
function waysOf({ provenance }: Pick<Member, 'provenance'>): readonly FindWay[] {
  const names = [...provenance].map((text) => text.replace(/ .*/s, ''));
  return findWays.filter((way) => names.includes(way));
}

/** Counts labelers by way; a labeler counts once for each way in which it was found. */
export function countFound(members: Iterable<Pick<Member, 'provenance'>>): Readonly<Record<FindWay, number>> {
  const counts = { seeds: 0, relay: 0, jetstream: 0, directory: 0 };
  for (const member of members) for (const way of waysOf(member)) counts[way] += 1;
  return counts;
}

/** Counts labelers that only the directory named: no relay, Jetstream or seeds file knows a record of them. */
export function countDirectoryOnly(members: Iterable<Pick<Member, 'provenance'>>): number {
  let count = 0;
  for (const member of members) if (waysOf(member).join() === 'directory') count += 1;
  return count;
}
