import { statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StoreError } from '../../errors.ts';
import type { Sqlite } from '../base/connection.ts';
import { storeError } from '../base/store-error.ts';

type RawStatement = Database.Statement<unknown[], unknown>;

/** A day's file with its prepared statements. Converts errors to store errors that contain the path of the file. */
export class DayFile {
  readonly path: string;
  readonly db: Sqlite;
  readonly #statements = new Map<string, RawStatement>();

  constructor(db: Sqlite, path: string) {
    this.db = db;
    this.path = path;
  }

  /** Returns the rows of a query, each as an array. */
  all<Row>(sql: string, parameters: readonly unknown[]): Row[] {
    try {
      return this.#statement(sql, 'raw').all(...parameters) as Row[];
    } catch (error) {
      throw dayError(error, this.path);
    }
  }

  /** Returns the single column of a query as numbers. */
  column(sql: string, parameters: readonly unknown[]): number[] {
    try {
      return this.#statement(sql, 'pluck').all(...parameters) as number[];
    } catch (error) {
      throw dayError(error, this.path);
    }
  }

  /** Yields the rows of a query one at a time. The connection cannot run other queries until the last row is read. */
  *iterate<Row>(sql: string, parameters: readonly unknown[]): Generator<Row> {
    try {
      yield* this.db
        .prepare<unknown[], Row>(sql)
        .raw()
        .iterate(...parameters);
    } catch (error) {
      throw dayError(error, this.path);
    }
  }

  #statement(sql: string, form: 'raw' | 'pluck'): RawStatement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.db.prepare<unknown[], unknown>(sql)[form]();
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/**
 * Converts an error of a query. The schema version is checked when a day is opened, so if SQLite does not find a name
 * later, the file is damaged.
 */
function dayError(error: unknown, path: string): unknown {
  const isMissingName = error instanceof Database.SqliteError && /^no such (table|column|index)/.test(error.message);
  return isMissingName
    ? new StoreError('damaged', `${path}: ${error.message}`, { cause: error })
    : storeError(error, path);
}

/**
 * Throws `wal_full` if a commit of up to `most` bytes could make a day's write-ahead log longer than its limit. SQLite
 * restarts the log by itself when no reader uses its end. If the log has become too long, this function restarts it
 * explicitly, which fails only if a stalled reader still uses the log.
 */
export function assertLogRoom(db: Sqlite, path: string, most: number, maxLogBytes: number): void {
  if (logBytes(path) + most <= maxLogBytes) return;
  db.pragma('busy_timeout = 0');
  try {
    db.pragma('wal_checkpoint(TRUNCATE)');
  } catch (error) {
    throw storeError(error, path);
  } finally {
    db.pragma('busy_timeout = 2000');
  }
  const left = logBytes(path);
  if (left + most <= maxLogBytes) return;
  throw new StoreError('wal_full', `a reader is using ${left} bytes of ${path}-wal; stop that reader`);
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
