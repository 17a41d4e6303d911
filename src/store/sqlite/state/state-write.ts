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

/** Creates the changes of the state file, each of which is one durable commit; the caller owns the connection. */
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

/** Creates the changes of the list of days. */
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
    /** Adds a day to the list before the first commit of its rows. */
    addDay: (day: number, sealed: boolean): void => void addDay.run(day, sealed ? 1 : 0),
    /** Removes a day with a lost file from the list. */
    forgetDay: (day: number): void => void forgetDay.run(day),
    /**
     * Raises the floor before any file below it is removed, so that for a reader a dropped day never counts as empty.
     */
    dropDaysBefore: db.transaction((day: number, floor: Micros): void => {
      raiseFloor.run(floor);
      removeDays.run(day);
      dropGaps.run(floor);
      dropPurges.run(floor);
    }),
  };
}

/** All changes of the state file. */
export type StateChanges = ReturnType<typeof stateChanges>;
