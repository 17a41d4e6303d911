import { closeSync, openSync, readSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { StoreError } from '../../errors.ts';
import { postCollection, type RefusedRows, type RefusedRowsChange } from '../../label.ts';
import { type Migration, type Sqlite, schemaVersion, storeError } from '../base/connection.ts';
import { recordBits, removalFlag } from '../base/row.ts';

const isEarlier = "endpoint GLOB 'refused/[0-9a-f]'";

/** SQL that selects the refused rows of a file without the table. */
const earlierRefusedRows = `SELECT source, instr('0123456789abcdef', substr(endpoint, 9)) - 1 AS bucket,
  value AS rows FROM position WHERE ${isEarlier}`;

/** SQL that creates the table `refused_rows` and moves the refused rows into it. */
const refusedRowsTable = `CREATE TABLE refused_rows(source TEXT NOT NULL, bucket INTEGER NOT NULL, rows TEXT NOT NULL,
  PRIMARY KEY(source, bucket)) WITHOUT ROWID;
INSERT INTO refused_rows(source, bucket, rows) ${earlierRefusedRows};
DELETE FROM position WHERE ${isEarlier};`;

/**
 * Schema of a day's file, which contains all data of one day: rows, counters, refusals, and the positions as of its
 * last commit. Open and sealed days have these differences:
 * - open: `observation` is in order of acceptance, with the identity of each row and an index by subject; `busy` counts
 *   all rows of the subjects for which the writer counted `hotRows` (`hot/hot-counts.ts`), which may not be all hot
 *   subjects; `refused_rows` contains the refused rows that the instrument remembers;
 * - sealed: `observation` is clustered by (subject, id), so that an account's rows are adjacent. It has no identities,
 *   because a day is sealed only when it can no longer receive duplicates. `counter_minute.stamps` contains the
 *   acceptance times of the rows, `busy_groups` counts the rows of every subject with at least `hotRows` rows, and
 *   `subject_filter` rules out subjects without rows. `block` has checksums of the rows and of the texts in blocks
 *   (`blocks.ts`), and `group_sum` has checksums of all other data that is served (`group-sums.ts`).
 *
 * `counter_labeler` counts each labeler's rows by verdict, by value and by delay (`labeler/stored-counters.ts`), from
 * the stamp `counted_from` onwards, or all rows if `counted_from` is absent.
 *
 * `observation.id` is `observedAt`. `subject` is 15 bytes for a did:plc, and the text of any other DID. `cts` is in
 * milliseconds if the exact text can be restored from them; otherwise it is NULL and `cts_text` contains the text.
 */
const columns = `
  source INTEGER NOT NULL,
  val INTEGER NOT NULL,
  collection INTEGER,
  rest TEXT,
  flags INTEGER NOT NULL,
  ver INTEGER,
  cts INTEGER,
  cts_text TEXT,
  cid BLOB,
  exp TEXT,
  sig BLOB,
  extra BLOB`;

const shared = `
CREATE TABLE source(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE val(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE collection(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE counter_minute(minute INTEGER NOT NULL, source INTEGER NOT NULL, applied INTEGER NOT NULL,
  removed INTEGER NOT NULL, stamps BLOB, PRIMARY KEY(minute, source)) WITHOUT ROWID;
CREATE TABLE counter_hour(hour INTEGER NOT NULL, source INTEGER NOT NULL, applied INTEGER NOT NULL,
  removed INTEGER NOT NULL, PRIMARY KEY(hour, source)) WITHOUT ROWID;
CREATE TABLE refusal(hour INTEGER NOT NULL, source INTEGER NOT NULL, reason TEXT NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY(hour, source, reason)) WITHOUT ROWID;
CREATE TABLE position(source TEXT NOT NULL, endpoint TEXT NOT NULL, value TEXT NOT NULL, accepted_at INTEGER NOT NULL,
  PRIMARY KEY(source, endpoint)) WITHOUT ROWID;
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
`;

const countsTable = `CREATE TABLE busy(subject NOT NULL, source INTEGER NOT NULL, val INTEGER NOT NULL,
target INTEGER NOT NULL, applied INTEGER NOT NULL, removed INTEGER NOT NULL,
PRIMARY KEY(subject, source, val, target)) WITHOUT ROWID;`;

const labelersTable = 'CREATE TABLE counter_labeler(source INTEGER PRIMARY KEY, packed BLOB NOT NULL);';

/** Schema migrations of an open day. */
export const openDayMigrations: readonly Migration[] = [
  {
    version: 1,
    name: 'a day of observations',
    sql: `CREATE TABLE observation(id INTEGER PRIMARY KEY, subject NOT NULL, ${columns}, identity BLOB NOT NULL);
CREATE INDEX observation_subject ON observation(subject);${shared}`,
  },
  {
    version: 2,
    // The index contains all columns by which an account's rows are counted and filtered, so that these queries need
    // not read the rows, which are spread over the file.
    name: 'subject index with the counted and filtered columns',
    sql: `DROP INDEX observation_subject;
CREATE INDEX observation_subject ON observation(subject, id, source, val, collection, flags);`,
  },
  { version: 3, name: 'counts of subjects with many rows', sql: countsTable },
  { version: 4, name: 'separate table for refused rows', sql: refusedRowsTable },
  {
    version: 5,
    // Rows of earlier versions do not state whether they were live, so counting starts after the last such row.
    name: 'counters per labeler',
    sql: `${labelersTable}
INSERT INTO meta(name, value) SELECT 'counted_from', id + 1 FROM observation ORDER BY id DESC LIMIT 1;`,
  },
];

/** Schema migrations of a sealed day. */
export const sealedDayMigrations: readonly Migration[] = [
  {
    version: 1,
    name: 'a sealed day of observations',
    sql: `CREATE TABLE observation(subject NOT NULL, id INTEGER NOT NULL, ${columns},
PRIMARY KEY(subject, id)) WITHOUT ROWID;${shared}`,
  },
  {
    version: 2,
    name: 'counts of subjects with many rows',
    sql: countsTable,
  },
  {
    version: 3,
    name: 'filter for subjects without rows',
    sql: 'CREATE TABLE subject_filter(block INTEGER PRIMARY KEY, bits BLOB NOT NULL);',
  },
  {
    version: 4,
    name: 'counts of each subject in one row',
    // The table has a separate index: if it were clustered by subject, a search would read the counts of every subject
    // that it passes.
    sql: `DROP TABLE busy;
CREATE TABLE busy_groups(id INTEGER PRIMARY KEY, subject NOT NULL UNIQUE, packed BLOB NOT NULL);`,
  },
  {
    version: 5,
    // Starting with this version, the checksums in `busy_groups` and `subject_filter` also cover the subject or the
    // block index.
    name: 'checksums of the served data',
    sql: `CREATE TABLE block(part TEXT NOT NULL, subject NOT NULL, id INTEGER NOT NULL, "index" INTEGER NOT NULL,
  rows INTEGER NOT NULL, sum BLOB NOT NULL, edge BLOB NOT NULL, PRIMARY KEY(part, subject, id)) WITHOUT ROWID;
CREATE TABLE group_sum(part TEXT NOT NULL, key INTEGER NOT NULL, sum BLOB NOT NULL, PRIMARY KEY(part, key)) WITHOUT ROWID;`,
  },
  { version: 6, name: 'counters per labeler', sql: labelersTable },
];

/** First schema version with counters per labeler, for each form of a day. */
export const labelersCountedFrom = { open: 5, sealed: 6 } as const;

/** First schema version of a sealed day with checksums. */
export const checkedFrom = 5;

/** Offset of `user_version` in a SQLite file (SQLite file format, section 1.3). */
const versionAt = 60;

/** Returns true if a sealed day has checksums, according to the schema version in the header of its file. */
export function hasChecksums(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(4);
    return readSync(file, bytes, 0, 4, versionAt) === 4 && bytes.readUInt32BE() >= checkedFrom;
  } finally {
    closeSync(file);
  }
}

