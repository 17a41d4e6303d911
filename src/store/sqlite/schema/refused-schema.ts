import type { RefusedRows, RefusedRowsChange } from '../../refused-rows.ts';
import type { Sqlite } from '../base/connection.ts';
import { schemaVersion } from '../base/migrate.ts';
import type { DayFile } from './day-file.ts';

/**
 * Schema of the refused rows of an open day. Earlier versions stored them as positions with the endpoints `refused/0`
 * to `refused/f`. A new day takes over the refused rows of the previous day, and only the refused rows of the newest
 * day are used. Sealed days therefore contain no refused rows.
 */

/** First schema version of an open day with the table `refused_rows`. */
const refusedRowsFrom = 4;

const isEarlier = "endpoint GLOB 'refused/[0-9a-f]'";

/** SQL that selects the refused rows of a file without the table. */
const earlierRefusedRows = `SELECT source, instr('0123456789abcdef', substr(endpoint, 9)) - 1 AS bucket,
  value AS rows FROM position WHERE ${isEarlier}`;

/** SQL that creates the table `refused_rows` and moves the refused rows into it. */
export const refusedRowsTable = `CREATE TABLE refused_rows(source TEXT NOT NULL, bucket INTEGER NOT NULL, rows TEXT NOT NULL,
  PRIMARY KEY(source, bucket)) WITHOUT ROWID;
INSERT INTO refused_rows(source, bucket, rows) ${earlierRefusedRows};
DELETE FROM position WHERE ${isEarlier};`;

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
