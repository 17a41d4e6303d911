import type { Micros } from '../../../contract/timestamp.ts';
import type { SpaceRemoval } from '../../removals.ts';
import type { Sqlite } from '../base/connection.ts';
import { schemaVersion } from '../base/migrate.ts';
import { spaceRemovalVersion } from '../schema/state-schema.ts';

/** Progress of the removal of rows about spaces, as a row of the table. */
export interface SpaceRow {
  /** First day that the removal has not completed. Some later days may already be completed. */
  readonly nextDay: number;
  /** Day that the removal is changing, or was changing when the writer ended; otherwise null. */
  readonly atDay: number | null;
  /**
   * Number of rows that had been removed from `atDay` before this removal, so that the removed rows are counted
   * correctly after a crash.
   */
  readonly atRows: number | null;
  readonly removed: number;
  readonly completedAt: Micros | null;
}

/**
 * Creates the functions that query the removal of rows about spaces. A reader may have opened the file before its
 * migration.
 */
export function spaceRemovalQueries(db: Sqlite) {
  const floorOf = db.prepare<[], Micros>('SELECT floor FROM epoch').pluck();
  const prepare = () =>
    db.prepare<[], SpaceRow>(
      `SELECT next_day AS nextDay, at_day AS atDay, at_rows AS atRows, removed, completed_at AS completedAt
       FROM space_removal`,
    );
  let row: ReturnType<typeof prepare> | null = null;
  /** Returns the progress of the removal, or null if the store needs no removal or is not migrated yet. */
  const spaceRow = (): SpaceRow | null => {
    if (row === null && schemaVersion(db) >= spaceRemovalVersion) row = prepare();
    return row?.get() ?? null;
  };
  return {
    spaceRow,
    spaceRemoval(): SpaceRemoval | null {
      const found = spaceRow();
      if (found === null || found.removed === 0) return null;
      const { removed: rows, completedAt } = found;
      return completedAt !== null && completedAt <= (floorOf.get() ?? 0) ? null : { rows, completedAt };
    },
  };
}

/** Creates the functions that record the removal in the state file. Each call is one durable commit. */
export function spaceRemovalChanges(db: Sqlite) {
  const raiseRevision = db.prepare('UPDATE epoch SET revision = revision + 1');
  const reviseDay = db.prepare('UPDATE day SET revision = revision + 1 WHERE day = ?');
  const beginDay = db.prepare('UPDATE space_removal SET at_day = ?, at_rows = ?');
  const endDay = db.prepare(
    'UPDATE space_removal SET next_day = ?, at_day = NULL, at_rows = NULL, removed = removed + ?',
  );
  const suspendDay = db.prepare('UPDATE space_removal SET at_day = NULL, at_rows = NULL, removed = removed + ?');
  const complete = db.prepare('UPDATE space_removal SET completed_at = ?');
  return {
    /** Starts the removal of rows from a day: invalidates all earlier reads. */
    beginSpaceDay: db.transaction((day: number, rows: number): void => {
      beginDay.run(day, rows);
      raiseRevision.run();
    }),
    /** Records a commit of the removal to an open day: invalidates all earlier reads. */
    continueSpaceDay: (): void => void raiseRevision.run(),
    /** Completes the removal of rows from a day: makes readers reopen the file, and invalidates all earlier reads. */
    endSpaceDay: db.transaction((day: number, removed: number, nextDay: number): void => {
      reviseDay.run(day);
      raiseRevision.run();
      endDay.run(nextDay, removed);
    }),
    /** Records that the next day contains no rows to remove. */
    skipSpaceDay: (nextDay: number): void => void endDay.run(nextDay, 0),
    /**
     * Suspends the removal of rows from a day after `removed` rows were removed. A later attempt starts the day
     * again.
     */
    suspendSpaceDay: db.transaction((day: number, removed: number): void => {
      reviseDay.run(day);
      raiseRevision.run();
      suspendDay.run(removed);
    }),
    completeSpaceRemoval: (at: Micros): void => void complete.run(at),
  };
}
