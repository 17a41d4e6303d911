import type { Micros } from '../../../contract/timestamp.ts';
import type { SpaceRemoval } from '../../removals.ts';
import type { Sqlite } from '../base/connection.ts';
import { schemaVersion } from '../base/migrate.ts';
import { spaceRemovalVersion } from '../schema/state-schema.ts';

/** The removal of rows about spaces in the form of its row. */
export interface SpaceRow {
  /** First day that the removal has not completed; it may have completed later days. */
  readonly nextDay: number;
  /** Day that the removal is changing, or was changing when the writer ended; null if no day is being changed. */
  readonly atDay: number | null;
  /** Number of rows that had been removed from `atDay` before, so that the count is correct after a crash. */
  readonly atRows: number | null;
  readonly removed: number;
  readonly completedAt: Micros | null;
}

/** Creates the queries of the removal of rows about spaces. A reader may have opened the file before its migration. */
export function spaceRemovalQueries(db: Sqlite) {
  const floorOf = db.prepare<[], Micros>('SELECT floor FROM epoch').pluck();
  const prepare = () =>
    db.prepare<[], SpaceRow>(
      `SELECT next_day AS nextDay, at_day AS atDay, at_rows AS atRows, removed, completed_at AS completedAt
       FROM space_removal`,
    );
  let row: ReturnType<typeof prepare> | null = null;
  /** Returns the removal; null if the store needs none, or no writer has migrated it. */
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

/** Creates the changes of the state file during the removal, each of which is one durable commit. */
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
    /** Begins the change of a day that has rows to remove: invalidates earlier reads of the day. */
    beginSpaceDay: db.transaction((day: number, rows: number): void => {
      beginDay.run(day, rows);
      raiseRevision.run();
    }),
    /** Records that an open day was changed: invalidates earlier reads of the day. */
    continueSpaceDay: (): void => void raiseRevision.run(),
    /** Ends the change of a day: readers reopen the file, and earlier reads of it become invalid. */
    endSpaceDay: db.transaction((day: number, removed: number, nextDay: number): void => {
      reviseDay.run(day);
      raiseRevision.run();
      endDay.run(nextDay, removed);
    }),
    /** Records that the next day has no rows to remove. */
    skipSpaceDay: (nextDay: number): void => void endDay.run(nextDay, 0),
    /** Interrupts the change of a day after the removal of `removed` rows. A later attempt begins it again. */
    suspendSpaceDay: db.transaction((day: number, removed: number): void => {
      reviseDay.run(day);
      raiseRevision.run();
      suspendDay.run(removed);
    }),
    completeSpaceRemoval: (at: Micros): void => void complete.run(at),
  };
}