/** Minimum number of a subject's rows on one day for which the file stores counts of the subject. */
export const hotRows = 64;
/** Names of the entries in the table `meta`. */
export const metaNames = {
  last: 'last',
  through: 'observed_through',
  /** Value of `last` that was carried over from the previous day when this day was created. */
  carriedLast: 'carried_last',
  /** Value of `observed_through` that was carried over from the previous day when this day was created. */
  carriedThrough: 'carried_through',
  generation: 'generation',
  rows: 'rows',
  /** Number of purged rows, or 1 in a copied day whose last row was purged; absent if no row was purged. */
  purged: 'purged',
  /** First stamp that the per-labeler counters include; absent if they include all rows of the day. */
  countedFrom: 'counted_from',
} as const;

/** SQL expression for the numeric id of the post collection in the queried file; NULL if the file has no posts. */
const posts = `(SELECT id FROM main.collection WHERE name = '${postCollection}')`;

/**
 * Returns the SQL expression for a row's target, as its index in `targetKinds`. `posts` is the SQL expression for the
 * numeric id of the post collection.
 */
export function targetSqlOf(posts: string): string {
  return `CASE WHEN flags & ${recordBits} = 0 THEN 0 WHEN collection = ${posts} THEN 1 ELSE 2 END`;
}

/** SQL expression for a row's target; looks up the post collection in the file. */
export const targetSql = targetSqlOf(posts);

