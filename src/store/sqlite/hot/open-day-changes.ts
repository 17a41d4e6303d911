import type { Sqlite } from '../base/connection.ts';
import type { SubjectKey } from '../base/row.ts';
import { countsSql, targetSql } from '../schema/row-sql.ts';

/** Counts to subtract from one group of a subject. */
export interface RemovedCounts {
  readonly subject: SubjectKey;
  readonly source: number;
  readonly val: number;
  readonly target: number;
  readonly applied: number;
  readonly removed: number;
}

/**
 * Returns a function that subtracts removed rows from the stored counts of an open day, in the caller's transaction.
 * The function has no effect on a file of an earlier version, which stores no counts.
 */
export function openDaySubtraction(db: Sqlite): (counts: RemovedCounts) => void {
  const isStored = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'busy'").get() !== undefined;
  if (!isStored) return () => undefined;
  const group = 'subject = ? AND source = ? AND val = ? AND target = ?';
  const subtract = db.prepare(`UPDATE busy SET applied = applied - ?, removed = removed - ? WHERE ${group}`);
  const dropEmpty = db.prepare(`DELETE FROM busy WHERE ${group} AND applied = 0 AND removed = 0`);
  return ({ subject, source, val, target, applied, removed }) => {
    subtract.run(applied, removed, subject, source, val, target);
    dropEmpty.run(subject, source, val, target);
  };
}

/**
 * Recomputes the stored counts of an open day for the subjects that already have stored counts, in the caller's
 * transaction. Other hot subjects may get counts when their next rows are added.
 */
export function recountOpenDay(db: Sqlite): void {
  db.exec(`
    CREATE TEMP TABLE kept AS SELECT DISTINCT subject FROM busy;
    DELETE FROM busy;
    INSERT INTO busy SELECT subject, source, val, ${targetSql} AS target, ${countsSql} FROM observation
      WHERE subject IN (SELECT subject FROM kept) GROUP BY subject, source, val, target;
    DROP TABLE kept;`);
}
