import type { Micros } from '../contract/timestamp.ts';

/** Most characters of a roster row's `detail`. */
export const maxDetailLength = 8_192;
/** Most keys kept of one labeler. */
export const maxKeysPerLabeler = 64;
/** Most revisions of label definitions kept of one labeler: one was seen to rewrite its record 106,000 times. */
export const maxDefinitionRevisions = 16;
/** Most characters of one revision. */
export const maxDefinitionsLength = 256 * 1024;
/** Most characters of a note. */
export const maxNoteLength = 64 * 1024;

/** A labeler that is known, enrolled or not. The store gives no meaning to `state` and `detail`. */
export interface RosterRow {
  readonly did: string;
  /** Known from the seeds or found later. */
  readonly origin: 'seeded' | 'discovered';
  /** Who named it: relays, streams, files. */
  readonly provenance: readonly string[];
  readonly enrolled: boolean;
  /** The labeler endpoint of its document; null when none is known. */
  readonly endpoint: string | null;
  /** The source state of the instrument. */
  readonly state: string;
  readonly stateSince: Micros;
  /** The instrument's own particulars, as text. */
  readonly detail: string;
}

/** A key that a labeler was seen to sign with, and when its document named it. */
export interface LabelerKey {
  readonly did: string;
  /** publicKeyMultibase. */
  readonly key: string;
  readonly firstSeen: Micros;
  readonly lastSeen: Micros;
}

/** A labeler's own label definitions as of an instant, as text. */
export interface Definitions {
  readonly did: string;
  readonly seenAt: Micros;
  readonly content: string;
}
