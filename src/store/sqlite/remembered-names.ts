import type { NameTable } from './row.ts';

/** Texts remembered with their numbers, and their bytes in all; beyond either they are looked up again. */
const maxRemembered = 100_000;
const maxRememberedBytes = 16 * 1024 * 1024;
/** Memory of an entry besides its text. */
const entryBytes = 64;

/** The numbers of texts that a day's file was given or asked for, within bounds of count and memory. */
export class RememberedNames {
  readonly #names = new Map<string, number>();
  #bytes = 0;

  get(table: NameTable, name: string): number | undefined {
    return this.#names.get(keyOf(table, name));
  }

  set(table: NameTable, name: string, id: number): void {
    const key = keyOf(table, name);
    // Of texts beyond Latin-1 each character takes two.
    const bytes = 2 * key.length + entryBytes;
    if (this.#names.size >= maxRemembered || this.#bytes + bytes > maxRememberedBytes) this.clear();
    this.#names.set(key, id);
    this.#bytes += bytes;
  }

  clear(): void {
    this.#names.clear();
    this.#bytes = 0;
  }

  /** Bytes that are held, at most. */
  get bytes(): number {
    return this.#bytes;
  }
}

function keyOf(table: NameTable, name: string): string {
  return `${table} ${name}`;
}
