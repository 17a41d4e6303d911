import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import type { Epoch } from '../../port.ts';
import type { Purge } from '../../removals.ts';
import type { Sqlite } from '../base/connection.ts';
import { schemaVersion } from '../base/migrate.ts';
import { purgeVersion } from '../schema/state-schema.ts';
import { gapQueries } from './gap-state.ts';
import { noteQuery } from './instrument-state.ts';
import { labelerQueries } from './labeler-state.ts';
import { rosterQuery } from './roster-state.ts';
import { spaceRemovalQueries } from './space-state.ts';

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
