import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { makeFolder, OperatorError, systemCode, systemWords } from '../../ops/errors.ts';
import { type SeriesReads, seriesCommit, seriesReads } from './series.ts';
import { type Failover, type SilenceStore, silenceStore } from './silence-store.ts';
import { type Commit, ensureSchema, storeFault } from './store-schema.ts';
import { dayUs } from './window.ts';

/** Name of the store's file in the data directory. */
export const storeFile = 'weather.sqlite';

/** Number of days for which windows are retained, which is the length of the baseline. */
export const keptDays = 45;

/** The store of the weather instrument. Only one process writes the store, and closes it with `close`. */
export interface WindowStore extends SeriesReads, Omit<SilenceStore, 'dropSilences'> {
  /** Returns the failover to this series of a second host, or null if there is none. */
  failover(series: number): Failover | null;
  keepFailover(series: number, failover: Failover | null): void;
  /** Records that the series replaced another one. */
  takeOver(series: number): void;
  /**
   * Adds the results of the readers and stores their positions, in one durable transaction. A repeated commit has no
   * effect. Throws if the commit does not follow the last one. Passes on SQLite's errors (see `storeFault`).
   */
  commit(commit: Commit): void;
  /** Removes windows, spans and silences that are older than `beforeUs`. */
  prune(series: number, beforeUs: number): void;
  /** Tests the store with a small write. Throws the same errors as `commit`. */
  probe(): void;
  close(): void;
}

/** Hooks that inject faults in tests. */
export interface StoreFaults {
  /** Called within the transaction, before it is committed. */
  readonly beforeCommit?: () => void;
}

/**
 * Opens the store of a data directory for exclusive use by this process. Throws OperatorError if the directory cannot
 * be used, another process is writing the store, or the file is damaged.
 */
export function openWindowStore(folder: string, faults: StoreFaults = {}): WindowStore {
  const path = join(folder, storeFile);
  let db: Database | undefined;
  try {
    makeFolder(folder);
    db = new Sqlite(path, { timeout: 0 });
    // The operating system holds the lock until the process ends, even if the process is killed.
    db.pragma('locking_mode = EXCLUSIVE');
    const mode = db.pragma('journal_mode = WAL', { simple: true });
    if (mode !== 'wal')
      throw new OperatorError(
        `the weather store ${path} cannot use a write-ahead log in its directory; choose a directory on a local file system with --data`,
      );
    // Flush every commit to disk: a position must never be durable without its counts, and both must be durable before
    // the artifact reports them.
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    ensureSchema(db, path);
    db.exec('BEGIN IMMEDIATE; COMMIT');
    const sound = db.pragma('quick_check(1)', { simple: true });
    if (sound !== 'ok') throw damaged(path, String(sound));
    return wrap(db, faults);
  } catch (error) {
    db?.close();
    throw openFault(error, path, folder);
  }
}

/** Creates the error for a store whose content differs from what was written. */
export function damaged(path: string, why: string): OperatorError {
  return new OperatorError(
    `the weather store ${path} is damaged (${why}); move it aside to create a new one, or restore a copy`,
  );
}

function openFault(error: unknown, path: string, folder: string): unknown {
  if (error instanceof OperatorError) return error;
  const why = error instanceof Error ? error.message : String(error);
  switch (storeFault(error)) {
    case 'busy':
      return new OperatorError(
        `another almanac weather process writes to ${folder}; stop it, or choose another directory with --data`,
      );
    case 'damaged':
      return damaged(path, why);
    case 'unexpected':
      return new OperatorError(
        `cannot use the weather store ${path}: ${why} (${systemCode(error)}); keep the file, and report this line`,
      );
    case 'full':
      return new OperatorError(`cannot write the weather store ${path}: ${why} (${systemCode(error)})`);
    default:
      return new OperatorError(
        `cannot use the data directory ${folder}: ${systemCode(error) === null ? why : systemWords(error)}`,
      );
  }
}

function wrap(db: Database, { beforeCommit = () => undefined }: StoreFaults): WindowStore {
  const { dropSilences, ...silences } = silenceStore(db);
  return {
    commit: seriesCommit(db, beforeCommit),
    probe: () => {
      db.transaction(() => {
        db.exec("INSERT INTO series (endpoint, revision) VALUES ('', 0); DELETE FROM series WHERE endpoint = ''");
        beforeCommit();
      }).immediate();
    },
    prune: (series, beforeUs) => {
      db.transaction(() => {
        db.prepare<[number, number]>('DELETE FROM window WHERE series = ? AND start_us < ?').run(series, beforeUs);
        db.prepare<[number, number]>('DELETE FROM observed WHERE series = ? AND to_us <= ?').run(series, beforeUs);
        dropSilences(series, beforeUs);
      }).immediate();
    },
    takeOver: (series) => {
      db.prepare<[number]>('UPDATE series SET took_over = 1 WHERE id = ?').run(series);
    },
    close: () => db.close(),
    ...failovers(db),
    ...seriesReads(db),
    ...silences,
  };
}

function failovers(db: Database): Pick<WindowStore, 'failover' | 'keepFailover'> {
  return {
    failover: (series) => {
      const row = db
        .prepare<[number], { since_us: number; trouble_us: number; silent: number; unwell_us: number }>(
          'SELECT * FROM failover WHERE series = ?',
        )
        .get(series);
      if (!row) return null;
      const reason = row.silent === 1 ? 'silent' : 'unobserved';
      return { sinceUs: row.since_us, trouble: { reason, sinceUs: row.trouble_us }, unwellUs: row.unwell_us };
    },
    keepFailover: (series, failover) => {
      if (!failover) {
        db.prepare<[number]>('DELETE FROM failover WHERE series = ?').run(series);
        return;
      }
      const { sinceUs, trouble, unwellUs } = failover;
      const silent = trouble.reason === 'silent' ? 1 : 0;
      db.prepare<number[]>('INSERT OR REPLACE INTO failover VALUES (?, ?, ?, ?, ?)').run(
        ...[series, Math.floor(sinceUs), Math.floor(trouble.sinceUs), silent, Math.floor(unwellUs)],
      );
    },
  };
}

/** Returns the start of the retained history. Earlier minutes are removed. */
export function keptFrom(nowUs: number): number {
  return nowUs - keptDays * dayUs;
}
