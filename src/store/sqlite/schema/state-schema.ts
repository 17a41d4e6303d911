import type { Migration } from '../base/migrate.ts';
import { rosterMigration } from './roster-schema.ts';

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

/** First schema version of the state file with the removal of rows about spaces. */
export const spaceRemovalVersion = 4;

/** First schema version of the state file with purges. */
export const purgeVersion = 2;
