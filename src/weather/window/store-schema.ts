import type { Database } from 'better-sqlite3';
import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import { OperatorError, systemCode } from '../../ops/errors.ts';
import { metricNames } from '../classify/metric-names.ts';
import type { End, Position } from '../position/position.ts';
import type { TrackGain } from './track.ts';
import { type Interval, windowUs } from './window.ts';

/** Version of the database layout, stored in the file's `user_version`. */
export const weatherStoreVersion = 4;
/** Oldest version that is migrated when the store is opened. */
export const oldestWeatherStoreVersion = 1;

/** Returns the column of a metric, which is the quoted name of the metric. */
export function metricColumn(name: string): string {
  return `"${name}"`;
}

/** Columns with the time of each published collection's first event in a window, in the order of `collectionNames`. */
export const firstColumns: readonly string[] = collectionNames.map((name) => `"${name} first"`);
/** Columns with the time of each published collection's last event in a window, in the order of `collectionNames`. */
export const lastColumns: readonly string[] = collectionNames.map((name) => `"${name} last"`);
const edges = [...firstColumns, ...lastColumns].map((column) => `${column} INTEGER NOT NULL DEFAULT 0`);
/** Number of collections in version 3. Later versions append others. */
const version3Collections = 17;

/**
 * Tables added in version 3: the silences, and the failover to the host that is published instead of the preferred one.
 */
const version3 = `
    CREATE TABLE silence (
      series INTEGER NOT NULL REFERENCES series (id),
      place INTEGER NOT NULL,
      from_us INTEGER NOT NULL,
      to_us INTEGER NOT NULL,
      PRIMARY KEY (series, place, from_us)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE failover (
      series INTEGER PRIMARY KEY REFERENCES series (id),
      since_us INTEGER NOT NULL,
      trouble_us INTEGER NOT NULL,
      silent INTEGER NOT NULL,
      unwell_us INTEGER NOT NULL
    ) STRICT;
`;

/**
 * Table added in version 4: for each collection that earlier versions did not count, the window from which it is
 * counted.
 */
const version4 = `
    CREATE TABLE counted_since (
      series INTEGER NOT NULL REFERENCES series (id),
      place INTEGER NOT NULL,
      since_us INTEGER NOT NULL,
      PRIMARY KEY (series, place)
    ) STRICT, WITHOUT ROWID;
`;

/**
 * Returns the statements that create the tables. All columns are integers, except the URL of the host. `window` has one
 * row per minute. `observed` has the observed spans. `silence` has the spans without events of a collection, identified
 * by its index in `collectionNames`. `track` has the positions of the host's readers. All times are in microseconds of
 * the stream's clock.
 */
function layout(): string {
  return `
    CREATE TABLE series (
      id INTEGER PRIMARY KEY,
      endpoint TEXT NOT NULL UNIQUE,
      revision INTEGER NOT NULL,
      took_over INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE track (
      series INTEGER NOT NULL REFERENCES series (id),
      role INTEGER NOT NULL,
      kind INTEGER NOT NULL,
      value INTEGER NOT NULL,
      counted INTEGER NOT NULL,
      time_us INTEGER NOT NULL,
      end_seq INTEGER,
      end_time_us INTEGER,
      bytes INTEGER NOT NULL,
      PRIMARY KEY (series, role)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE observed (
      series INTEGER NOT NULL REFERENCES series (id),
      from_us INTEGER NOT NULL,
      to_us INTEGER NOT NULL,
      PRIMARY KEY (series, from_us)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE window (
      series INTEGER NOT NULL REFERENCES series (id),
      start_us INTEGER NOT NULL,
      events INTEGER NOT NULL,
      late_or_repeat INTEGER NOT NULL,
      malformed INTEGER NOT NULL,
      flags INTEGER NOT NULL,
      resync INTEGER NOT NULL DEFAULT 0,
      left_out INTEGER NOT NULL DEFAULT 0,
      ${metricNames.map((name) => `${metricColumn(name)} INTEGER NOT NULL`).join(',\n      ')},
      ${edges.join(',\n      ')},
      PRIMARY KEY (series, start_us)
    ) STRICT, WITHOUT ROWID;
    ${version3}
    ${version4}
    PRAGMA user_version = ${weatherStoreVersion};
  `;
}

/** Columns added in version 2. The stream contained none of this data when version 1 was in use. */
const fromVersion1 = `
  ALTER TABLE series ADD COLUMN took_over INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE window ADD COLUMN resync INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE window ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE window ADD COLUMN "sync.event" INTEGER NOT NULL DEFAULT 0;
`;

/** Columns added in version 3: the times of a collection's first and last event. */
const fromVersion2 = `
  ${[firstColumns, lastColumns]
    .flatMap((columns) => columns.slice(0, version3Collections))
    .map((column) => `ALTER TABLE window ADD COLUMN ${column} INTEGER NOT NULL DEFAULT 0;`)
    .join('\n  ')}
  ${version3}
`;

/** Migrations, indexed by the version from which each one starts. */
const migrations: readonly string[] = ['', fromVersion1, fromVersion2, version4];

/**
 * Adds the columns of metrics that an earlier version did not count. Each series counts a new collection from the
 * window after its newest window: earlier windows contain none of its events, so the collection was not observed in
 * them.
 */
