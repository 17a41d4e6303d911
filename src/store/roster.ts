import type { Micros } from '../contract/timestamp.ts';

/** Maximum characters of a text of a roster row, of all its provenance together, and of a key. */
export const maxRosterTextLength = 8_192;
/** Maximum number of keys stored per labeler. */
export const maxKeysPerLabeler = 64;
/**
 * Maximum number of revisions of label definitions stored per labeler: one labeler rewrote its record 106,000 times.
 */
export const maxDefinitionRevisions = 16;
/**
 * Maximum bytes of all revisions of all labelers: 256 Mi. Beyond it the largest shares lose revisions, superseded ones
 * first.
 */
export const maxDefinitionsInAll = 256 * 1024 * 1024;
/** Maximum characters of one revision. */
export const maxDefinitionsLength = 256 * 1024;
/** Maximum characters of a note. */
export const maxNoteLength = 64 * 1024;

/** A known labeler, enrolled or not. Instants are of the observed clock. */
export interface RosterRow {
  readonly did: string;
  /** `seeded` if the labeler is known from the seeds, otherwise `discovered`. */
  readonly origin: 'seeded' | 'discovered';
  /** Relays, streams and files that listed the labeler. */
  readonly provenance: readonly string[];
  readonly enrolled: boolean;
  /** Resolution status of its DID document, as the instrument defines it. */
  readonly resolutionStatus: string;
  /** Labeler endpoint in its DID document; null if none is known. */
  readonly endpoint: string | null;
  /** Display name: the handle that its document claims; null if none is known. */
  readonly handle: LabelerHandle | null;
  /** Source state, as the instrument defines it. */
  readonly state: string;
  readonly stateSince: Micros;
  /** First attempt to read it; null before. */
  readonly firstAsked: Micros | null;
  /** First accepted page; null if it never answered. */
  readonly firstAnswered: Micros | null;
  /** Last accepted page; null if it never answered. */
  readonly lastAnswered: Micros | null;
  /** Start of a series of failed attempts that has not ended; null if the last attempt succeeded. */
  readonly failingSince: Micros | null;
  /** Instant until which everything that it published is stored or recorded as a gap; null if unknown. */
  readonly completeThrough: Micros | null;
  /** True if any of its labels had a usable date. */
  readonly dated: boolean;
  /** True if it sent labels and none of them had a usable date. */
  readonly undated: boolean;
}

/** A labeler's display name: the handle that its document claims. */
export interface LabelerHandle {
  readonly name: string;
  /** True if the handle was resolved to the labeler. Otherwise it is a claim that any account could make. */
  readonly confirmed: boolean;
}

/** Returns a stored handle; null if there is none or if it cannot be a handle. */
export function labelerHandle(name: string | null, confirmed: boolean): LabelerHandle | null {
  return name !== null && /^[a-z0-9.-]{3,253}$/.test(name) ? { name, confirmed } : null;
}

/** Bytes that the sources added to a day. */
export interface DailyBytes {
  /** Number of the day since 1970. */
  readonly day: number;
  /** Bytes by DID of the source. */
  readonly bytes: ReadonlyMap<string, number>;
}

/** A position in the directory's stream of operations. */
export interface DirectoryPosition {
  /** Host of the directory: positions of different hosts are unrelated. */
  readonly host: string;
  readonly seq: number;
}

/** A key that a labeler has signed with, and when its document listed it. */
export interface LabelerKey {
  readonly did: string;
  /** publicKeyMultibase. */
  readonly key: string;
  readonly firstSeen: Micros;
  readonly lastSeen: Micros;
}

/** A labeler's own label definitions as of an instant. */
export interface Definitions {
  readonly did: string;
  readonly seenAt: Micros;
  /** The labeler's document, opaque to the store. */
  readonly content: string;
}

/** Priorities of labelers' definitions when space is short. */
export interface DefinitionShares {
  /** Returns true if a labeler's newest revision is removed last. */
  readonly isProtected: (did: string) => boolean;
  /** Returns the owner of a labeler; labelers of one owner share one quota. */
  readonly groupOf: (did: string) => string;
}
