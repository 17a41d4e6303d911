import type { KnownLabeler } from '../roster/known-labeler.ts';
import { type DiscoverySource, discoverySources } from '../shares/telemetry.ts';

/** Returns the ways in which a labeler was found; its provenance names each, and the host for some. */
function discoverySourcesOf({ provenance }: Pick<KnownLabeler, 'provenance'>): readonly DiscoverySource[] {
  const names = [...provenance].map((text) => text.replace(/ .*/s, ''));
  return discoverySources.filter((transport) => names.includes(transport));
}

/** Counts labelers by way; a labeler counts once for each way in which it was found. */
export function countByDiscoverySource(
  labelers: Iterable<Pick<KnownLabeler, 'provenance'>>,
): Readonly<Record<DiscoverySource, number>> {
  const counts = { seeds: 0, relay: 0, jetstream: 0, directory: 0 };
  for (const labeler of labelers) for (const transport of discoverySourcesOf(labeler)) counts[transport] += 1;
  return counts;
}

/** Counts labelers that only the directory named: no relay, Jetstream or seeds file knows a record of them. */
export function countDirectoryOnly(labelers: Iterable<Pick<KnownLabeler, 'provenance'>>): number {
  let count = 0;
  for (const labeler of labelers) if (discoverySourcesOf(labeler).join() === 'directory') count += 1;
  return count;
}
