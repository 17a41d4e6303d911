import { type Group, targetSql } from './busy.ts';
import { removalFlag, type SubjectKey } from './row.ts';

/**
 * A row's labeler, value, target and action as one number, read several times faster than columns. Exact as long as a
 * day's file names fewer than 2^20 labelers and 2^29 values.
 */
export const packedSql = `source * ${2 ** 32} + val * 8 + (${targetSql}) * 2 + (flags & ${removalFlag} <> 0)`;

/** Rows in numbers, kept apart by what they are. */
export class PackedCounts {
  readonly #counts: Map<number, number>;
  #rows: number;

  /** Begins with what others hold, and leaves them as they are. */
  constructor(from?: PackedCounts) {
    this.#counts = new Map(from ? from.#counts : []);
    this.#rows = from?.rows ?? 0;
  }

  /** Rows that were added. */
  get rows(): number {
    return this.#rows;
  }

  /** Kinds of rows: a measure of its memory. */
  get kinds(): number {
    return this.#counts.size;
  }

  /** Adds rows as `packedSql` gives them. */
  add(packed: readonly number[]): this {
    for (const row of packed) this.#counts.set(row, (this.#counts.get(row) ?? 0) + 1);
    this.#rows += packed.length;
    return this;
  }

  /** The same as groups; a kind that has both actions is two of them. */
  groups(): Group[] {
    return [...this.#counts].map(([row, n]) => {
      const group = Math.floor(row / 2);
      const removed = row % 2 === 1;
      const ids = [Math.floor(group / 2 ** 31), Math.floor(group / 4) % 2 ** 29, group % 4] as const;
      return [...ids, removed ? 0 : n, removed ? n : 0];
    });
  }
}

/** An account's rows of a part of a day in numbers. */
export interface CountedRows {
  readonly counts: PackedCounts;
  /** Rows that had to be read for them. */
  readonly looked: number;
}

/** What was counted of an account in an open day, from its start on. */
interface Tallied {
  readonly counts: PackedCounts;
  /** Every row before this stamp is in it. */
  readonly through: number;
}

/** Accounts whose numbers are kept of one open day. */
const maxAccounts = 64;
/** Fewer rows are counted again as fast. */
const fewestRows = 500;
/** Kinds of rows kept of one account: with `maxAccounts` it bounds the memory. */
const maxKinds = 10_000;

/** Numbers of accounts with many rows in an open day: rows are only ever added behind the newest. */
export class KeptTallies {
  readonly #kept = new Map<string, Tallied>();

  /** What is known of an account up to an instant at most. */
  of(key: SubjectKey, end: number): Tallied | null {
    const known = this.#kept.get(nameOf(key));
    return known && known.through <= end ? known : null;
  }

  keep(key: SubjectKey, tallied: Tallied): void {
    const name = nameOf(key);
    const known = this.#kept.get(name);
    if (tallied.counts.rows < fewestRows || tallied.counts.kinds > maxKinds) return;
    if (known && known.through >= tallied.through) return;
    // Who was counted last is asked for again soonest.
    this.#kept.delete(name);
    if (this.#kept.size >= maxAccounts) this.#kept.delete(this.#kept.keys().next().value ?? '');
    this.#kept.set(name, tallied);
  }
}

/** Bytes and text never share a name. */
function nameOf(key: SubjectKey): string {
  return typeof key === 'string' ? `text ${key}` : `bytes ${key.toString('latin1')}`;
}
