import type { RefusedRows, RefusedRowsChange } from '../../refused-rows.ts';
import type { Sqlite } from '../base/connection.ts';
import { schemaVersion } from '../base/migrate.ts';
import type { DayFile } from '../schema/day-file.ts';
import { earlierRefusedRows, refusedRowsFrom } from '../schema/refused-schema.ts';

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
