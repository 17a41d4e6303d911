import type { Micros } from '../../../contract/timestamp.ts';
import type { GapReason } from '../../../contract/vocabulary.ts';
import { StoreError } from '../../errors.ts';
import { clip, coalesce, gappedTime } from '../../gaps.ts';
import type { Epoch, LabelerCoverage, StoredGap } from '../../port.ts';
import type { Purge } from '../../removals.ts';
import type { Definitions, LabelerKey, RosterRow } from '../../roster.ts';
import type { Interval } from '../../time.ts';
import type { Sqlite } from '../base/connection.ts';
import { schemaVersion } from '../base/migrate.ts';
import { purgeVersion } from '../schema/state-schema.ts';

interface GapRow {
  source: string;
  started: Micros;
  ended: Micros;
  reason: GapReason;
}

/** The days that a reader may open, and the floor. */
export interface Catalog {
  readonly floor: Micros;
  /**
   * Oldest first. `revision` rises when a purge changes or replaces a day's file: earlier reads of it become invalid.
   */
  readonly days: readonly { readonly day: number; readonly sealed: number; readonly revision: number }[];
}

/** A requested purge as stored. */
export interface PurgeRow {
  readonly source: string;
  readonly requestedAt: Micros;
  readonly completedAt: Micros | null;
  readonly removed: number;
  /** The first day that is not completed. */
  readonly nextDay: number;
  /** The day that is being changed, or may have been when the writer ended. */
  readonly atDay: number | null;
}

/** Our own interruptions are stored under the empty name. */
const everySource = '';

/** Queries of the state file; the caller owns the connection. */
export function stateQueries(db: Sqlite) {
  const epochRow = db.prepare<[], { generation: string; started_at: Micros; floor: Micros; heartbeat: Micros | null }>(
    'SELECT generation, started_at, floor, heartbeat FROM epoch',
  );
  const removals = removalQueries(db);
  const days = db.prepare<[], { day: number; sealed: number }>('SELECT day, sealed FROM day ORDER BY day');
  const allGaps = db.prepare<[number, number], GapRow>('SELECT * FROM gap WHERE ended > ? AND started < ?');
  const gapsWithin = db.prepare<[string, number, number], GapRow>(
    'SELECT * FROM gap WHERE source = ? AND started < ? AND ended > ? ORDER BY started',
  );
  const sourceGaps = db.prepare<[string], GapRow>('SELECT * FROM gap WHERE source = ? ORDER BY started');
  const rosterRows = db.prepare<[], RosterRecord>('SELECT * FROM roster ORDER BY did');
  const keyRows = db.prepare<[string], LabelerKey>(
    `SELECT did, label_key AS key, first_seen AS firstSeen, last_seen AS lastSeen FROM label_key WHERE did = ?
     ORDER BY first_seen, label_key`,
  );
  const definitionRows = db.prepare<[string], Definitions>(
    'SELECT did, seen_at AS seenAt, content FROM definitions WHERE did = ? ORDER BY id DESC',
  );
  const noteRow = db.prepare<[string], string>('SELECT content FROM note WHERE name = ?').pluck();

  function singleton() {
    const row = epochRow.get();
    if (!row) throw new StoreError('damaged', `${db.name} has no epoch`);
    return row;
  }

  function gaps(interval: Interval): StoredGap[] {
    return coalesce(clip(allGaps.all(interval.start, interval.end).map(gapOf), interval));
  }

  /** Reads the gaps of one source by the table's key, without reading those of others. */
  function gapsWithinOf(source: string | null, interval: Interval): StoredGap[] {
    return clip(gapsWithin.all(gapSource(source), interval.end, interval.start).map(gapOf), interval);
  }

  return {
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
    gapsOf: (source: string | null): StoredGap[] => sourceGaps.all(source ?? everySource).map(gapOf),
    gaps: (interval: Interval, source?: string): StoredGap[] =>
      source === undefined
        ? gaps(interval)
        : coalesce([...gapsWithinOf(null, interval), ...gapsWithinOf(source, interval)]),
    coverage(interval: Interval, labelers: readonly string[]): LabelerCoverage[] {
      const own = gapsWithinOf(null, interval);
      return labelers.map((labeler) => {
        const of = coalesce([...own, ...gapsWithinOf(labeler, interval)]);
        return { labeler, gaps: of, gapped: gappedTime(of) };
      });
    },
    roster: (): RosterRow[] => rosterRows.all().map(rosterOf),
    keys: (did: string): LabelerKey[] => keyRows.all(did),
    definitions: (did: string): Definitions[] => definitionRows.all(did),
    note: (name: string): string | null => noteRow.get(name) ?? null,
  };
}

/**
 * Queries of tables that a later schema added; null if the file lacks them. A reader may have opened the file before
 * its writer migrated it.
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

interface RosterRecord {
  did: string;
  origin: RosterRow['origin'];
  provenance: string;
  enrolled: number;
  endpoint: string | null;
  state: string;
  state_since: Micros;
  detail: string;
}

function rosterOf(row: RosterRecord): RosterRow {
  return {
    did: row.did,
    origin: row.origin,
    provenance: provenanceOf(row),
    enrolled: row.enrolled === 1,
    endpoint: row.endpoint,
    state: row.state,
    stateSince: row.state_since,
    detail: row.detail,
  };
}

function provenanceOf(row: RosterRecord): string[] {
  const value: unknown = JSON.parse(row.provenance);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw new StoreError('damaged', `the roster's provenance of ${row.did} is not an array`);
}

function gapOf(row: GapRow): StoredGap {
  return {
    source: row.source === everySource ? null : row.source,
    start: row.started,
    end: row.ended,
    reason: row.reason,
  };
}

/** Returns the name under which gaps of a source are stored. */
export function gapSource(source: string | null): string {
  return source ?? everySource;
}
