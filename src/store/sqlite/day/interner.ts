import type Database from 'better-sqlite3';
import { StoreError } from '../../errors.ts';
import type { Sqlite } from '../base/connection.ts';
import type { Intern, NameTable } from '../base/row.ts';

type Statement = Database.Statement<[string], number>;

/**
 * Returns a function that returns the numeric id of a text in a day's file, and adds the text if it is new, in the
 * caller's transaction. The caller must clear the cache `names` if the transaction fails.
 */
export function internerOf(db: Sqlite, names: RememberedNames): Intern {
  const statements = new Map<NameTable, { find: Statement; insert: Statement }>();
  for (const table of ['source', 'val', 'collection'] as const) {
    statements.set(table, {
      find: db.prepare<[string], number>(`SELECT id FROM ${table} WHERE name = ?`).pluck(),
      insert: db.prepare<[string], number>(`INSERT INTO ${table}(name) VALUES (?) RETURNING id`).pluck(),
    });
  }
  return (table, name) => {
    const known = names.get(table, name);
    if (known !== undefined) return known;
    const { find, insert } = statements.get(table) ?? {};
    const id = find?.get(name) ?? insert?.get(name);
    if (id === undefined) throw new StoreError('damaged', `${db.name}: the table ${table} assigned no id`);
    names.set(table, name, id);
    return id;
  };
}

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
