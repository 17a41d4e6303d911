import { StoreError } from '../../errors.ts';
import { applicationId, type Sqlite } from './connection.ts';

/** One step of a schema migration. Versions start at 1 and increase by one. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

const table = `CREATE TABLE IF NOT EXISTS migration(
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT`;

/** Returns the schema version of a file, or 0 for a new file. */
export function schemaVersion(db: Sqlite): number {
  return Number(db.pragma('user_version', { simple: true }));
}

/**
 * Migrates a file to the newest schema version. Each step is one transaction, so that a crash leaves the file at a
 * defined version. Throws `schema_newer` if a newer program wrote the file, and `not_a_store` if it is not an Almanac
 * file.
 */
export function migrate(db: Sqlite, migrations: readonly Migration[], appliedAt: string, faults?: Faults): void {
  const version = schemaVersion(db);
  const application = Number(db.pragma('application_id', { simple: true }));
  if (version !== 0 && application !== applicationId)
    throw new StoreError('not_a_store', `${db.name} is not an Almanac file`);
  assertKnown(db, migrations);
  for (const step of migrations.filter((candidate) => candidate.version > version)) {
    db.transaction(() => {
      db.exec(table);
      db.exec(step.sql);
      faults?.('migrate.changed');
      db.prepare('INSERT INTO migration(version, name, applied_at) VALUES (?, ?, ?)').run(
        step.version,
        step.name,
        appliedAt,
      );
      db.pragma(`application_id = ${applicationId}`);
      db.pragma(`user_version = ${step.version}`);
      faults?.('migrate.recorded');
    }).immediate();
    faults?.('migrate.committed');
  }
}

/** Throws unless this program supports the schema version of the file. */
export function assertKnown(db: Sqlite, migrations: readonly Migration[]): void {
  const version = schemaVersion(db);
  const newest = migrations.length;
  if (version > newest) {
    throw new StoreError(
      'schema_newer',
      `${db.name} has schema version ${version}, but this program supports at most ${newest}`,
    );
  }
}

/**
 * Points at which a test may interrupt the store: a hook throws an error or ends the process. Production code passes no
 * hook.
 */
export const faultPoints = [
  'migrate.changed',
  'migrate.recorded',
  'migrate.committed',
  'append.rows',
  'append.counters',
  'append.positions',
  'append.committed',
  'rollover.made',
  'rollover.created',
  'seal.written',
  'seal.renamed',
  'seal.recorded',
  'expire.floor',
  'purge.begun',
  'purge.removed',
  'purge.emptied',
  'purge.written',
  'purge.renamed',
  'purge.recorded',
  'checksums.written',
  'checksums.renamed',
] as const;

/** Fault points of the commands that move a whole store: `restore` and `new-epoch`. */
export const moveFaultPoints = [
  'new-epoch.begun',
  'new-epoch.days',
  'new-epoch.state',
  'restore.copied',
  'restore.verified',
  'restore.days',
  'restore.state',
] as const;

type FaultPoint = (typeof faultPoints)[number] | (typeof moveFaultPoints)[number];

/** Hook that is called whenever a fault point is reached. */
export type Faults = (point: FaultPoint) => void;
