import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import { changedGaps, clip, coalesce, everySource, type GapRow, gapOf, gappedTime, gapsWithout } from '../../gaps.ts';
import type { Epoch, GapChange, LabelerCoverage, StoredGap } from '../../port.ts';
import type { Purge } from '../../removals.ts';
import {
  bounded,
  type DailyBytes,
  type DefinitionShares,
  DefinitionSpace,
  type Definitions,
  type DefinitionTable,
  type DirectoryPosition,
  type LabelerKey,
  maxDefinitionsLength,
  rosterLimits,
} from '../../roster.ts';
import type { Interval } from '../../time.ts';
import { type Sqlite, schemaVersion } from '../base/connection.ts';
import { rosterChanges, rosterQuery, stateSince } from '../schema/state-schema.ts';
import { removalChanges, spaceRemovalQueries } from './removal-state.ts';

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
  /** First day that the purge has not completed. Some later days may already be completed. */
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
    if (prepared === null && schemaVersion(db) >= stateSince.purges) prepared = prepare();
    return prepared;
  };
}

/**
 * Creates the functions that query and change the state file. Each change is one durable commit. The caller owns the
 * connection.
 */
export function stateChanges(db: Sqlite, definitionsInAll = rosterLimits.definitionBytes) {
  const gaps = gapChanges(db);
  const definitions = definitionChanges(db, definitionsInAll);
  const beat = db.prepare('UPDATE epoch SET heartbeat = MAX(COALESCE(heartbeat, 0), ?)');
  return {
    ...stateQueries(db),
    ...gaps,
    ...removalChanges(db, gaps.recordGap),
    ...rosterChanges(db, definitions.dropDefinitions),
    ...keyChanges(db),
    ...definitions,
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
      else putNote.run(name, bounded(text, rosterLimits.noteLength, 'note'));
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

/** Creates the functions that query labelers' keys and definitions. */
function labelerQueries(db: Sqlite) {
  const keys = db.prepare<[string], LabelerKey>(
    `SELECT did, label_key AS key, first_seen AS firstSeen, last_seen AS lastSeen FROM label_key WHERE did = ?
     ORDER BY first_seen, label_key`,
  );
  const definitions = db.prepare<[string], Definitions>(
    'SELECT did, seen_at AS seenAt, content FROM definitions WHERE did = ? ORDER BY id DESC',
  );
  return {
    keys: (did: string): LabelerKey[] => keys.all(did),
    definitions: (did: string): Definitions[] => definitions.all(did),
  };
}

/** Creates the function that changes labelers' keys. Each call is one durable commit. */
function keyChanges(db: Sqlite) {
  const put = db.prepare(
    `INSERT INTO label_key(did, label_key, first_seen, last_seen) VALUES (?, ?, ?, ?)
     ON CONFLICT(did, label_key) DO UPDATE SET first_seen = MIN(first_seen, excluded.first_seen),
     last_seen = MAX(last_seen, excluded.last_seen)`,
  );
  const trim = db.prepare(
    `DELETE FROM label_key WHERE did = ? AND label_key NOT IN
     (SELECT label_key FROM label_key WHERE did = ? ORDER BY last_seen DESC, label_key LIMIT ${rosterLimits.keys})`,
  );
  return {
    putKeys: db.transaction((keys: readonly LabelerKey[]): void => {
      for (const { did, key, firstSeen, lastSeen } of keys) {
        bounded(key, rosterLimits.textLength, 'key');
        put.run(did, key, firstSeen, lastSeen);
        trim.run(did, did);
      }
    }),
  };
}

/**
 * Creates the functions that change labelers' definitions. Each call is one durable commit. `maxBytes` limits the total
 * size of all definitions.
 */
function definitionChanges(db: Sqlite, maxBytes: number) {
  const newest = db
    .prepare<[string], string>('SELECT content FROM definitions WHERE did = ? ORDER BY id DESC LIMIT 1')
    .pluck();
  const insert = db.prepare('INSERT INTO definitions(did, seen_at, content) VALUES (?, ?, ?)');
  const trim = db.prepare(
    `DELETE FROM definitions WHERE did = ? AND id NOT IN
     (SELECT id FROM definitions WHERE did = ? ORDER BY id DESC LIMIT ${rosterLimits.revisions})`,
  );
  const drop = db.prepare('DELETE FROM definitions WHERE did = ?');
  const space = new DefinitionSpace(definitionTable(db), maxBytes);
  const add = ({ did, seenAt, content }: Definitions): boolean => {
    bounded(content, maxDefinitionsLength, 'definitions');
    if (newest.get(did) === content) return false;
    insert.run(did, seenAt, content);
    trim.run(did, did);
    return true;
  };
  return {
    putDefinitions: db.transaction((revisions: readonly Definitions[], shares?: DefinitionShares): boolean[] => {
      const added = revisions.map(add);
      space.trim(
        revisions.filter((_, i) => added[i]).map(({ did }) => did),
        shares,
      );
      return added;
    }),
    /** Removes all definitions of a labeler. */
    dropDefinitions(did: string): void {
      drop.run(did);
      space.dropped(did);
    },
    /** Discards the sizes of definitions in memory. Must be called after a change of definitions was rolled back. */
    forgetSizes: (): void => space.forget(),
  };
}

function definitionTable(db: Sqlite): DefinitionTable {
  const sizes = db.prepare<[], { did: string; bytes: number; newest: number }>(
    `SELECT did, SUM(octet_length(content)) AS bytes,
     (SELECT octet_length(content) FROM definitions AS last WHERE last.did = definitions.did ORDER BY id DESC LIMIT 1) AS newest
     FROM definitions GROUP BY did`,
  );
  const sizesOf = db
    .prepare<[string], number>('SELECT octet_length(content) FROM definitions WHERE did = ? ORDER BY id DESC')
    .pluck();
  const dropOldest = db
    .prepare<[string], number>(
      `DELETE FROM definitions WHERE id = (SELECT MIN(id) FROM definitions WHERE did = ?)
       RETURNING octet_length(content)`,
    )
    .pluck();
  return { sizes: () => sizes.all(), sizesOf: (did) => sizesOf.all(did), dropOldest: (did) => dropOldest.get(did) };
}

/** Creates the functions that query gaps. */
function gapQueries(db: Sqlite) {
  const all = db.prepare<[number, number], GapRow>('SELECT * FROM gap WHERE ended > ? AND started < ?');
  const within = db.prepare<[string, number, number], GapRow>(
    'SELECT * FROM gap WHERE source = ? AND started < ? AND ended > ? ORDER BY started',
  );

  /** Returns the gaps of one source. Searches by the key of the table, so that gaps of other sources are not read. */
  function ofSource(source: string | null, interval: Interval): StoredGap[] {
    return clip(within.all(source ?? everySource, interval.end, interval.start).map(gapOf), interval);
  }

  return {
    gaps: (interval: Interval, source?: string): StoredGap[] =>
      source === undefined
        ? coalesce(clip(all.all(interval.start, interval.end).map(gapOf), interval))
        : coalesce([...ofSource(null, interval), ...ofSource(source, interval)]),
    coverage(interval: Interval, labelers: readonly string[]): LabelerCoverage[] {
      const own = ofSource(null, interval);
      return labelers.map((labeler) => {
        const gaps = coalesce([...own, ...ofSource(labeler, interval)]);
        return { labeler, gaps, gapped: gappedTime(gaps) };
      });
    },
  };
}

/** Creates the functions that change gaps. Each call is one durable commit. */
function gapChanges(db: Sqlite) {
  const ofSource = db.prepare<[string], GapRow>('SELECT * FROM gap WHERE source = ? ORDER BY started');
  const insert = db.prepare('INSERT INTO gap(source, started, ended, reason) VALUES (?, ?, ?, ?)');
  const remove = db.prepare('DELETE FROM gap WHERE source = ? AND started = ? AND ended = ? AND reason = ?');

  function change(one: GapChange): void {
    const { gap } = one;
    if (!(gap.start < gap.end)) throw new StoreError('invalid_query', 'a gap must end after it starts');
    const source = gap.source ?? everySource;
    const before = ofSource.all(source).map(gapOf);
    const after = changedGaps(before, one);
    for (const { start, end, reason } of gapsWithout(before, after)) remove.run(source, start, end, reason);
    for (const { start, end, reason } of gapsWithout(after, before)) insert.run(source, start, end, reason);
  }

  return {
    recordGap: db.transaction((gap: StoredGap): void => change({ kind: 'record', gap })),
    withdrawGap: db.transaction((gap: StoredGap): void => change({ kind: 'withdraw', gap })),
    changeGaps: db.transaction((changes: readonly GapChange[]): void => {
      for (const one of changes) change(one);
    }),
  };
}
