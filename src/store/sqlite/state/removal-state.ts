import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import type { StoredGap } from '../../port.ts';
import type { SpaceRemoval } from '../../removals.ts';
import { micros } from '../../time.ts';
import { type Sqlite, schemaVersion } from '../base/connection.ts';
import { stateSince } from '../schema/state-schema.ts';

/** Creates the functions that record removals of rows in the state file. Each call is one durable commit. */
export function removalChanges(db: Sqlite, recordGap: (gap: StoredGap) => void) {
  return { ...purgeChanges(db, recordGap), ...spaceRemovalChanges(db) };
}

/** One step of a removal, which processes one day. */
export interface RemovalStep {
  readonly day: number;
  /** First incomplete day after this step. It may be before `day`, if that earlier day could not be changed. */
  readonly nextDay: number;
}

/** Maximum number of stored purge requests. A request is removed once the floor is after its completion. */
const maxPurges = 20_000;

interface PurgeRequest {
  readonly source: string;
  readonly at: Micros;
  readonly last: Micros | null;
}

function purgeChanges(db: Sqlite, recordGap: (gap: StoredGap) => void) {
  const floorOf = db.prepare<[], Micros>('SELECT floor FROM epoch').pluck();
  const raiseRevision = db.prepare('UPDATE epoch SET revision = revision + 1');
  const endReads = db.prepare('UPDATE epoch SET revision = max(revision, ?) + 1');
  const known = db.prepare<[string], Micros>('SELECT requested_at FROM purge WHERE source = ?').pluck();
  const count = db.prepare<[], number>('SELECT count(*) FROM purge').pluck();
  const request = db.prepare(
    `INSERT INTO purge(source, requested_at, removed, next_day) VALUES (?, ?, 0, 0)
     ON CONFLICT(source) DO UPDATE SET requested_at = excluded.requested_at, completed_at = NULL, next_day = 0`,
  );
  const beginDay = db.prepare('UPDATE purge SET at_day = ? WHERE source = ?');
  const addRemoved = db.prepare('UPDATE purge SET removed = removed + ? WHERE source = ?');
  const reviseDay = db.prepare('UPDATE day SET revision = revision + 1 WHERE day = ?');
  const endDay = db.prepare('UPDATE purge SET next_day = ?, at_day = NULL, removed = removed + ? WHERE source = ?');
  const suspendDay = db.prepare('UPDATE purge SET at_day = NULL WHERE source = ?');
  const complete = db.prepare('UPDATE purge SET completed_at = ? WHERE source = ?');

  return {
    /** Invalidates all earlier reads, including reads of a later revision that was lost. */
    endReads: (revision: number): void => void endReads.run(revision),
    /** Requests a purge; see `PurgeWriter`. `last` is the stamp of the last row in the store, or null if it has no row. */
    requestPurge: db.transaction(({ source, at, last }: PurgeRequest): boolean => {
      const floor = floorOf.get() ?? micros(0);
      const before = known.get(source);
      if (at <= floor || (before !== undefined && before >= at)) return false;
      if (before === undefined && (count.get() ?? 0) >= maxPurges) {
        throw new StoreError('invalid_query', `a store holds at most ${maxPurges} purge requests`);
      }
      request.run(source, at);
      raiseRevision.run();
      recordGap({ source, start: floor, end: micros(Math.max(at, (last ?? 0) + 1)), reason: 'maintenance' });
      return true;
    }),
    /**
     * Starts the purge of a day: invalidates all earlier reads, and marks the day for recovery after a crash.
     */
    beginPurgeDay: db.transaction((source: string, day: number): void => {
      beginDay.run(day, source);
      raiseRevision.run();
    }),
    /**
     * Records progress between two commits to an open day: counts the removed rows, and invalidates all earlier reads.
     */
    continuePurgeDay: db.transaction((source: string, removed: number): void => {
      addRemoved.run(removed, source);
      raiseRevision.run();
    }),
    /** Completes the purge of a day: makes readers reopen the file, and invalidates all earlier reads. */
    endPurgeDay: db.transaction((source: string, { day, nextDay }: RemovalStep, removed: number): void => {
      reviseDay.run(day);
      raiseRevision.run();
      endDay.run(nextDay, removed, source);
    }),
    /** Records that a day contains no rows of the source. */
    skipPurgeDay: (source: string, nextDay: number): void => void endDay.run(nextDay, 0, source),
    /** Records that the day that was started is unchanged. A later attempt starts the day again. */
    suspendPurgeDay: (source: string): void => void suspendDay.run(source),
    completePurge: (source: string, at: Micros): void => void complete.run(at, source),
  };
}

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
    if (row === null && schemaVersion(db) >= stateSince.spaceRemoval) row = prepare();
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

function spaceRemovalChanges(db: Sqlite) {
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
