import type { Micros } from '../../../contract/timestamp.ts';
import { maxDefinitionsInAll } from '../../roster.ts';
import type { Sqlite } from '../base/connection.ts';
import { gapChanges } from './gap-state.ts';
import { instrumentState } from './instrument-state.ts';
import { definitionChanges, keyChanges } from './labeler-state.ts';
import { purgeChanges } from './purge-state.ts';
import { rosterChanges } from './roster-state.ts';
import { spaceRemovalChanges } from './space-state.ts';
import { stateQueries } from './state-read.ts';

/**
 * Creates the functions that query and change the state file. Each change is one durable commit. The caller owns the
 * connection.
 */
export function stateChanges(db: Sqlite, definitionsInAll = maxDefinitionsInAll) {
  const gaps = gapChanges(db);
  const beat = db.prepare('UPDATE epoch SET heartbeat = MAX(COALESCE(heartbeat, 0), ?)');
  return {
    ...stateQueries(db),
    ...gaps,
    ...purgeChanges(db, gaps.recordGap),
    ...spaceRemovalChanges(db),
    ...rosterChanges(db),
    ...keyChanges(db),
    ...definitionChanges(db, definitionsInAll),
    ...instrumentState(db),
    ...dayChanges(db),
    beat: (at: Micros): void => void beat.run(at),
  };
}

/** Creates the functions that change the list of days. */
function dayChanges(db: Sqlite) {
  const addDay = db.prepare(
    'INSERT INTO day(day, sealed) VALUES (?, ?) ON CONFLICT(day) DO UPDATE SET sealed = excluded.sealed',
  );
  const forgetDay = db.prepare('DELETE FROM day WHERE day = ?');
  const removeDays = db.prepare('DELETE FROM day WHERE day < ?');
  const raiseFloor = db.prepare('UPDATE epoch SET floor = MAX(floor, ?)');
  const dropGaps = db.prepare('DELETE FROM gap WHERE ended <= ?');
  const dropPurges = db.prepare('DELETE FROM purge WHERE completed_at <= ?');
  return {
    /** Adds a day to the list, or updates its form. Must be called before the first commit to a new day. */
    addDay: (day: number, sealed: boolean): void => void addDay.run(day, sealed ? 1 : 0),
    /** Removes from the list a day whose file is lost. */
    forgetDay: (day: number): void => void forgetDay.run(day),
    /**
     * Raises the floor. Removes the days below the floor from the list, and the gaps and purges that ended before the
     * floor. Must be called before the files of these days are removed, so that a dropped day never counts as empty for
     * a reader.
     */
    dropDaysBefore: db.transaction((day: number, floor: Micros): void => {
      raiseFloor.run(floor);
      removeDays.run(day);
      dropGaps.run(floor);
      dropPurges.run(floor);
    }),
  };
}

/** All functions that query and change the state file. */
export type StateChanges = ReturnType<typeof stateChanges>;
