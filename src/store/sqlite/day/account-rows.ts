import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { targetKinds } from '../../../contract/vocabulary.ts';
import { StoreError } from '../../errors.ts';
import { postCollection } from '../../label.ts';
import type { AccountFilter, AccountQuery } from '../../port.ts';
import type { Sqlite } from '../base/connection.ts';
import { type NameTable, removalFlag, rowColumns, type StoredRow, type SubjectKey, sameKey } from '../base/row.ts';
import { CheckedBlocks, smallestKey } from '../blocks/blocks.ts';
import type { Cell } from '../blocks/group-sums.ts';
import { packedRowSql } from '../hot/hot-counts.ts';
import { type DayFile, targetSql, targetSqlOf } from '../schema/day-schema.ts';

/** Range of an account's rows: `start <= id < end`, at most `limit` rows. */
export interface RowRange {
  readonly key: SubjectKey;
  readonly start: number;
  readonly end: number;
  readonly limit: number;
}

/** Rows and fields that a read of an account selects; see `AccountQuery`. */
export type RowChoice = Pick<AccountQuery, 'order' | 'filter' | 'withoutBytes'>;

/**
 * Reads an account's rows of one day. In a file with checksums, reads block by block and verifies each block before
 * use.
 */
export class AccountRows {
  readonly #file: DayFile;
  readonly #names: Names;
  /** Blocks that contain the rows, or null if the file has no checksums. */
  readonly #blocks: CheckedBlocks | null;
  readonly #columns: string;
  #target: string | null = null;

  constructor(file: DayFile, names: Names, day: number, kind: 'open' | 'checked' | 'unchecked') {
    this.#file = file;
    this.#names = names;
    this.#blocks = kind === 'checked' ? new CheckedBlocks(file, day, 'observation') : null;
    this.#columns = kind === 'open' ? `${rowColumns}, identity` : rowColumns;
  }

  /**
   * Returns the rows that match the filter, in the requested order. Rows of an open day have the identity as an
   * additional column. An open day has no blocks, so only the columns of such a day can be left out.
   */
  rows(range: RowRange, { order, filter = {}, withoutBytes = false }: RowChoice): StoredRow[] {
    const { sql, parameters } = filterSql(
      filter,
      (table, text) => this.#names.numberOf(table, text),
      this.#targetSql(),
    );
    const columns = withoutBytes && !this.#blocks ? this.#columns.replace('sig, extra', 'NULL, NULL') : this.#columns;
    return this.#select<StoredRow>(columns, range, order, sql, parameters);
  }

  /** Returns each row of a range as one number (see `packedRowSql`), oldest first. */
  packed(range: RowRange): number[] {
    return this.#select<[number]>(packedRowSql(this.#targetSql()), range, 'oldest').map(([packed]) => packed);
  }

  /** Returns the stamps of the rows of a range, oldest first. */
  stamps(range: RowRange): number[] {
    return this.#select<[number]>('id', range, 'oldest').map(([id]) => id);
  }

