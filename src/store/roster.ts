import type { Micros } from '../contract/timestamp.ts';
import { StoreError } from './errors.ts';

/** Limits of what the store keeps about labelers, and of the notes of the instrument. */
export const rosterLimits = {
  /** Maximum length, in characters, of each string in a roster row, of the joined provenance, and of a key. */
  textLength: 8_192,
  /** Maximum number of keys stored per labeler. */
  keys: 64,
  /**
   * Maximum number of stored revisions of label definitions per labeler. The number is limited because one labeler
   * rewrote its record 106,000 times.
   */
  revisions: 16,
  /**
   * Maximum total size of all labelers' revisions: 256 MiB. Above this size, revisions are removed from the largest
   * shares, superseded revisions first.
   */
  definitionBytes: 256 * 1024 * 1024,
  /** Maximum length of a note of the instrument, in characters. */
  noteLength: 64 * 1024,
} as const;
/** Maximum length of one revision of label definitions, in characters. */
export const maxDefinitionsLength = 256 * 1024;

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

/** Access to the stored revisions of label definitions and their sizes. */
export interface DefinitionTable {
  /** Returns, for each labeler, the total size of its revisions and the size of its newest revision, in bytes. */
  sizes(): readonly { readonly did: string; readonly bytes: number; readonly newest: number }[];
  /** Returns the size of each of a labeler's revisions in bytes, newest first. */
  sizesOf(did: string): readonly number[];
  /** Removes a labeler's oldest revision; returns its size in bytes, or undefined if the labeler has no revision. */
  dropOldest(did: string): number | undefined;
}

/** Space used by one labeler's definitions. */
interface Used {
  /** Total size of the labeler's revisions, in bytes. */
  readonly bytes: number;
  /** Size of the labeler's newest revision, in bytes. */
  readonly newest: number;
}

/** Labelers with the same owner. */
interface Group {
  /** Number of bytes that may be removed from the definitions of the group's labelers. */
  bytes: number;
  readonly dids: string[];
}

/** Returns how many bytes may be removed from a labeler's definitions. */
type Losable = (did: string, used: Used) => number;

/** Default rules: every labeler has a separate owner, and no labeler is protected. */
const equalShares: DefinitionShares = { isProtected: () => false, groupOf: (did) => did };

/**
 * Enforces the total size limit of all definitions. Sizes are kept in memory, because computing the sum would scan
 * the whole table each time a labeler changes its record.
 */
export class DefinitionSpace {
  readonly #maxBytes: number;
  readonly #table: DefinitionTable;
  readonly #used = new Map<string, Used>();
  /** Total size of all definitions in bytes, or null until it is read from the table. */
  #total: number | null = null;

  constructor(table: DefinitionTable, maxBytes: number) {
    this.#table = table;
    this.#maxBytes = maxBytes;
  }

  /**
   * Removes revisions until the total is within the limit. Must be called in the transaction that adds revisions;
   * `added` contains the labelers of the new revisions.
   */
  trim(added: readonly string[], { isProtected, groupOf }: DefinitionShares = equalShares): void {
    this.#load();
    for (const did of added) {
      const own = this.#table.sizesOf(did);
      this.#set(did, { bytes: own.reduce((sum, bytes) => sum + bytes, 0), newest: own[0] ?? 0 });
    }
    this.#removeFromLargest((_, { bytes, newest }) => bytes - newest, groupOf);
    this.#removeFromLargest((one, { bytes }) => (isProtected(one) ? 0 : bytes), groupOf);
    this.#removeFromLargest((_, { bytes }) => bytes, groupOf);
  }

  /** Must be called after all definitions of a labeler were removed from the table. */
  dropped(did: string): void {
    if (this.#total !== null) this.#set(did, { bytes: 0, newest: 0 });
  }

  /** Discards the sizes in memory; the next call reads them from the table. Must be called after a rollback. */
  forget(): void {
    this.#used.clear();
    this.#total = null;
  }

  #load(): void {
    if (this.#total !== null) return;
    this.#total = 0;
    for (const { did, bytes, newest } of this.#table.sizes()) this.#set(did, { bytes, newest });
  }

  #set(did: string, used: Used): void {
    this.#total = (this.#total ?? 0) + used.bytes - (this.#used.get(did)?.bytes ?? 0);
    if (used.bytes === 0) this.#used.delete(did);
    else this.#used.set(did, used);
  }

  #isOver(): boolean {
    return (this.#total ?? 0) > this.#maxBytes;
  }

  #drop(did: string): void {
    const used = this.#used.get(did) ?? { bytes: 0, newest: 0 };
    const bytes = used.bytes - (this.#table.dropOldest(did) ?? used.bytes);
    this.#set(did, { bytes, newest: Math.min(bytes, used.newest) });
  }

  /**
   * Removes revisions until the total is within the limit or no bytes may be removed. Each step selects the group
   * with the most removable bytes, and removes a revision of the labeler that has the most removable bytes in this
   * group.
   */
  #removeFromLargest(losable: Losable, groupOf: DefinitionShares['groupOf']): void {
    if (!this.#isOver()) return;
    const groups = this.#groups(losable, groupOf);
    const shareOf = (did: string): number => {
      const used = this.#used.get(did);
      return used ? losable(did, used) : 0;
    };
    while (this.#isOver()) {
      const largest = largestOf(groups);
      if (largest === null) return;
      const did = largest.dids.reduce((one, other) => (shareOf(other) > shareOf(one) ? other : one));
      const before = shareOf(did);
      this.#drop(did);
      largest.bytes -= before - shareOf(did);
    }
  }

  #groups(losable: Losable, groupOf: DefinitionShares['groupOf']): readonly Group[] {
    const groups = new Map<string, Group>();
    for (const [did, used] of this.#used) {
      const share = losable(did, used);
      if (share === 0) continue;
      const name = groupOf(did);
      const group = groups.get(name) ?? { bytes: 0, dids: [] };
      groups.set(name, group);
      group.bytes += share;
      group.dids.push(did);
    }
    return [...groups.values()];
  }
}

function largestOf(groups: readonly Group[]): Group | null {
  let largest: Group | null = null;
  for (const group of groups) if (group.bytes > (largest?.bytes ?? 0)) largest = group;
  return largest;
}

/**
 * Returns the text unchanged; throws `invalid_query` if it has more than `max` characters. `what` is the name of the
 * text in the error message.
 */
export function bounded(text: string, max: number, what: string): string {
  if (text.length > max) throw new StoreError('invalid_query', `${what} is longer than ${max} characters`);
  return text;
}

/** Throws `invalid_query` if a text in a roster row is longer than `rosterLimits.textLength`. */
export function assertRosterBounds({ endpoint, handle, provenance, resolutionStatus, state }: RosterRow): void {
  const texts = { endpoint: endpoint ?? '', handle: handle?.name ?? '', resolutionStatus, state };
  for (const [name, text] of Object.entries(texts)) bounded(text, rosterLimits.textLength, name);
  const length = provenance.reduce((sum, one) => sum + one.length, 0);
  if (length > rosterLimits.textLength) {
    throw new StoreError('invalid_query', `provenance is longer than ${rosterLimits.textLength} characters`);
  }
}
