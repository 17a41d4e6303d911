import { dayStart } from '../../time.ts';
import { openWritable, type Sqlite, setPragma } from '../base/connection.ts';
import { storeError } from '../base/store-error.ts';
import { metaNames } from '../schema/day-schema.ts';
import { aboutSpaceSql } from '../schema/space-sql.ts';
import {
  changeOpenDay,
  type OpenDayOptions,
  type RemovedRow,
  removedColumns,
  rowRemoval,
  rowsAtOnce,
} from './row-removal.ts';

/** Maximum number of rows that are read per turn of the event loop. */
const readAtOnce = 20_000;
const cacheBytes = 8 * 1024 * 1024;

/** Removes the rows about spaces from an open day over a separate connection. */
export class OpenDaySpaces {
  readonly #db: Sqlite;
  readonly #path: string;
  readonly #options: OpenDayOptions;
  readonly #removeRows: (rows: readonly RemovedRow[]) => void;
  /** First stamp that was not read yet. */
  #from: number;

  constructor(path: string, day: number, options: OpenDayOptions) {
    this.#path = path;
    this.#options = options;
    this.#from = dayStart(day);
    this.#db = openWritable(path, cacheBytes, options.durable);
    try {
      setPragma(this.#db, 'secure_delete', 1);
      this.#removeRows = rowRemoval(this.#db, options.faults);
    } catch (error) {
      this.#db.close();
      throw storeError(error, path);
    }
  }

  /** Returns the number of rows that were ever removed from the day. */
  purged(): number {
    return (
      this.#db.prepare<[string], number>('SELECT value FROM meta WHERE name = ?').pluck().get(metaNames.purged) ?? 0
    );
  }

  /** Reads the next rows and returns the rows about spaces, or null after the last row of the day. */
  next(): readonly RemovedRow[] | null {
    const last = this.#db
      .prepare<[number, number], number | null>(
        'SELECT max(id) FROM (SELECT id FROM observation WHERE id >= ? ORDER BY id LIMIT ?)',
      )
      .pluck()
      .get(this.#from, readAtOnce);
    if (last === null || last === undefined) return null;
    const found = this.#db
      .prepare<[number, number, number], RemovedRow>(
        `SELECT ${removedColumns} FROM observation WHERE id >= ? AND id <= ? AND ${aboutSpaceSql('main')}
         ORDER BY id LIMIT ?`,
      )
      .all(this.#from, last, rowsAtOnce);
    this.#from = (found.length === rowsAtOnce ? (found.at(-1)?.id ?? last) : last) + 1;
    return found;
  }

  /** Removes rows in one durable commit. */
  remove(rows: readonly RemovedRow[]): void {
    changeOpenDay(this.#db, this.#path, this.#options, () => this.#removeRows(rows));
  }

  close(): void {
    this.#db.close();
  }
}
