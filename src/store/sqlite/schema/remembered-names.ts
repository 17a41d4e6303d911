import type { NameTable } from '../base/row.ts';

/** Maximum number of cached texts. Above this number, the cache is emptied. */
const maxRemembered = 100_000;
/** Maximum memory of the cache, in bytes. Above this size, the cache is emptied. */
const maxRememberedBytes = 16 * 1024 * 1024;
/** Estimated memory per entry without its text, in bytes. */
const entryBytes = 64;

/** Cache of the numeric ids of texts in a day's file, bounded in entries and memory. */
export class RememberedNames {
  readonly #names = new Map<string, number>();
  #bytes = 0;

  get(table: NameTable, name: string): number | undefined {
    return this.#names.get(keyOf(table, name));
  }

  set(table: NameTable, name: string, id: number): void {
    const key = keyOf(table, name);
    // Assume the maximum of two bytes per character. A text with only Latin-1 characters takes one byte per
    // character.
    const bytes = 2 * key.length + entryBytes;
    if (this.#names.size >= maxRemembered || this.#bytes + bytes > maxRememberedBytes) this.clear();
    this.#names.set(key, id);
    this.#bytes += bytes;
  }

  clear(): void {
    this.#names.clear();
    this.#bytes = 0;
  }

  /** Upper bound of the memory in use, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }
}

function keyOf(table: NameTable, name: string): string {
  return `${table} ${name}`;
}
