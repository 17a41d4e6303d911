import type { DefinitionShares } from '../roster.ts';

/** The stored revisions, as far as their space is concerned. */
export interface DefinitionTable {
  /** Returns the bytes of each labeler's revisions, and of its newest revision. */
  sizes(): readonly { readonly did: string; readonly bytes: number; readonly newest: number }[];
  /** Returns the bytes of a labeler's revisions, newest first. */
  sizesOf(did: string): readonly number[];
  /** Removes a labeler's oldest revision; returns its bytes, or undefined if the labeler has none. */
  dropOldest(did: string): number | undefined;
}

/** Space that one labeler's definitions use. */
interface Used {
  /** Bytes of all revisions of the labeler, and of its newest revision. */
  readonly bytes: number;
  readonly newest: number;
}

/** Labelers of one owner, and the bytes that they may lose together. */
interface Group {
  bytes: number;
  readonly dids: string[];
}

/** Function that returns the number of bytes that a labeler may lose. */
type Losable = (did: string, used: Used) => number;

/** Shares in which every labeler has a separate share and no labeler is protected. */
const equalShares: DefinitionShares = { isProtected: () => false, groupOf: (did) => did };

/**
 * Enforces the total limit of definitions. Sizes are kept in memory, because a sum over the table would read all of it
 * each time a labeler writes its record.
 */
export class DefinitionSpace {
  readonly #maxBytes: number;
  readonly #table: DefinitionTable;
  readonly #used = new Map<string, Used>();
  /** Bytes of all labelers' definitions, or null until they are read. */
  #total: number | null = null;

  constructor(table: DefinitionTable, maxBytes: number) {
    this.#table = table;
    this.#maxBytes = maxBytes;
  }

  /** Removes revisions beyond the limit. Must be called in the transaction that adds a revision of a labeler. */
  trim(did: string, { isProtected, groupOf }: DefinitionShares = equalShares): void {
    this.#load();
    const own = this.#table.sizesOf(did);
    this.#set(did, { bytes: own.reduce((sum, bytes) => sum + bytes, 0), newest: own[0] ?? 0 });
    this.#removeFromLargest((_, { bytes, newest }) => bytes - newest, groupOf);
    this.#removeFromLargest((one, { bytes }) => (isProtected(one) ? 0 : bytes), groupOf);
    this.#removeFromLargest((_, { bytes }) => bytes, groupOf);
  }

  /** Discards the sizes in memory, so that they are read again. Must be called after a rollback. */
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
   * Removes revisions of the largest share of the largest group until the total is within the limit or no candidate
   * remains.
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
