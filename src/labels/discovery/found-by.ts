import type { KnownLabeler } from '../roster/known-labeler.ts';
import { type FindWay, findWays } from '../shares/telemetry.ts';

/** Returns the ways in which a labeler was found; its provenance names each, and the host for some. */
function waysOf({ provenance }: Pick<KnownLabeler, 'provenance'>): readonly FindWay[] {
  const names = [...provenance].map((text) => text.replace(/ .*/s, ''));
  return findWays.filter((way) => names.includes(way));
}

/** Counts labelers by way; a labeler counts once for each way in which it was found. */
export function countFound(labelers: Iterable<Pick<KnownLabeler, 'provenance'>>): Readonly<Record<FindWay, number>> {
  const counts = { seeds: 0, relay: 0, jetstream: 0, directory: 0 };
  for (const labeler of labelers) for (const way of waysOf(labeler)) counts[way] += 1;
  return counts;
}

/** Counts labelers that only the directory named: no relay, Jetstream or seeds file knows a record of them. */
export function countDirectoryOnly(labelers: Iterable<Pick<KnownLabeler, 'provenance'>>): number {
  let count = 0;
  for (const labeler of labelers) if (waysOf(labeler).join() === 'directory') count += 1;
  return count;
}
