import type { KnownLabeler } from '../roster/known-labeler.ts';
import { type DiscoverySource, discoverySources } from '../shares/telemetry.ts';

/** Returns the kinds of discovery sources that named a labeler, according to its provenance. */
export function discoverySourcesOf({
  provenance,
}: {
  readonly provenance: ReadonlySet<string>;
}): readonly DiscoverySource[] {
  const names = [...provenance].map((text) => text.replace(/ .*/s, ''));
  return discoverySources.filter((transport) => names.includes(transport));
}

/**
 * Returns the number of labelers for each kind of discovery source. A labeler counts once for each kind of source
 * that named it.
 */
export function countByDiscoverySource(
  labelers: Iterable<Pick<KnownLabeler, 'provenance'>>,
): Readonly<Record<DiscoverySource, number>> {
  const counts = { seeds: 0, relay: 0, jetstream: 0, directory: 0 };
  for (const labeler of labelers) for (const transport of discoverySourcesOf(labeler)) counts[transport] += 1;
  return counts;
}

/**
 * Returns the number of labelers that were named by the directory, but not by a relay, a Jetstream or the seeds file.
 */
export function countDirectoryOnly(labelers: Iterable<Pick<KnownLabeler, 'provenance'>>): number {
  let count = 0;
  for (const labeler of labelers) if (discoverySourcesOf(labeler).join() === 'directory') count += 1;
  return count;
}
