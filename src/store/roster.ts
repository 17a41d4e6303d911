import type { Micros } from '../contract/timestamp.ts';
import { micros } from './time.ts';

/** Maximum characters of a roster row's `detail`. */
export const maxDetailLength = 8_192;
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

/** A known labeler, enrolled or not. `state` and `detail` are opaque to the store. */
export interface RosterRow {
  readonly did: string;
  /** `seeded` if the labeler is known from the seeds, otherwise `discovered`. */
  readonly origin: 'seeded' | 'discovered';
  /** Relays, streams and files that listed the labeler. */
  readonly provenance: readonly string[];
  readonly enrolled: boolean;
  /** Labeler endpoint in its DID document; null if none is known. */
  readonly endpoint: string | null;
  /** Source state, as the instrument defines it. */
  readonly state: string;
  readonly stateSince: Micros;
  /** Further data of the instrument, as text. */
  readonly detail: string;
}

/** A labeler's display name: the handle that its document claims. */
export interface LabelerHandle {
  readonly name: string;
  /** True if the handle was resolved to the labeler. Otherwise it is a claim that any account could make. */
  readonly confirmed: boolean;
}

/** Returns the handle of a labeler from `detail`; null if none is known. */
export function labelerHandle(row: Pick<RosterRow, 'detail'>): LabelerHandle | null {
  const { handle, confirmed } = particulars(row);
  if (typeof handle !== 'string' || !/^[a-z0-9.-]{3,253}$/.test(handle)) return null;
  return { name: handle, confirmed: confirmed === true };
}

/** Time of a labeler's last response, as the label instrument stores it in `detail`; null if none is known. */
export function labelerAnswered(row: Pick<RosterRow, 'detail'>): Micros | null {
  return instant(particulars(row).lastAnswered);
}

/**
 * Returns the instant until which everything that a labeler published is stored or recorded as a gap, from `detail`;
 * null if unknown.
 */
export function labelerComplete(row: Pick<RosterRow, 'detail'>): Micros | null {
  return instant(particulars(row).completeThrough);
}

function instant(value: unknown): Micros | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? micros(value) : null;
}

function particulars({ detail }: Pick<RosterRow, 'detail'>): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(detail);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** A key that a labeler has signed with, and when its document listed it. */
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

/** Priorities of labelers' definitions when space is short. */
export interface DefinitionShares {
  /** Returns true if a labeler's newest revision is removed last. */
  readonly isProtected: (did: string) => boolean;
  /** Returns the owner of a labeler; labelers of one owner share one quota. */
  readonly groupOf: (did: string) => string;
}
