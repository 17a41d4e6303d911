import type { Micros } from '../../contract/timestamp.ts';
import { labelBytes } from '../../store/label.ts';
import type { NewObservation } from '../../store/port.ts';

/** Bounds of the rows that a standby keeps. */
export interface BufferLimits {
  /** Maximum number of rows. */
  readonly rows: number;
  /** Maximum total size of the rows, in bytes. */
  readonly bytes: number;
  /** Maximum age of a row, in microseconds. */
  readonly age: number;
}

/** Default bounds: several times as many labels as the whole network currently emits in half an hour. */
export const defaultBufferLimits: BufferLimits = { rows: 200_000, bytes: 64 * 1024 * 1024, age: 3_600_000_000 };

/** Memory of a kept row in addition to its fields, in bytes. */
const rowOverheadBytes = 200;

/** A kept row, and the time of its acceptance by the standby. */
export interface KeptRow {
  readonly observation: NewObservation;
  readonly acceptedAt: Micros;
  /** Time after which the label was emitted; 0 if it may be older. */
  readonly emittedAfter: Micros;
}

/** Rows of one source, oldest first. */
interface SourceRows {
  readonly rows: Map<string, Held>;
  bytes: number;
}

interface Held {
  readonly row: KeptRow;
  /** Sequence number of the row in the buffer. */
  readonly number: number;
}

/**
 * Rows that a standby accepted and the store does not contain yet, within bounds. All sources share the bounds: when
 * they are exceeded, the source with the largest share loses its oldest rows, so that a labeler that floods the standby
 * displaces no rows of other labelers.
 */
export class RowBuffer {
  readonly #limits: BufferLimits;
  readonly #sources = new Map<string, SourceRows>();
  readonly #sourceOf = new Map<string, string>();
  #bytes = 0;
  #number = 0;

  constructor(limits = defaultBufferLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#sourceOf.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Acceptance time of the oldest row, or null if the buffer is empty. */
  get oldest(): Micros | null {
    let oldest: Micros | null = null;
    for (const { rows } of this.#sources.values()) {
      const at = firstOf(rows)?.[1].row.acceptedAt ?? null;
      if (at !== null && (oldest === null || at < oldest)) oldest = at;
    }
    return oldest;
  }

  has(identity: string): boolean {
    return this.#sourceOf.has(identity);
  }

  /** Adds a row that the buffer does not contain. */
  add(identity: string, row: KeptRow): void {
    const { src } = row.observation.label;
    const own = this.#sources.get(src) ?? { rows: new Map(), bytes: 0 };
    this.#sources.set(src, own);
    this.#sourceOf.set(identity, src);
    this.#number += 1;
    own.rows.set(identity, { row, number: this.#number });
    own.bytes += bytesOf(row);
    this.#bytes += bytesOf(row);
  }

  /** Removes a row that the store contains. */
  delete(identity: string): void {
    const src = this.#sourceOf.get(identity);
    const own = src === undefined ? undefined : this.#sources.get(src);
    const held = own?.rows.get(identity);
    if (src === undefined || own === undefined || held === undefined) return;
    const bytes = bytesOf(held.row);
    own.rows.delete(identity);
    own.bytes -= bytes;
    this.#bytes -= bytes;
    this.#sourceOf.delete(identity);
    if (own.rows.size === 0) this.#sources.delete(src);
  }

  /**
   * Removes and returns the rows that are too old. While the bounds are exceeded, also removes the oldest rows of the
   * sources with the largest shares.
   */
  trim(now: Micros): KeptRow[] {
    const dropped: KeptRow[] = [];
    for (const own of this.#sources.values()) {
      this.#drop(own, dropped, ({ acceptedAt }) => now - acceptedAt > this.#limits.age);
    }
    while (this.#isOver()) {
      const [largest, second] = this.#largest();
      if (largest === null) break;
      // Drop several rows per search, because each search visits all sources and each iteration over a map visits its
      // deleted rows.
      let least = Math.max(1, largest.rows.size >> 6);
      this.#drop(largest, dropped, () => {
        least -= 1;
        return this.#isOver() && (least >= 0 || this.#shareOf(largest) > second);
      });
    }
    return dropped;
  }

  /** Removes and returns all rows, oldest first. */
  drain(): KeptRow[] {
    const all = [...this.#sources.values()].flatMap(({ rows }) => [...rows.values()]);
    this.#sources.clear();
    this.#sourceOf.clear();
    this.#bytes = 0;
    return all.sort((a, b) => a.number - b.number).map(({ row }) => row);
  }

  #isOver(): boolean {
    return this.size > this.#limits.rows || this.#bytes > this.#limits.bytes;
  }

  /** Returns the share of a source: the larger of its fractions of the two bounds. */
  #shareOf({ rows, bytes }: SourceRows): number {
    return Math.max(rows.size / this.#limits.rows, bytes / this.#limits.bytes);
  }

  /** Returns the source with the largest share, and the second-largest share. */
  #largest(): [largest: SourceRows | null, second: number] {
    let largest: SourceRows | null = null;
    let [first, second] = [0, 0];
    for (const own of this.#sources.values()) {
      const share = this.#shareOf(own);
      if (share > first) [largest, first, second] = [own, share, first];
      else if (share > second) second = share;
    }
    return [largest, second];
  }

  /** Removes the oldest rows of a source while `isDue` returns true. */
  #drop({ rows }: SourceRows, dropped: KeptRow[], isDue: (row: KeptRow) => boolean): void {
    for (const [identity, { row }] of rows) {
      if (!isDue(row)) return;
      this.delete(identity);
      dropped.push(row);
    }
  }
}

function firstOf(rows: Map<string, Held>): [string, Held] | undefined {
  return rows.entries().next().value;
}

function bytesOf({ observation }: KeptRow): number {
  return labelBytes(observation.label) + rowOverheadBytes;
}