/** SQL expressions for the numbers of applications and removals in a group of rows. */
export const countsSql = `sum(flags & ${removalFlag} = 0), sum(flags & ${removalFlag} <> 0)`;

/** First segment of the path of an address inside a space, `at://DID/space/…`. */
const segment = 'space';

/**
 * Returns an SQL condition for rows about an address inside a space. `schema` is the name of the database that
 * contains the row. The address `at://DID/space/NAME` is stored like a record address, with the collection `space`.
 * All longer and shorter addresses are stored as text.
 */
export function aboutSpaceSql(schema: 'main' | 'day'): string {
  const collection = `(SELECT id FROM ${schema}.collection WHERE name = '${segment}')`;
  return `(collection IS NOT NULL AND collection IS ${collection}
    OR collection IS NULL AND rest IS NOT NULL AND (rest = '/${segment}' OR substr(rest, 1, 7) = '/${segment}/'))`;
}

/**
 * Schema of the refused rows of an open day. Earlier versions stored them as positions with the endpoints `refused/0`
 * to `refused/f`. A new day takes over the refused rows of the previous day, and only the refused rows of the newest
 * day are used. Sealed days therefore contain no refused rows.
 */

/** First schema version of an open day with the table `refused_rows`. */
const refusedRowsFrom = 4;

/** Returns true if the endpoint of a position shows that an earlier version stored refused rows in that position. */
export function isEarlierRefusedRows(endpoint: string): boolean {
  return /^refused\/[0-9a-f]$/.test(endpoint);
}

/**
 * Returns the refused rows of an open day as of its last commit. In a file that no writer has migrated yet, they are
 * stored as positions.
 */
export function refusedRowsIn(file: DayFile): RefusedRows[] {
  const table = schemaVersion(file.db) >= refusedRowsFrom ? 'refused_rows' : `(${earlierRefusedRows})`;
  const rows = file.all<[string, number, string]>(`SELECT source, bucket, rows FROM ${table} ORDER BY 1, 2`, []);
  return rows.map(([source, bucket, packed]) => ({ source, bucket, rows: packed }));
}

/** Returns a function that stores changes to refused rows, in the caller's transaction. */
export function refusedRowsWriter(db: Sqlite): (changes: readonly RefusedRowsChange[]) => void {
  const put = db.prepare(
    `INSERT INTO refused_rows(source, bucket, rows) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET rows = excluded.rows`,
  );
  const remove = db.prepare('DELETE FROM refused_rows WHERE source = ? AND bucket = ?');
  return (changes) => {
    for (const { source, bucket, rows } of changes) {
      if (rows === null) remove.run(source, bucket);
      else put.run(source, bucket, rows);
    }
  };
}

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
