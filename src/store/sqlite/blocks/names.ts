import { StoreError } from '../../errors.ts';
import type { NameTable } from '../base/row.ts';
import type { DayFile } from '../schema/day-file.ts';
import { smallestKey } from './blocks.ts';
import { CheckedBlocks } from './checked-blocks.ts';

/** Number of texts per table that are read when a file is opened. A typical day has fewer texts. */
const namesAtOnce = 1_000;
/** Maximum number of cached texts per table of a file. */
const maxNames = 10_000;

/** Maximum number of requested texts that are looked up one by one. */
const fewNames = 200;

const tables = ['source', 'val', 'collection'] as const;

/** Texts of one day's file and their numeric ids. Texts are verified if the file has checksums. */
export class Names {
  readonly #file: DayFile;
  readonly #texts: Readonly<Record<NameTable, Map<number, string>>> = {
    source: new Map(),
    val: new Map(),
    collection: new Map(),
  };
  /** Blocks of each table of texts, or null if the file has no checksums. */
  readonly #blocks: Readonly<Record<NameTable, CheckedBlocks>> | null;

  constructor(file: DayFile, day: number, isChecked: boolean) {
    this.#file = file;
    const blocksOf = (table: NameTable) => new CheckedBlocks(file, day, table);
    this.#blocks = isChecked
      ? { source: blocksOf('source'), val: blocksOf('val'), collection: blocksOf('collection') }
      : null;
    // Read many names in one query: a hot account needs hundreds of names of each day.
    for (const table of tables) this.#readFirst(table);
  }

  /** Returns the text with a numeric id. Throws `damaged` if no text has this id, or if the text fails verification. */
  textOf(table: NameTable, id: number): string {
    const texts = this.#texts[table];
    const known = texts.get(id);
    if (known !== undefined) return known;
    const [row] = this.#file.all<[string]>(`SELECT name FROM ${table} WHERE id = ?`, [id]);
    if (!row || (this.#blocks && this.numberOf(table, row[0]) !== id)) {
      throw new StoreError('damaged', `${this.#file.path}: the table ${table} has no row with the id ${id}`);
    }
    if (texts.size >= maxNames) texts.clear();
    texts.set(id, row[0]);
    return row[0];
  }

  /**
   * Returns the texts with the given ids. For many ids in a file with checksums, reads all blocks once, because looking
   * up each text separately would search for its block each time.
   */
  textsOf(table: NameTable, ids: ReadonlySet<number>): ReadonlyMap<number, string> {
    const found = new Map<number, string>();
    if (this.#blocks && ids.size > fewNames) {
      for (const [name, id] of this.#all(this.#blocks[table])) if (ids.has(id)) found.set(id, name);
    }
    for (const id of ids) if (!found.has(id)) found.set(id, this.textOf(table, id));
    return found;
  }

  /** Returns the numeric id of a text, or null if the file does not contain the text. */
  numberOf(table: NameTable, text: string): number | null {
    if (!this.#blocks) return this.#file.column(`SELECT id FROM ${table} WHERE name = ?`, [text])[0] ?? null;
    const key = [text, 0] as const;
    for (const block of this.#blocks[table].covering(key, key, 'oldest')) {
      const found = this.#blocks[table].read<readonly [string, number]>(block).find(([name]) => name === text);
      if (found) return found[1];
    }
    return null;
  }

  #readFirst(table: NameTable): void {
    const texts = this.#texts[table];
    if (!this.#blocks) {
      const sql = `SELECT id, name FROM ${table} ORDER BY id LIMIT ${namesAtOnce}`;
      for (const [id, name] of this.#file.all<[number, string]>(sql, [])) texts.set(id, name);
      return;
    }
    for (const [name, id] of this.#all(this.#blocks[table])) {
      texts.set(id, name);
      if (texts.size >= namesAtOnce) return;
    }
  }

  /** Yields every text of a table with its id, in text order. */
  *#all(blocks: CheckedBlocks): Generator<readonly [name: string, id: number]> {
    const last = [Buffer.alloc(0), 0] as const;
    for (const block of blocks.covering(smallestKey, last, 'oldest')) {
      yield* blocks.read<readonly [string, number]>(block);
    }
  }
}
