import type { Micros } from '../contract/timestamp.ts';

/** Maximum length, in characters, of each string in a roster row, of the joined provenance, and of a key. */
export const maxRosterTextLength = 8_192;
/** Maximum number of keys stored per labeler. */
export const maxKeysPerLabeler = 64;
/**
 * Maximum number of stored revisions of label definitions per labeler. The number is limited because one labeler
 * rewrote its record 106,000 times.
 */
export const maxDefinitionRevisions = 16;
/**
 * Maximum total size of all labelers' revisions: 256 MiB. Above this size, revisions are removed from the largest
 * shares, superseded revisions first.
 */
export const maxDefinitionsInAll = 256 * 1024 * 1024;
/** Maximum length of one revision of label definitions, in characters. */
export const maxDefinitionsLength = 256 * 1024;
/** Maximum length of a note of the instrument, in characters. */
export const maxNoteLength = 64 * 1024;

/** A known labeler, enrolled or not. Instants are times of the observed clock. */
export interface RosterRow {
  readonly did: string;
  /** `seeded` if the seeds name the labeler, and `discovered` if they do not. */
  readonly origin: 'seeded' | 'discovered';
  /** Relays, streams and files that listed the labeler. */
  readonly provenance: readonly string[];
  readonly enrolled: boolean;
  /** Resolution status of the labeler's DID document, in the vocabulary of the instrument. */
  readonly resolutionStatus: string;
  /** Labeler endpoint in the labeler's DID document, or null if no endpoint is known. */
  readonly endpoint: string | null;
  /** Display name: the handle that the labeler's DID document claims, or null if no handle is known. */
  readonly handle: LabelerHandle | null;
  /** Source state, in the vocabulary of the instrument. */
  readonly state: string;
  readonly stateSince: Micros;
  /** Time of the first attempt to read the labeler, or null before the first attempt. */
  readonly firstAsked: Micros | null;
  /** Time of the first accepted page, or null if the labeler never responded. */
  readonly firstAnswered: Micros | null;
  /** Time of the last accepted page, or null if the labeler never responded. */
  readonly lastAnswered: Micros | null;
  /** Start of the current series of failed attempts, or null if the last attempt succeeded. */
  readonly failingSince: Micros | null;
  /** Time up to which all labels of the labeler are stored or recorded as a gap, or null if it is unknown. */
  readonly completeThrough: Micros | null;
  /** True if at least one label of the labeler had a usable date. */
  readonly dated: boolean;
  /** True if the labeler sent labels, but no label had a usable date. */
  readonly undated: boolean;
}

/** A labeler's display name: the handle that its DID document claims. */
export interface LabelerHandle {
  readonly name: string;
  /** True if the handle resolves to the labeler. An unconfirmed handle is a claim that any account could make. */
  readonly confirmed: boolean;
}

/** Returns a stored handle, or null if no text is stored or the text is not a valid handle. */
export function labelerHandle(name: string | null, confirmed: boolean): LabelerHandle | null {
  return name !== null && /^[a-z0-9.-]{3,253}$/.test(name) ? { name, confirmed } : null;
}

/** Number of bytes that each source added on one day. */
export interface DailyBytes {
  /** UTC day, as the number of days since 1970-01-01. */
  readonly day: number;
  /** Bytes by DID of the source. */
  readonly bytes: ReadonlyMap<string, number>;
}

/** A position in the directory's stream of operations. */
export interface DirectoryPosition {
  /** Host of the directory. Positions of different hosts are unrelated. */
  readonly host: string;
  readonly seq: number;
}

/** A key of a labeler, with the first and last time at which the labeler's DID document listed it. */
export interface LabelerKey {
  readonly did: string;
  /** Key in the encoding `publicKeyMultibase`, as in the DID document. */
  readonly key: string;
  readonly firstSeen: Micros;
  readonly lastSeen: Micros;
}

/** A labeler's label definitions as observed at `seenAt`. */
export interface Definitions {
  readonly did: string;
  readonly seenAt: Micros;
  /** Definitions from the labeler's record as JSON, opaque to the store. */
  readonly content: string;
}

/** Rules for removing definitions when the total size limit is exceeded. */
export interface DefinitionShares {
  /**
   * Returns true if a labeler's newest revision may be removed only after the newest revisions of all unprotected
   * labelers.
   */
  readonly isProtected: (did: string) => boolean;
  /** Returns the group of a labeler, such as its registrable domain; labelers of one group share one quota. */
  readonly groupOf: (did: string) => string;
}
