import Database from 'better-sqlite3';
import { systemCode } from '../../../ops/errors.ts';
import { StoreError } from '../../errors.ts';
import { lockWaitMs, type Sqlite } from '../base/connection.ts';
import { storeError } from '../base/store-error.ts';
import { metaNames } from './day-schema.ts';

/**
 * Content of a file that is named like a day file:
 *
 * - `day`: a day of the store with this generation;
 * - `unfinished`: a new day whose creation was interrupted, without any rows;
 * - `foreign`: a database of another application;
 * - `unreadable`: a file that is not a database, a damaged database, or a database with rows but no generation.
 */
export type DayContent =
  | { readonly kind: 'day'; readonly generation: string }
  | { readonly kind: 'unfinished' | 'foreign' }
  | { readonly kind: 'unreadable'; readonly why: string };

/**
 * Determines the kind of a file that is named like a day file from its content. With `mayWrite`, also rolls back an
 * unfinished transaction.
 */
export function dayContent(path: string, mayWrite: boolean): DayContent {
  try {
    return look(path, true);
  } catch (error) {
    // A rollback journal exists only until the first change to a new file, which enables the write-ahead log.
    const isHot = mayWrite && systemCode(error) === 'SQLITE_READONLY_ROLLBACK';
    try {
      if (isHot) return look(path, false);
    } catch (second) {
      return unreadable(second, path);
    }
    return unreadable(error, path);
  }
}

function look(path: string, readonly: boolean): DayContent {
  const db = new Database(path, { readonly, fileMustExist: true, timeout: lockWaitMs });
  try {
    const tables = new Set(db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all());
    if (tables.size === 0) return { kind: 'unfinished' };
    if (!tables.has('meta') || !tables.has('observation')) return { kind: 'foreign' };
    const generation = db.prepare<[string], unknown>('SELECT value FROM meta WHERE name = ?').pluck();
    const found = generation.get(metaNames.generation);
    if (typeof found === 'string') return { kind: 'day', generation: found };
    return isEmpty(db) ? { kind: 'unfinished' } : { kind: 'unreadable', why: 'the file has rows but no generation' };
  } finally {
    db.close();
  }
}

function isEmpty(db: Sqlite): boolean {
  const anyRow = 'SELECT 1 FROM observation UNION ALL SELECT 1 FROM refusal UNION ALL SELECT 1 FROM position LIMIT 1';
  return db.prepare(anyRow).get() === undefined;
}

function unreadable(error: unknown, path: string): DayContent {
  const known = storeError(error, path);
  if (known instanceof StoreError && known.code === 'damaged') return { kind: 'unreadable', why: known.message };
  throw known;
}
