import type { DiscoveryWay, LabelerState, ReadingTransport } from '../../contract/labeler-vocabulary.ts';
import type { GapReason } from '../../contract/vocabulary.ts';

/** Descriptions of the states of a labeler. */
export const describeState: Readonly<Record<LabelerState, string>> = {
  established: 'read',
  probing: 'tried, no result yet',
  unstarted: 'not tried yet',
  refused: 'refuses to be read',
  cursor_order_unverified: 'read in part: the order of its pages is not proven',
  undated_only: 'responds, but no label has a usable date',
  provider_rejects: 'responds, but not as a label service',
  unavailable: 'does not respond',
  departed: 'no longer followed',
  denied: 'denied by the operator of this instrument',
};

/** Descriptions of the ways in which a labeler was found. */
export const describeWay: Readonly<Record<DiscoveryWay, string>> = {
  seeds: "Almanac's list of labelers",
  relay: 'a relay',
  jetstream: 'the Jetstream',
  directory: 'the DID directory',
};

/** Descriptions of the transports by which a labeler is read. */
export const describeTransport: Readonly<Record<ReadingTransport, string>> = {
  stream: 'stream (subscribeLabels)',
  pages: 'pages (queryLabels)',
};

/** Descriptions of the reasons of gaps. */
export const describeGap: Readonly<Record<GapReason, string>> = {
  not_observed: 'Almanac did not read this labeler yet',
  source_unavailable: 'the labeler could not be read',
  ingest_paused: 'Almanac did not accept labels',
  cursor_reset: 'the labeler began its numbering again, so labels may have been missed',
  maintenance: 'stored labels were removed',
  warmup: 'Almanac was starting',
  unknown: 'the reason is not known',
};
