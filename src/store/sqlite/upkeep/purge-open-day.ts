import { minute } from '../../time.ts';
import { openWritable, type Sqlite, setPragma } from '../base/connection.ts';
import { storeError } from '../base/store-error.ts';
import {
  changeOpenDay,
  type OpenDayOptions,
  type RemovedRow,
  removedColumns,
  rowRemoval,
  rowsAtOnce,
} from './row-removal.ts';

/**
 * Maximum number of minutes with rows of the source that are read per commit. Reading a minute scans the rows of all
 * sources.
 */
const minutesAtOnce = 30;
/** Number of minutes per day. */
const perDay = 1_440;
const cacheBytes = 8 * 1024 * 1024;
/**
 * Removes a source's rows from an open day over a separate connection. The source's name, and values without other
 * rows, stay in the file until the day is sealed, because a reader may have cached their numeric ids.
 */
export class OpenDayPurge {
  readonly #db: Sqlite;
  readonly #path: string;
  readonly #day: number;
  readonly #options: OpenDayOptions;
  /** Numeric id of the source in this file, or undefined if the file does not contain the source. */
  readonly #source: number | undefined;
  readonly #removeRows: (rows: readonly RemovedRow[]) => void;
  /** Next minute of the day to process. */
  #minute = 0;
  /** First stamp in this minute that is not processed. */
  #from = 0;

  constructor(path: string, day: number, source: string, options: OpenDayOptions) {
    this.#path = path;
    this.#day = day;
    this.#options = options;
    this.#db = openWritable(path, cacheBytes, options.durable);
    try {
      setPragma(this.#db, 'secure_delete', 1);
      this.#source = this.#db.prepare<[string], number>('SELECT id FROM source WHERE name = ?').pluck().get(source);
      this.#removeRows = rowRemoval(this.#db, options.faults);
    } catch (error) {
      this.#db.close();
      throw storeError(error, path);
    }
  }

  /** Returns true if the file contains rows or refusals of the purged source. */
  holdsAny(): boolean {
    if (this.#source === undefined) return false;
    const any = this.#db
      .prepare<[number, number], 1>(
        `SELECT 1 WHERE EXISTS (SELECT 1 FROM counter_hour WHERE source = ?)
         OR EXISTS (SELECT 1 FROM refusal WHERE source = ?)`,
      )
      .pluck();
    return any.get(this.#source, this.#source) !== undefined;
  }

  /** Removes the next rows in one durable commit. Returns their identities, or an empty list if no rows remain. */
  removeSome(): readonly Buffer[] {
    const rows = this.#nextRows();
    if (rows.length === 0) return [];
    changeOpenDay(this.#db, this.#path, this.#options, () => this.#removeRows(rows));
    return rows.map(({ identity }) => identity);
  }

  /** Removes the refusals of the source. */
  removeRest(): void {
    const refusals = this.#db.prepare('DELETE FROM refusal WHERE source = ?');
    changeOpenDay(this.#db, this.#path, this.#options, () => refusals.run(this.#source ?? null));
  }

  close(): void {
    this.#db.close();
  }

  /**
   * Returns the next rows of the source in order of acceptance. The minute counters show which minutes have such
   * rows.
   */
  #nextRows(): RemovedRow[] {
    const counted = this.#db
      .prepare<[number, number], 1>('SELECT 1 FROM counter_minute WHERE minute = ? AND source = ?')
      .pluck();
    const read = this.#db.prepare<[number, number, number, number], RemovedRow>(
      `SELECT ${removedColumns} FROM observation WHERE id >= ? AND id < ? AND source = ? ORDER BY id LIMIT ?`,
    );
    const rows: RemovedRow[] = [];
    const enough = (looked: number): boolean =>
      rows.length >= rowsAtOnce || (looked >= minutesAtOnce && rows.length > 0);
    for (let looked = 0; this.#minute < perDay && !enough(looked); ) {
      const at = this.#day * perDay + this.#minute;
      const left = rowsAtOnce - rows.length;
      let found: RemovedRow[] = [];
      if (counted.get(at, this.#source ?? -1) !== undefined) {
        looked += 1;
        found = read.all(Math.max(at * minute, this.#from), (at + 1) * minute, this.#source ?? -1, left);
        rows.push(...found);
      }
      if (found.length === left) this.#from = (rows.at(-1)?.id ?? 0) + 1;
      else this.#minute += 1;
    }
    return rows;
  }
}
