import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import { labelerHandle, maxRosterTextLength, type RosterRow } from '../../roster.ts';
import type { Sqlite } from '../base/connection.ts';
import { schemaVersion } from '../base/migrate.ts';
import { earlierLabelers, earlierProvenance, labelerColumns, rosterFrom } from '../schema/roster-schema.ts';
import { bounded } from './bounded.ts';

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
 * Returns a function that reads the roster by DID. A reader may have opened the file before its writer migrated it, so
 * each read looks at the schema version, in the transaction of its queries.
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

/** Changes of the roster, each one durable commit. */
export function rosterChanges(db: Sqlite) {
  const put = db.prepare(
    `INSERT OR REPLACE INTO labeler(${labelerColumns})
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const drop = db.prepare('DELETE FROM labeler WHERE did = ?');
  // Leaves an unchanged row as it is: most rows of a labeler that is stored again have the same provenance.
  const putProvenance = db.prepare(
    `INSERT INTO labeler_provenance(did, ordinal, provenance) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET provenance = excluded.provenance WHERE provenance <> excluded.provenance`,
  );
  const dropProvenance = db.prepare('DELETE FROM labeler_provenance WHERE did = ? AND ordinal >= ?');
  return {
    dropRoster: db.transaction((dids: readonly string[]): void => {
      for (const did of dids) {
        drop.run(did);
        dropProvenance.run(did, 0);
      }
    }),
    putRoster: db.transaction((rows: readonly RosterRow[]): void => {
      for (const row of rows) {
        assertBounds(row);
        put.run(...valuesOf(row));
        dropProvenance.run(row.did, row.provenance.length);
        for (const [ordinal, provenance] of row.provenance.entries()) putProvenance.run(row.did, ordinal, provenance);
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

function assertBounds({ endpoint, handle, provenance, resolutionStatus, state }: RosterRow): void {
  const texts = { endpoint: endpoint ?? '', handle: handle?.name ?? '', resolutionStatus, state };
  for (const [name, text] of Object.entries(texts)) bounded(text, maxRosterTextLength, name);
  const length = provenance.reduce((sum, one) => sum + one.length, 0);
  if (length > maxRosterTextLength) {
    throw new StoreError('invalid_query', `provenance is longer than ${maxRosterTextLength} characters`);
  }
}