  #select<Row extends readonly Cell[]>(
    columns: string,
    { key, start, end, limit }: RowRange,
    order: AccountQuery['order'],
    filter = '',
    parameters: readonly (number | null)[] = [],
  ): Row[] {
    const matching = `subject = ? AND id >= ? AND id < ?${filter}`;
    if (!this.#blocks) {
      const direction = order === 'oldest' ? 'ASC' : 'DESC';
      const sql = `SELECT ${columns} FROM observation WHERE ${matching} ORDER BY id ${direction} LIMIT ?`;
      return this.#file.all<Row>(sql, [key, start, end, ...parameters, limit]);
    }
    if (start >= end) return [];
    // The inner query has the order and the limit; the outer query preserves the order.
    const sql = `SELECT ${columns} FROM ${this.#blocks.within()} WHERE ${matching}`;
    const found: Row[] = [];
    for (const block of this.#blocks.covering([key, start], [key, end - 1], order)) {
      const compared = this.#blocks.compare<StoredRow>(block);
      const isPlain = columns === rowColumns && filter === '';
      // If a block begins or ends with rows of the account, most of its rows belong to the account. Reading the whole
      // block is then as fast as filtering in SQL.
      const isOwn = sameKey(block.first[0], key) || (block.next !== null && sameKey(block.next[0], key));
      const whole = isPlain ? (compared ?? (isOwn ? this.#blocks.readAgain<StoredRow>(block) : null)) : null;
      const rows = whole
        ? (whole.filter((row) => isWithin(row, key, start, end)) as unknown as Row[])
        : this.#file.all<Row>(sql, [...this.#blocks.place(block), key, start, end, ...parameters]);
      for (const row of order === 'oldest' ? rows : rows.reverse()) {
        if (found.length === limit) return found;
        found.push(row);
      }
    }
    return found;
  }

  #targetSql(): string {
    if (!this.#blocks) return targetSql;
    this.#target ??= targetSqlOf(String(this.#names.numberOf('collection', postCollection)));
    return this.#target;
  }
}

function isWithin([id, subject]: StoredRow, key: SubjectKey, start: number, end: number): boolean {
  return id >= start && id < end && sameKey(subject, key);
}

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

/**
 * Returns the SQL conditions of a filter and their parameters. `numberOf` looks up the numeric id of a text in the
 * file.
 */
function filterSql(
  { labeler, value, removed, target }: AccountFilter,
  numberOf: (table: 'source' | 'val', text: string) => number | null,
  targetIn: string,
): { readonly sql: string; readonly parameters: readonly (number | null)[] } {
  let sql = '';
  const parameters: (number | null)[] = [];
  if (labeler !== undefined) {
    sql += ' AND source = ?';
    parameters.push(numberOf('source', labeler));
  }
  if (value !== undefined) {
    sql += ' AND val = ?';
    parameters.push(numberOf('val', value));
  }
  if (removed !== undefined) sql += ` AND flags & ${removalFlag} ${removed ? '<>' : '='} 0`;
  if (target !== undefined) sql += ` AND ${targetIn} = ${targetKinds.indexOf(target)}`;
  return { sql, parameters };
}

/**
 * Bloom filter of the subjects that have rows in a sealed day. The filter is divided into blocks, each stored as one
 * row of a table. A query reads at most one small block and keeps nothing in memory. The filter avoids most reads,
 * because most accounts have rows on only a few days of a window.
 */

/** Number of bits per subject. About one look-up in a hundred for an absent subject is a false positive. */
const bitsEach = 10;
/** Number of bits that a look-up tests. */
const looks = 7;
/** Number of bits per block. */
const blockBits = 2_048;
const crcBytes = 4;

/** Returns the number of blocks that a number of subjects requires. */
function blocksFor(subjects: number): number {
  return Math.max(1, Math.ceil((subjects * bitsEach) / blockBits));
}

/**
 * Returns the blocks of a filter for `count` subjects. Each block ends with its checksum. With `placed`, the checksum
 * also covers the index of the block.
 */
export function filterBlocks(subjects: Iterable<SubjectKey>, count: number, placed: boolean): Buffer[] {
  const blocks = Array.from({ length: blocksFor(count) }, () => Buffer.alloc(blockBits / 8 + crcBytes));
  for (const subject of subjects) {
    const { block, bits } = placesOf(subject, blocks.length);
    const of = blocks[block];
    if (of) for (const bit of bits) of[bit >>> 3] = (of[bit >>> 3] ?? 0) | (1 << (bit & 7));
  }
  for (const [i, block] of blocks.entries()) {
    block.writeUInt32LE(crc32(block.subarray(0, -crcBytes), placed ? seedOf(i, blocks.length) : 0), blockBits / 8);
  }
  return blocks;
}

function seedOf(block: number, blocks: number): number {
  return crc32(`${block} of ${blocks}`);
}

/** Subject filter of a sealed day, as stored in its file. */
interface KeptFilter {
  readonly path: string;
  /** True if the checksum of a block also covers its index. */
  readonly placed: boolean;
  /** Number of blocks of the filter. */
  readonly count: number;
  /** Returns one block of the filter, or undefined if it does not exist. */
  readonly read: (block: number) => Buffer | undefined;
}

/**
 * Returns false if the day certainly has no row of the subject. Throws `damaged` if the block's checksum does not
 * match, because a cleared bit would hide rows.
 */
export function mayHold(subject: SubjectKey, { path, placed, count, read }: KeptFilter): boolean {
  const { block, bits } = placesOf(subject, count);
  const of = read(block);
  const seed = placed ? seedOf(block, count) : 0;
  if (
    of?.length !== blockBits / 8 + crcBytes ||
    crc32(of.subarray(0, -crcBytes), seed) !== of.readUInt32LE(blockBits / 8)
  ) {
    throw new StoreError(
      'damaged',
      `${path}: block ${block} of ${count} of the subject filter does not match its checksum`,
    );
  }
  return bits.every((bit) => ((of[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0);
}

/** SQL that selects every distinct subject of a day. */
export const subjectsSql = 'SELECT DISTINCT subject FROM main.observation';

/** Computes and stores the subject filter of a complete sealed day. */
export function keepFilter(db: Sqlite): void {
  const count = db.prepare<[], number>(`SELECT count(*) FROM (${subjectsSql})`).pluck().get() ?? 0;
  const blocks = filterBlocks(db.prepare<[], SubjectKey>(subjectsSql).pluck().iterate(), count, true);
  const insert = db.prepare('INSERT INTO main.subject_filter(block, bits) VALUES (?, ?)');
  db.transaction(() => {
    for (const [block, bits] of blocks.entries()) insert.run(block, bits);
  })();
}

function placesOf(subject: SubjectKey, blocks: number): { readonly block: number; readonly bits: readonly number[] } {
  const digest = hash('sha1', subject, 'buffer');
  const [first, step] = [digest.readUInt32LE(4), digest.readUInt32LE(8) | 1];
  const bits = Array.from({ length: looks }, (_, look) => (first + look * step) & (blockBits - 1));
  return { block: digest.readUInt32LE(0) % blocks, bits };
}
