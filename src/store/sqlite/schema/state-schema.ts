import type { Micros } from '../../../contract/timestamp.ts';
import { assertRosterBounds, labelerHandle, type RosterRow } from '../../roster.ts';
import { type Migration, type Sqlite, schemaVersion } from '../base/connection.ts';

/**
 * Tables of the roster and of other data that the instrument stores between runs. Up to schema 2, a labeler's data was
 * stored as JSON texts in `roster` and `note`. Only this file handles these texts: for the migration, and for readers
 * of a state file that no writer has migrated yet.
 */

/** First schema version of the state file with separate tables for the roster. */
const rosterFrom = 3;

/** Columns of a labeler in the current table and in the query of the earlier table. */
const labelerColumns = `did, origin, enrolled, endpoint, resolution_status, handle, handle_confirmed, state, state_since,
  first_asked, first_answered, last_answered, failing_since, complete_through, dated, undated`;

const tables = `
CREATE TABLE labeler(did TEXT PRIMARY KEY, origin TEXT NOT NULL, enrolled INTEGER NOT NULL, endpoint TEXT,
  resolution_status TEXT NOT NULL, handle TEXT, handle_confirmed INTEGER NOT NULL, state TEXT NOT NULL,
  state_since INTEGER NOT NULL, first_asked INTEGER, first_answered INTEGER, last_answered INTEGER,
  failing_since INTEGER, complete_through INTEGER, dated INTEGER NOT NULL, undated INTEGER NOT NULL)
  STRICT, WITHOUT ROWID;
CREATE TABLE labeler_provenance(did TEXT NOT NULL, ordinal INTEGER NOT NULL, provenance TEXT NOT NULL,
  PRIMARY KEY(did, ordinal)) STRICT, WITHOUT ROWID;
CREATE TABLE daily_bytes(source TEXT PRIMARY KEY, day INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE directory_position(host TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/**
 * Returns SQL that yields a column if it contains JSON of the given type, and NULL otherwise. `CASE` ensures that
 * `json_type` is evaluated only for valid JSON.
 */
const jsonOf = (column: string, type: 'object' | 'array') =>
  `CASE WHEN json_valid(${column}) THEN CASE json_type(${column}) WHEN '${type}' THEN ${column} END END`;

const has = (field: string) => `json_type(detail, '$.${field}') IS NOT NULL`;
const flag = (field: string) => `coalesce(json_type(detail, '$.${field}'), '') = 'true'`;
const text = (field: string) => `CASE json_type(detail, '$.${field}') WHEN 'text' THEN detail ->> '${field}' END`;
/**
 * Returns SQL that tests whether a number is a safe integer. JSON integers may exceed 64 bits; SQLite reads such
 * integers as REAL, which a STRICT table rejects.
 */
const isSafe = (value: string) => `${value} BETWEEN 0 AND ${Number.MAX_SAFE_INTEGER}`;
/** Returns SQL that yields the field's value if it is a safe integer, and NULL otherwise. */
const instant = (field: string) => `CASE json_type(detail, '$.${field}') WHEN 'integer' THEN
  CASE WHEN ${isSafe(`detail ->> '${field}'`)} THEN detail ->> '${field}' END END`;

/**
 * SQL that selects `labelerColumns` from the earlier table. Versions without `completeThrough` read every source to its
 * end or recorded a gap, so the time of the last response is used instead. Versions without `firstAnswered` stored the
 * first attempt, which is the closest bound.
 */
const earlierLabelers = `SELECT did, origin, enrolled, endpoint, coalesce(${text('finding')}, 'unresolved') AS resolution_status,
  ${text('handle')} AS handle, ${flag('confirmed')} AS handle_confirmed, state, state_since,
  ${instant('firstAsked')} AS first_asked,
  CASE WHEN ${has('firstAnswered')} THEN ${instant('firstAnswered')}
    ELSE coalesce(${instant('firstAsked')}, state_since) END AS first_answered,
  ${instant('lastAnswered')} AS last_answered, ${instant('failingSince')} AS failing_since,
  CASE WHEN ${has('completeThrough')} THEN ${instant('completeThrough')} ELSE ${instant('lastAnswered')} END
    AS complete_through,
  ${flag('dated')} AS dated, ${flag('undated')} AS undated
  FROM (SELECT did, origin, enrolled, endpoint, state, state_since,
    coalesce(${jsonOf('detail', 'object')}, '{}') AS detail FROM roster)`;

/** SQL that selects the columns of `labeler_provenance` from the earlier table. */
const earlierProvenance = `SELECT did, key AS ordinal, value AS provenance
  FROM roster, json_each(coalesce(${jsonOf('provenance', 'array')}, '[]')) WHERE type = 'text'`;

const noteOf = (name: string) =>
  `(SELECT coalesce(${jsonOf('content', 'object')}, '{}') AS content FROM note WHERE name = '${name}')`;

/** SQL that creates the tables and moves the data of earlier versions into them. */
const rosterMigration = `${tables}
INSERT INTO labeler(${labelerColumns}) ${earlierLabelers};
INSERT INTO labeler_provenance(did, ordinal, provenance) ${earlierProvenance};
DROP TABLE roster;
INSERT OR IGNORE INTO daily_bytes(source, day, bytes)
  SELECT entry.value ->> 0, saved.content ->> 'day', entry.value ->> 1
  FROM ${noteOf('day-bytes')} AS saved, json_each(saved.content, '$.bytes') AS entry
  WHERE json_type(saved.content, '$.day') = 'integer' AND ${isSafe("saved.content ->> 'day'")}
    AND entry.type = 'array' AND json_type(entry.value, '$[0]') = 'text'
    AND json_type(entry.value, '$[1]') = 'integer' AND ${isSafe('entry.value ->> 1')};
