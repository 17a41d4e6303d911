import type { Micros } from '../../../contract/timestamp.ts';
import { bounded } from '../../common/definition-space.ts';
import { StoreError } from '../../errors.ts';
import type { Epoch } from '../../port.ts';
import type { Purge } from '../../removals.ts';
import { type DailyBytes, type DirectoryPosition, maxDefinitionsInAll, maxNoteLength } from '../../roster.ts';
import type { Sqlite } from '../base/connection.ts';
import { schemaVersion } from '../base/migrate.ts';
import { purgeVersion } from '../schema/state-schema.ts';
import { gapChanges, gapQueries } from './gap-state.ts';
import { definitionChanges, keyChanges, labelerQueries } from './labeler-state.ts';
import { purgeChanges, spaceRemovalChanges, spaceRemovalQueries } from './removal-state.ts';
import { rosterChanges, rosterQuery } from './roster-state.ts';

/** Floor and list of the days that a reader may open. */
export interface Catalog {
  readonly floor: Micros;
  /**
   * Days, oldest first. `revision` increases when a purge changes or replaces a day's file, which invalidates earlier
   * reads of that day.
   */
  readonly days: readonly { readonly day: number; readonly sealed: number; readonly revision: number }[];
}

/** A requested purge as a row of the table. */
export interface PurgeRow {
  readonly source: string;
  readonly requestedAt: Micros;
  readonly completedAt: Micros | null;
  readonly removed: number;
  /** First day that the purge has not completed. */
  readonly nextDay: number;
  /** Day that the purge is changing, or was changing when the writer ended; otherwise null. */
  readonly atDay: number | null;
}

/** Creates the functions that query the state file. The caller owns the connection. */
export function stateQueries(db: Sqlite) {
  const epochRow = db.prepare<[], { generation: string; started_at: Micros; floor: Micros; heartbeat: Micros | null }>(
    'SELECT generation, started_at, floor, heartbeat FROM epoch',
  );
  const days = db.prepare<[], { day: number; sealed: number }>('SELECT day, sealed FROM day ORDER BY day');
  const removals = removalQueries(db);

  function singleton() {
    const row = epochRow.get();
    if (!row) throw new StoreError('damaged', `${db.name} has no epoch`);
    return row;
  }

  return {
    ...gapQueries(db),
    ...labelerQueries(db),
    ...spaceRemovalQueries(db),
    roster: rosterQuery(db),
    note: noteQuery(db),
    hasEpoch: (): boolean => epochRow.get() !== undefined,
    epoch(): Epoch {
      const row = singleton();
      return { generationId: row.generation, startedAt: row.started_at };
    },
    generation: (): string => singleton().generation,
    floor: (): Micros => singleton().floor,
    heartbeat: (): Micros | null => singleton().heartbeat,
    catalog: db.transaction((): Catalog => {
      const revised = removals();
      const all = revised ? revised.days.all() : days.all().map((row) => ({ ...row, revision: 0 }));
      return { floor: singleton().floor, days: all };
    }),
    revision: (): number => removals()?.revision.get() ?? 0,
    purgeRows: (): PurgeRow[] => removals()?.purges.all() ?? [],
    purges: db.transaction((): Purge[] => {
      const rows = removals()?.purges.all() ?? [];
      const all = rows.length === 0 ? [] : days.all();
      return rows.map(({ source, requestedAt, completedAt, removed, nextDay }) => {
        const daysLeft = completedAt === null ? all.filter(({ day }) => day >= nextDay).length : 0;
        return { source, requestedAt, completedAt, rows: removed, daysLeft };
      });
    }),
  };
}

/**
 * Returns a function that prepares the queries of the tables for removals, or returns null while the file does not have
 * these tables. A reader may have opened the file before its writer migrated it.
 */
function removalQueries(db: Sqlite) {
  const prepare = () => ({
    revision: db.prepare<[], number>('SELECT revision FROM epoch').pluck(),
    days: db.prepare<[], Catalog['days'][number]>('SELECT day, sealed, revision FROM day ORDER BY day'),
    purges: db.prepare<[], PurgeRow>(
      `SELECT source, requested_at AS requestedAt, completed_at AS completedAt, removed, next_day AS nextDay,
       at_day AS atDay FROM purge ORDER BY requested_at, source`,
    ),
  });
  let prepared: ReturnType<typeof prepare> | null = null;
  return () => {
    if (prepared === null && schemaVersion(db) >= purgeVersion) prepared = prepare();
    return prepared;
  };
}

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

/** Returns a function that reads a note; it returns null if the note does not exist. */
export function noteQuery(db: Sqlite): (name: string) => string | null {
  const note = db.prepare<[string], string>('SELECT content FROM note WHERE name = ?').pluck();
  return (name) => note.get(name) ?? null;
}

/**
 * Creates the functions that query and change data that only the instrument reads, when it starts. Each change is one
 * durable commit.
 */
export function instrumentState(db: Sqlite) {
  const putNote = db.prepare(
    'INSERT INTO note(name, content) VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET content = excluded.content',
  );
  const deleteNote = db.prepare('DELETE FROM note WHERE name = ?');
  const bytesOf = db.prepare<[number], { source: string; bytes: number }>(
    'SELECT source, bytes FROM daily_bytes WHERE day = ?',
  );
  const putBytes = db.prepare(
    `INSERT INTO daily_bytes(source, day, bytes) VALUES (?, ?, ?)
     ON CONFLICT(source) DO UPDATE SET day = excluded.day, bytes = excluded.bytes
     WHERE day <> excluded.day OR bytes <> excluded.bytes`,
  );
  const dropOtherDays = db.prepare('DELETE FROM daily_bytes WHERE day <> ?');
  const seqOf = db.prepare<[string], number>('SELECT seq FROM directory_position WHERE host = ?').pluck();
  const putSeq = db.prepare(
    'INSERT INTO directory_position(host, seq) VALUES (?, ?) ON CONFLICT(host) DO UPDATE SET seq = excluded.seq',
  );
  const dropOtherHosts = db.prepare('DELETE FROM directory_position WHERE host <> ?');
  return {
    putNote(name: string, text: string | null): void {
      if (text === null) deleteNote.run(name);
      else putNote.run(name, bounded(text, maxNoteLength, 'note'));
    },
    dailyBytes: (day: number): DailyBytes => ({
      day,
      bytes: new Map(bytesOf.all(day).map(({ source, bytes }) => [source, bytes])),
    }),
    putDailyBytes: db.transaction(({ day, bytes }: DailyBytes): void => {
      dropOtherDays.run(day);
      for (const [source, count] of bytes) putBytes.run(source, day, count);
    }),
    directoryPosition: (host: string): number | null => seqOf.get(host) ?? null,
    putDirectoryPosition: db.transaction(({ host, seq }: DirectoryPosition): void => {
      dropOtherHosts.run(host);
      putSeq.run(host, seq);
    }),
  };
}
