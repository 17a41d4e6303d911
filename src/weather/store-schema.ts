import type { Database } from 'better-sqlite3';
import { OperatorError } from '../ops/errors.ts';
import { metricNames } from './metric-names.ts';

/** Version of the layout below, kept in the file's `user_version`. */
export const weatherStoreVersion = 1;

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
      revision INTEGER NOT NULL
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
      ${metricNames.map((name) => `${metricColumn(name)} INTEGER NOT NULL`).join(',\n      ')},
      PRIMARY KEY (series, start_us)
    ) STRICT, WITHOUT ROWID;
    PRAGMA user_version = ${weatherStoreVersion};
  `;
}

/** Makes the tables in a new file. Throws OperatorError for a file of another version. */
export function ensureSchema(db: Database, path: string): void {
  const found = db.pragma('user_version', { simple: true });
  if (found === weatherStoreVersion) return;
  if (found !== 0) {
    throw new OperatorError(
      `the weather store ${path} has version ${String(found)}; this program reads ${weatherStoreVersion}`,
    );
  }
  db.transaction(() => db.exec(layout())).immediate();
}
