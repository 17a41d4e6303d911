import type { Micros } from '../../../contract/timestamp.ts';
import { assertRosterBounds } from '../../common/definition-space.ts';
import { labelerHandle, type RosterRow } from '../../roster.ts';
import type { Sqlite } from '../base/connection.ts';
import { schemaVersion } from '../base/migrate.ts';
import { earlierLabelers, earlierProvenance, labelerColumns, rosterFrom } from '../schema/state-schema.ts';

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

/** Creates the functions that change the roster. Each call is one durable commit. */
export function rosterChanges(db: Sqlite) {
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