function addMetrics(db: Database): void {
  const known = new Set(db.prepare<[], string>("SELECT name FROM pragma_table_info('window')").pluck().all());
  const add = (column: string): void => {
    db.exec(`ALTER TABLE window ADD COLUMN ${column} INTEGER NOT NULL DEFAULT 0`);
  };
  for (const name of metricNames) {
    if (known.has(name)) continue;
    add(metricColumn(name));
    const place = published.indexOf(name);
    if (place >= 0) db.prepare<[number]>(insertCountedSince).run(place);
  }
  for (const name of collectionNames) {
    for (const edge of ['first', 'last']) if (!known.has(`${name} ${edge}`)) add(`"${name} ${edge}"`);
  }
}

const published: readonly string[] = collectionNames;
const insertCountedSince = `
  INSERT INTO counted_since
  SELECT id, ?, newest - newest % ${windowUs} + ${windowUs} FROM (
    SELECT id, max(
      coalesce((SELECT max(start_us) FROM window WHERE series = id), -1),
      coalesce((SELECT max(time_us) FROM track WHERE series = id), -1)
    ) AS newest FROM series
  ) WHERE newest >= 0
`;

/**
 * Creates the tables in a new file, and migrates the tables of earlier versions. Throws OperatorError for any other
 * version.
 */
export function ensureSchema(db: Database, path: string): void {
  const found = db.pragma('user_version', { simple: true });
  if (found === weatherStoreVersion) return;
  if (typeof found === 'number' && found >= oldestWeatherStoreVersion && found < weatherStoreVersion) {
    db.transaction(() => {
      db.exec(migrations.slice(found).join(''));
      addMetrics(db);
      db.pragma(`user_version = ${weatherStoreVersion}`);
    }).immediate();
    return;
  }
  if (found !== 0) {
    throw new OperatorError(
      `the weather store ${path} has version ${String(found)}, but this program reads version ${weatherStoreVersion}; run the version that wrote it, or move the store aside`,
    );
  }
  db.transaction(() => db.exec(layout())).immediate();
}

/** Stored position of a backfill that has not reached its end. */
export interface StoredBackfill {
  readonly position: Position;
  readonly end: End;
  /** Number of bytes that the backfill has read. */
  readonly bytes: number;
}

/** Stored positions of the readers of one host's series. */
export interface StoredSeries {
  readonly id: number;
  /** Number of commits so far. Each commit names the revision that it follows. */
  readonly revision: number;
  /** True if the series has replaced another series of its host and has been published since. */
  readonly tookOver: boolean;
  readonly live: Position | null;
  readonly backfill: StoredBackfill | null;
}

/** One commit: the results of the readers since revision `after`, and their positions. */
export interface Commit {
  readonly series: number;
  readonly after: number;
  readonly gains: readonly Pick<TrackGain, 'windows' | 'observed'>[];
  readonly live: Position | null;
  readonly backfill: StoredBackfill | null;
}

/** Sums over the windows of one hour. */
export interface HourSums {
  readonly startUs: number;
  readonly events: number;
  /** True if a window of the hour has the flag `compacted`. */
  readonly isCompacted: boolean;
  /** Counts of the requested columns, in their order. */
  readonly counts: readonly number[];
}

/**
 * Cause of a failed write. `full`: there is no space now; committed data is intact, and a retry may succeed. `busy`:
 * another process holds the file. `damaged`: the file differs from what was written; the instrument must stop.
 * `unexpected`: an error of this program, such as a column that a migration did not add; the instrument must stop, and
 * the file is kept.
 */
type StoreFault = 'full' | 'busy' | 'damaged' | 'unexpected';

/** Returns the cause of a store error, derived from SQLite's code, or null if it is not an error of SQLite. */
export function storeFault(error: unknown): StoreFault | null {
  const code = systemCode(error);
  if (code === null || !code.startsWith('SQLITE_')) return null;
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return 'damaged';
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'busy';
  // A disk may reject writes for other reasons (quota, read-only remount). Treat it like a full disk, because a later
  // write may succeed.
  if (['SQLITE_FULL', 'SQLITE_READONLY', 'SQLITE_CANTOPEN'].includes(code) || code.startsWith('SQLITE_IOERR'))
    return 'full';
  return 'unexpected';
}

/**
 * A span of the stream's clock in which a collection had no event while others continued. The collection counts as not
 * observed in this span.
 */
export interface Silence extends Interval {
  readonly collection: CollectionName;
}

/** Times of a collection's first and last event in a window, in microseconds of the stream's clock. */
export interface Edges {
  /** Time of the first event. Null if the window has no event, or was stored by an earlier version. */
  readonly firstUs: number | null;
  /** Time of the last event. Null under the same conditions as `firstUs`. */
  readonly lastUs: number | null;
}

/** Reason why a series is unreliable, and the start of its unreliable time, in microseconds. */
interface Trouble {
  readonly reason: 'unobserved' | 'silent';
  readonly sinceUs: number;
}

/**
 * State while the second host is published: the start of the failover in microseconds, and the trouble that caused it.
 */
export interface Failover {
  readonly sinceUs: number;
  /** Trouble of the first host at the start of the failover. */
  readonly trouble: Trouble;
  /** Last time at which the first host was in trouble, in microseconds. */
  readonly unwellUs: number;
}
