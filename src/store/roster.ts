import type { Micros } from '../contract/timestamp.ts';
import { micros } from './time.ts';

/** Most characters of a roster row's `detail`. */
export const maxDetailLength = 8_192;
/** Most keys kept of one labeler. */
export const maxKeysPerLabeler = 64;
/** Most revisions of label definitions kept of one labeler: one was seen to rewrite its record 106,000 times. */
export const maxDefinitionRevisions = 16;
/** Most bytes of all revisions of all labelers: 256 Mi. Beyond it the largest shares give way, superseded revisions first. */
export const maxDefinitionsInAll = 256 * 1024 * 1024;
/** Most characters of one revision. */
export const maxDefinitionsLength = 256 * 1024;
/** Most characters of a note. */
export const maxNoteLength = 64 * 1024;

/** A labeler that is known, enrolled or not. The store gives no meaning to `state` and `detail`. */
export interface RosterRow {
  readonly did: string;
  /** Known from the seeds or found later. */
  readonly origin: 'seeded' | 'discovered';
  /** Relays, streams and files that named it. */
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

/** A labeler's name, for people: the handle that its document claims. */
export interface LabelerHandle {
  readonly name: string;
  /** True if the handle was seen to resolve to the labeler. Otherwise it is a claim that any account could make. */
  readonly confirmed: boolean;
}

/** The name of a labeler as the label instrument keeps it in `detail`; null where it knows none. */
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
 * Until when everything that a labeler published is stored or recorded as a gap, as the label instrument keeps it in
 * `detail`; null where that is not known.
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

/** Priorities of labelers' definitions when space is short. */
export interface DefinitionShares {
  /** Returns true if a labeler's newest revision is removed last. */
  readonly isProtected: (did: string) => boolean;
  /** The owner whose labelers share what they take. */
  readonly groupOf: (did: string) => string;
}
