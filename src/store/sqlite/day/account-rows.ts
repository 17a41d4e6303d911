import type { AccountQuery } from '../../port.ts';
import { postCollection } from '../../subject.ts';
import { type StoredRow, type SubjectKey, sameKey } from '../base/row.ts';
import type { Cell } from '../blocks/blocks.ts';
import { CheckedBlocks } from '../blocks/checked-blocks.ts';
import type { Names } from '../blocks/names.ts';
import { packedRowSql } from '../hot/hot-counts.ts';
import type { DayFile } from '../schema/day-file.ts';
import { filterSql, rowColumns, targetSql, targetSqlOf } from '../schema/day-schema.ts';

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
