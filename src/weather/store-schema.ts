import type { Database } from 'better-sqlite3';
import { OperatorError } from '../ops/errors.ts';
import { metricNames } from './metric-names.ts';

/** Version of the layout below, kept in the file's `user_version`. */
export const weatherStoreVersion = 2;
/** Oldest version that is brought up to date when the store is opened. */
export const oldestWeatherStoreVersion = 1;

/** A metric's column: the metric's own name. */
export function metricColumn(name: string): string {
  return `"${name}"`;
}

/**
 * Integers only, but for the address of the host. One row a window; `observed` holds which spans of the stream's
 * clock were watched; `track` where the readers of the host stand. All times are microseconds of the stream's clock.
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
      PRIMARY KEY (series, start_us)
    ) STRICT, WITHOUT ROWID;
    PRAGMA user_version = ${weatherStoreVersion};
  `;
}

/** What version 2 added; none of it existed in the stream that a store of version 1 was written from. */
const fromVersion1 = `
  ALTER TABLE series ADD COLUMN took_over INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE window ADD COLUMN resync INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE window ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE window ADD COLUMN "sync.event" INTEGER NOT NULL DEFAULT 0;
  PRAGMA user_version = 2;
`;

/** Makes the tables in a new file, and brings those of version 1 up to date. Throws OperatorError for another version. */
export function ensureSchema(db: Database, path: string): void {
  const found = db.pragma('user_version', { simple: true });
  if (found === weatherStoreVersion) return;
  if (found === oldestWeatherStoreVersion) {
    db.transaction(() => db.exec(fromVersion1)).immediate();
    return;
  }
  if (found !== 0) {
    throw new OperatorError(
      `the weather store ${path} has version ${String(found)}; this program reads ${weatherStoreVersion}`,
    );
  }
  db.transaction(() => db.exec(layout())).immediate();
}
