import type { Database } from 'better-sqlite3';
import { collectionNames } from '../../contract/vocabulary.ts';
import { OperatorError } from '../../ops/errors.ts';
import { metricNames } from '../classify/metric-names.ts';

/** Version of the layout, stored in the file's `user_version`. */
export const weatherStoreVersion = 3;
/** Oldest version that is migrated when the store is opened. */
export const oldestWeatherStoreVersion = 1;

/** Returns the column of a metric, which has the metric's name. */
export function metricColumn(name: string): string {
  return `"${name}"`;
}

/** Columns of the first and the last event of each published collection in a window, by the indexes of `collectionNames`. */
export const firstColumns: readonly string[] = collectionNames.map((name) => `"${name} first"`);
export const lastColumns: readonly string[] = collectionNames.map((name) => `"${name} last"`);
const edges = [...firstColumns, ...lastColumns].map((column) => `${column} INTEGER NOT NULL DEFAULT 0`);
/** Number of collections in version 3; later versions append others. */
const version3Collections = 17;

/** Tables of version 3: silences, and the host that is published in place of the preferred one. */
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
 * Tables of integers, except the URL of the host. `window` has one row per minute; `observed`, the observed spans of the
 * stream's clock; `silence`, the spans without events of a collection, by its index in `collectionNames`; `track`, the
 * positions of the readers of the host. All times are microseconds of the stream's clock.
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
    PRAGMA user_version = ${weatherStoreVersion};
  `;
}

/** Additions of version 2. The stream that a store of version 1 was written from contained none of this. */
const fromVersion1 = `
  ALTER TABLE series ADD COLUMN took_over INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE window ADD COLUMN resync INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE window ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE window ADD COLUMN "sync.event" INTEGER NOT NULL DEFAULT 0;
`;

/** Additions of version 3: the times of the events of a collection. */
const fromVersion2 = `
  ${[firstColumns, lastColumns]
    .flatMap((columns) => columns.slice(0, version3Collections))
    .map((column) => `ALTER TABLE window ADD COLUMN ${column} INTEGER NOT NULL DEFAULT 0;`)
    .join('\n  ')}
  ${version3}
  PRAGMA user_version = 3;
`;

/** Creates the tables in a new file, and migrates those of earlier versions. Throws OperatorError for another version. */
export function ensureSchema(db: Database, path: string): void {
  const found = db.pragma('user_version', { simple: true });
  if (found === weatherStoreVersion) return;
  if (found === oldestWeatherStoreVersion || found === 2) {
    db.transaction(() => db.exec(found === 2 ? fromVersion2 : fromVersion1 + fromVersion2)).immediate();
    return;
  }
  if (found !== 0) {
    throw new OperatorError(
      `the weather store ${path} has version ${String(found)}; this program reads ${weatherStoreVersion}`,
    );
  }
  db.transaction(() => db.exec(layout())).immediate();
}