INSERT OR IGNORE INTO directory_position(host, seq)
  SELECT content ->> 'host', content ->> 'seq' FROM ${noteOf('directory-position')}
  WHERE json_type(content, '$.host') = 'text' AND json_type(content, '$.seq') = 'integer'
    AND ${isSafe("content ->> 'seq'")};
DELETE FROM note WHERE name IN ('day-bytes', 'directory-position');
`;

/** Schema migrations of the state file, which contains no data that determines whether a row is accepted. */
export const stateMigrations: readonly Migration[] = [
  {
    version: 1,
    name: 'epoch, days, gaps, roster, keys, definitions',
    sql: `
CREATE TABLE epoch(one INTEGER PRIMARY KEY CHECK (one = 1), generation TEXT NOT NULL, started_at INTEGER NOT NULL,
  floor INTEGER NOT NULL, heartbeat INTEGER, writer TEXT) STRICT;
CREATE TABLE day(day INTEGER PRIMARY KEY, sealed INTEGER NOT NULL) STRICT;
CREATE TABLE gap(source TEXT NOT NULL, started INTEGER NOT NULL, ended INTEGER NOT NULL, reason TEXT NOT NULL,
  PRIMARY KEY(source, started, ended, reason)) STRICT, WITHOUT ROWID;
CREATE INDEX gap_ended ON gap(ended);
CREATE TABLE roster(did TEXT PRIMARY KEY, origin TEXT NOT NULL, provenance TEXT NOT NULL, enrolled INTEGER NOT NULL,
  endpoint TEXT, state TEXT NOT NULL, state_since INTEGER NOT NULL, detail TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE label_key(did TEXT NOT NULL, label_key TEXT NOT NULL, first_seen INTEGER NOT NULL,
  last_seen INTEGER NOT NULL, PRIMARY KEY(did, label_key)) STRICT, WITHOUT ROWID;
CREATE TABLE definitions(id INTEGER PRIMARY KEY, did TEXT NOT NULL, seen_at INTEGER NOT NULL, content TEXT NOT NULL)
  STRICT;
CREATE INDEX definitions_did ON definitions(did, id);
CREATE TABLE note(name TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT, WITHOUT ROWID;
`,
  },
  {
    version: 2,
    name: 'removal of rows on request',
    // `at_day` is the day that is being changed: set before the first change to the day and cleared after the last one.
    sql: `
ALTER TABLE epoch ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE day ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE TABLE purge(source TEXT PRIMARY KEY, requested_at INTEGER NOT NULL, completed_at INTEGER,
  removed INTEGER NOT NULL, next_day INTEGER NOT NULL, at_day INTEGER) STRICT, WITHOUT ROWID;
`,
  },
  { version: 3, name: 'typed columns for the data of the instrument', sql: rosterMigration },
  {
    version: 4,
    name: 'removal of rows about spaces',
    // A new store has no epoch yet, so no removal is recorded for a new store. `at_day` is the day that is being
    // changed, and `at_rows` is the number of rows that had been removed from that day before this removal.
    sql: `
CREATE TABLE space_removal(one INTEGER PRIMARY KEY CHECK (one = 1), next_day INTEGER NOT NULL, at_day INTEGER,
  at_rows INTEGER, removed INTEGER NOT NULL, completed_at INTEGER) STRICT;
INSERT INTO space_removal(one, next_day, removed) SELECT 1, 0, 0 FROM epoch;
`,
  },
];

/** First schema versions with the tables of purges and of the removal of rows about spaces. */
export const stateSince = { purges: 2, spaceRemoval: 4 } as const;

interface LabelerRecord {
  did: string;
  origin: RosterRow['origin'];
  enrolled: number;
  endpoint: string | null;
  resolution_status: string;
  handle: string | null;
  handle_confirmed: number;
  state: string;
  state_since: Micros;
  first_asked: Micros | null;
  first_answered: Micros | null;
  last_answered: Micros | null;
  failing_since: Micros | null;
  complete_through: Micros | null;
  dated: number;
  undated: number;
}

interface Named {
  did: string;
  provenance: string;
}

/**
 * Returns a function that reads the roster, sorted by DID. A reader may have opened the file before its writer migrated
 * it, so each call checks the schema version in the transaction of its queries.
 */
export function rosterQuery(db: Sqlite): () => RosterRow[] {
  const prepare = (labelers: string, provenance: string) => ({
    labelers: db.prepare<[], LabelerRecord>(`SELECT ${labelerColumns} FROM ${labelers} ORDER BY did`),
    provenance: db.prepare<[], Named>(`SELECT did, provenance FROM ${provenance} ORDER BY did, ordinal`),
  });
  let current: ReturnType<typeof prepare> | null = null;
  return db.transaction((): RosterRow[] => {
    if (schemaVersion(db) >= rosterFrom) current ??= prepare('labeler', 'labeler_provenance');
    const queries = current ?? prepare(`(${earlierLabelers})`, `(${earlierProvenance})`);
    const named = Map.groupBy(queries.provenance.all(), ({ did }) => did);
    return queries.labelers.all().map((row) => rosterRowOf(row, named.get(row.did) ?? []));
  });
}

function rosterRowOf(row: LabelerRecord, named: readonly Named[]): RosterRow {
  const { did, origin, endpoint, state } = row;
  return {
    ...{ did, origin, endpoint, state },
    resolutionStatus: row.resolution_status,
    provenance: named.map(({ provenance }) => provenance),
    enrolled: row.enrolled === 1,
    handle: labelerHandle(row.handle, row.handle_confirmed === 1),
    stateSince: row.state_since,
    firstAsked: row.first_asked,
    firstAnswered: row.first_answered,
    lastAnswered: row.last_answered,
    failingSince: row.failing_since,
    completeThrough: row.complete_through,
    dated: row.dated === 1,
    undated: row.undated === 1,
  };
}

/**
 * Creates the functions that change the roster. Each call is one durable commit. `dropDefinitions` removes the
 * definitions of a labeler that leaves the roster.
 */
export function rosterChanges(db: Sqlite, dropDefinitions: (did: string) => void) {
  const put = db.prepare(
    `INSERT OR REPLACE INTO labeler(${labelerColumns})
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const drop = db.prepare('DELETE FROM labeler WHERE did = ?');
  const dropKeys = db.prepare('DELETE FROM label_key WHERE did = ?');
  const putProvenance = db.prepare('INSERT INTO labeler_provenance(did, ordinal, provenance) VALUES (?, ?, ?)');
  const dropProvenance = db.prepare('DELETE FROM labeler_provenance WHERE did = ?');
  /**
   * Provenance that this writer has stored, by DID. Unchanged provenance is not stored again: provenance rarely
   * changes, but other parts of a row often do.
   */
  const stored = new Map<string, readonly string[]>();

  function replaceProvenance(did: string, provenance: readonly string[]): void {
    const known = stored.get(did);
    if (known?.length === provenance.length && known.every((one, i) => one === provenance[i])) return;
    dropProvenance.run(did);
    for (const [ordinal, one] of provenance.entries()) putProvenance.run(did, ordinal, one);
    stored.set(did, provenance);
  }

  /**
   * Runs a change in a transaction. If the change fails, clears `stored`, which may contain values of the failed
   * change.
   */
  function change<Rows>(apply: (rows: Rows) => void): (rows: Rows) => void {
    const transaction = db.transaction(apply);
    return (rows) => {
      try {
        transaction.immediate(rows);
      } catch (error) {
        stored.clear();
        throw error;
      }
    };
  }

  return {
    dropRoster: change((dids: readonly string[]): void => {
      for (const did of dids) {
        drop.run(did);
        dropProvenance.run(did);
        dropKeys.run(did);
        dropDefinitions(did);
        stored.delete(did);
      }
    }),
    putRoster: change((rows: readonly RosterRow[]): void => {
      for (const row of rows) {
        assertRosterBounds(row);
        put.run(...valuesOf(row));
        replaceProvenance(row.did, row.provenance);
      }
    }),
  };
}

/** Returns the values of a row in the order of `labelerColumns`. */
function valuesOf(row: RosterRow): readonly (string | number | null)[] {
  const flag = (is: boolean): number => (is ? 1 : 0);
  const { did, origin, endpoint, resolutionStatus, handle, state, stateSince } = row;
  const { firstAsked, firstAnswered, lastAnswered, failingSince, completeThrough } = row;
  return [
    ...[did, origin, flag(row.enrolled), endpoint, resolutionStatus],
    ...[handle?.name ?? null, flag(handle?.confirmed ?? false), state, stateSince],
    ...[firstAsked, firstAnswered, lastAnswered, failingSince, completeThrough, flag(row.dated), flag(row.undated)],
  ];
}
