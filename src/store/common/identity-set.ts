import { hour } from '../time.ts';

/**
 * Time span of one table, in microseconds: 6 h. A longer span would keep identities longer; a shorter one would require
 * searching more tables for each label.
 */
const spanOfTable = 6 * hour;
/** Number of 32-bit words per slot: one identity of 16 bytes. */
const wordsPerSlot = 4;
/** Maximum load factor of a table. A fuller table is resized. */
const fullest = 0.7;
/** Initial number of slots of a table. */
const firstSlots = 1 << 12;

/**
 * Set of the identities of the last two days, in memory: 16 bytes each in open-addressed tables, one per six hours of
 * the observed clock. When a new table begins, each table whose identities are all older than the horizon is dropped.
 * An identity is therefore kept for at least the horizon and, while identities are added continuously, less than twelve
 * hours longer.
 */
export class IdentitySet {
  readonly #horizon: number;
  #tables: Table[] = [];

  constructor(horizon: number) {
    this.#horizon = horizon;
  }

  /** Number of identities in the set. */
  get size(): number {
    return this.#tables.reduce((sum, table) => sum + table.size, 0);
  }

  /** Returns true if the set contains the identity. */
  has(identity: Buffer): boolean {
    const words = wordsOf(identity);
    return this.#tables.some((table) => table.has(words));
  }

  /**
   * Adds an identity with its acceptance time in microseconds. Times must not decrease by more than the span of a
   * table.
   */
  add(identity: Buffer, at: number): void {
    const span = Math.floor(at / spanOfTable);
    let table = this.#tables.find((candidate) => candidate.span === span);
    if (!table) {
      const oldest = Math.floor((at - this.#horizon) / spanOfTable);
      this.#tables = this.#tables.filter((candidate) => candidate.span >= oldest);
      table = new Table(span);
      // The newest table comes first, because most duplicates are found in it.
      this.#tables.unshift(table);
    }
    table.add(wordsOf(identity));
  }

  /** Deletes an identity; has no effect if the set does not contain it. */
  delete(identity: Buffer): void {
    const words = wordsOf(identity);
    for (const table of this.#tables) table.delete(words);
  }
}

/** Identities of the rows for which a store detects duplicates, up to a given stamp. */
export interface KnownIdentities {
  readonly identities: IdentitySet;
  /** Stamp up to which all rows are included. */
  readonly through: number;
}

class Table {
  readonly span: number;
  size = 0;
  #slots = firstSlots;
  #words = new Int32Array(firstSlots * wordsPerSlot);

  constructor(span: number) {
    this.span = span;
  }

  has([a, b, c, d]: Words): boolean {
    return this.#words[this.#find(a, b, c, d)] !== 0;
  }

  add([a, b, c, d]: Words): void {
    if (this.size >= this.#slots * fullest) this.#grow();
    const at = this.#find(a, b, c, d);
    if (this.#words[at] !== 0) return;
    this.#put(at, a, b, c, d);
    this.size += 1;
  }

  delete([a, b, c, d]: Words): void {
    const words = this.#words;
    let hole = this.#find(a, b, c, d);
    if (words[hole] === 0) return;
    this.size -= 1;
    // Move entries that the deleted entry displaced closer to their own slots. Otherwise a search would stop at the
    // empty slot and miss them.
    const length = words.length;
    for (let at = (hole + wordsPerSlot) % length; words[at] !== 0; at = (at + wordsPerSlot) % length) {
      const home = (((words[at + 1] ?? 0) >>> 0) & (this.#slots - 1)) * wordsPerSlot;
      const fromHome = (at - home + length) % length;
      const fromHole = (at - hole + length) % length;
      if (fromHome < fromHole) continue;
      words.copyWithin(hole, at, at + wordsPerSlot);
      hole = at;
    }
    words.fill(0, hole, hole + wordsPerSlot);
  }

  /** Returns the index of the identity, or of the empty slot into which it would be inserted. */
  #find(a: number, b: number, c: number, d: number): number {
    const words = this.#words;
    const mask = this.#slots - 1;
    let slot = (b >>> 0) & mask;
    for (;;) {
      const at = slot * wordsPerSlot;
      if (words[at] === 0) return at;
      if (words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d) return at;
      slot = (slot + 1) & mask;
    }
  }

  #put(at: number, a: number, b: number, c: number, d: number): void {
    this.#words[at] = a;
    this.#words[at + 1] = b;
    this.#words[at + 2] = c;
    this.#words[at + 3] = d;
  }

  #grow(): void {
    const old = this.#words;
    this.#slots *= 2;
    this.#words = new Int32Array(this.#slots * wordsPerSlot);
    for (let at = 0; at < old.length; at += wordsPerSlot) {
      const [a, b, c, d] = [old[at] ?? 0, old[at + 1] ?? 0, old[at + 2] ?? 0, old[at + 3] ?? 0];
      if (a !== 0) this.#put(this.#find(a, b, c, d), a, b, c, d);
    }
  }
}

type Words = readonly [number, number, number, number];

/** Returns the identity as four words. The first word is never 0, because 0 marks an empty slot. */
function wordsOf(identity: Buffer): Words {
  const first = identity.readInt32LE(0);
  return [first === 0 ? 1 : first, identity.readInt32LE(4), identity.readInt32LE(8), identity.readInt32LE(12)];
}
