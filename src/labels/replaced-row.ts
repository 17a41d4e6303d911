import type { StoredGap } from '../store/port.ts';
import { isObject } from './label-fields.ts';
import type { ReaderTools } from './source.ts';

/**
 * The last row that was read is no longer under its number. A labeler that keeps one row for each (src, uri, cid, val)
 * moves a row to a new number when it replaces it, and nothing is lost; in a database that was emptied or put back it is
 * gone, and nobody knows what went with it. Which of the two it was shows once the rows behind it were read.
 */
export class GoneRow {
  readonly #key: string | null;
  readonly #gap: StoredGap | null;

  /** `gap` was recorded when the row was missed; `key` is the key of the row, null where it is not known. */
  constructor(key: string | null, gap: StoredGap | null) {
    this.#key = key;
    this.#gap = gap;
  }

  /** Withdraws the gap if one of the rows replaces the one that is gone; true if so. */
  async isReplacedBy(rows: readonly unknown[], { withdrawGap }: Pick<ReaderTools, 'withdrawGap'>): Promise<boolean> {
    if (this.#key === null || !rows.some((row) => rowKey(row) === this.#key)) return false;
    if (this.#gap) await withdrawGap(this.#gap);
    return true;
  }
}

/** The key under which a labeler replaces rows; null for a value that is not a label. */
export function rowKey(row: unknown): string | null {
  if (!isObject(row)) return null;
  const { src, uri, cid, val } = row;
  const key = [src, uri, cid ?? null, val];
  return key.every((part) => part === null || typeof part === 'string') ? JSON.stringify(key) : null;
}
