import type { Micros } from '../../contract/timestamp.ts';
import { labelBytes } from '../../store/label.ts';
import type { NewObservation } from '../../store/port.ts';

/** Bounds of the rows that a standby keeps. */
export interface BufferLimits {
  readonly rows: number;
  readonly bytes: number;
  /** Maximum age of a row, in microseconds. */
  readonly age: number;
}

/** Default bounds: the labels of half an hour at today's rate of the whole network, several times over. */
export const defaultBufferLimits: BufferLimits = { rows: 200_000, bytes: 64 * 1024 * 1024, age: 3_600_000_000 };

/** Fixed memory of a kept row besides its fields, in bytes. */
const rowOverheadBytes = 200;

/** A kept row, and the time of its acceptance by the standby. */
export interface KeptRow {
  readonly observation: NewObservation;
  readonly acceptedAt: Micros;
}

/** Rows that a standby accepted and the store does not contain yet, oldest first, within bounds. */
export class RowBuffer {
  readonly #limits: BufferLimits;
  readonly #rows = new Map<string, KeptRow>();
  #bytes = 0;

  constructor(limits = defaultBufferLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#rows.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Time of the acceptance of the oldest row, or null without a row. */
  get oldest(): Micros | null {
    return this.#first()?.[1].acceptedAt ?? null;
  }

  has(identity: string): boolean {
    return this.#rows.has(identity);
  }

  add(identity: string, row: KeptRow): void {
    this.#bytes += bytesOf(row);
    this.#rows.set(identity, row);
  }

  /** Removes a row that the store contains. */
  delete(identity: string): void {
    const row = this.#rows.get(identity);
    if (row === undefined) return;
    this.#bytes -= bytesOf(row);
    this.#rows.delete(identity);
  }

  /** Removes and returns the oldest rows beyond the bounds. */
  trim(now: Micros): KeptRow[] {
    const dropped: KeptRow[] = [];
    for (;;) {
      const [identity, row] = this.#first() ?? [];
      if (identity === undefined || row === undefined) return dropped;
      const { rows, bytes, age } = this.#limits;
      if (this.#rows.size <= rows && this.#bytes <= bytes && now - row.acceptedAt <= age) return dropped;
      this.delete(identity);
      dropped.push(row);
    }
  }

  /** Removes and returns all rows, oldest first. */
  drain(): KeptRow[] {
    const rows = [...this.#rows.values()];
    this.#rows.clear();
    this.#bytes = 0;
    return rows;
  }

  #first(): [string, KeptRow] | undefined {
    return this.#rows.entries().next().value;
  }
}

function bytesOf({ observation }: KeptRow): number {
  return labelBytes(observation.label) + rowOverheadBytes;
}
