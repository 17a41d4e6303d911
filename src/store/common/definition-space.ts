import { StoreError } from '../errors.ts';
import { type DefinitionShares, maxRosterTextLength, type RosterRow } from '../roster.ts';

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

/** Throws `invalid_query` if a text in a roster row is longer than `maxRosterTextLength`. */
export function assertRosterBounds({ endpoint, handle, provenance, resolutionStatus, state }: RosterRow): void {
  const texts = { endpoint: endpoint ?? '', handle: handle?.name ?? '', resolutionStatus, state };
  for (const [name, text] of Object.entries(texts)) bounded(text, maxRosterTextLength, name);
  const length = provenance.reduce((sum, one) => sum + one.length, 0);
  if (length > maxRosterTextLength) {
    throw new StoreError('invalid_query', `provenance is longer than ${maxRosterTextLength} characters`);
  }
}
