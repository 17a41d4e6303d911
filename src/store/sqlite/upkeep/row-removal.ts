import { minute } from '../../time.ts';
import { pageBytes, type Sqlite } from '../base/connection.ts';
import type { Faults } from '../base/faults.ts';
import { removalFlag, type SubjectKey, subjectName } from '../base/row.ts';
import { storeError } from '../base/store-error.ts';
import { openDaySubtraction } from '../hot/hot-counts.ts';
import { labelerCounterSubtraction } from '../labeler/counter-changes.ts';
import { countedRow } from '../labeler/day-counters.ts';
import { metaNames } from '../schema/day-schema.ts';
import { assertLogRoom } from '../schema/log-room.ts';
import { targetSql } from '../schema/row-sql.ts';

/** Maximum number of rows removed per commit. The writes of such a commit fit into the smallest possible log limit. */
export const rowsAtOnce = 500;
/**
 * Maximum number of bytes that a commit writes. Each row changes one page each of the table, the index, the stored
 * counts and the labeler counters; the rest is a margin for other counters.
 */
const maxCommitBytes = rowsAtOnce * 6 * (pageBytes + 24) + 3 * 1024 * 1024;

/** Options for the writer of an open day that also apply to the removal of its rows. */
export interface OpenDayOptions {
  readonly maxLogBytes: number;
  readonly durable: boolean;
  readonly faults: Faults | undefined;
}

/** Changes an open day in one durable commit. Throws `wal_full` if the log could exceed its limit. */
export function changeOpenDay(db: Sqlite, path: string, { maxLogBytes }: OpenDayOptions, work: () => void): void {
  assertLogRoom(db, path, maxCommitBytes, maxLogBytes);
  try {
    db.transaction(work).immediate();
  } catch (error) {
    throw storeError(error, path);
  }
}

/** A row that is removed from an open day. */
export interface RemovedRow {
  readonly id: number;
  readonly subject: SubjectKey;
  readonly source: number;
  readonly val: number;
  /** Target of the row, as a value of `targetSql`. */
  readonly target: number;
  readonly identity: Buffer;
  readonly flags: number;
  readonly cts: number | null;
  readonly ctsText: string | null;
}

/** Columns of a removed row, in SQL. */
export const removedColumns = `id, subject, source, val, ${targetSql} AS target, identity, flags, cts, cts_text AS ctsText`;

/**
 * Returns a function that removes rows of an open day and subtracts them from all counters, in the caller's
 * transaction.
 */
export function rowRemoval(db: Sqlite, faults: Faults | undefined): (rows: readonly RemovedRow[]) => void {
  const remove = db.prepare<[number]>('DELETE FROM observation WHERE id = ?');
  const counters = (['minute', 'hour'] as const).map((bucket) => ({
    length: bucket === 'minute' ? minute : 60 * minute,
    lower: db.prepare(
      `UPDATE counter_${bucket} SET applied = applied - ?, removed = removed - ? WHERE ${bucket} = ? AND source = ?`,
    ),
    drop: db.prepare(
      `DELETE FROM counter_${bucket} WHERE ${bucket} = ? AND source = ? AND applied = 0 AND removed = 0`,
    ),
  }));
  const subtract = openDaySubtraction(db);
  const subtractFromLabeler = labelerCounterSubtraction(db);
  const count = db.prepare(
    'INSERT INTO meta(name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value + excluded.value',
  );
  return (rows) => {
    for (const { id } of rows) remove.run(id);
    for (const { length, lower, drop } of counters) {
      for (const group of groupsOf(rows, ({ id, source }) => `${Math.floor(id / length)} ${source}`)) {
        const { first, applied, removed } = group;
        const bucket = Math.floor(first.id / length);
        lower.run(applied, removed, bucket, first.source);
        drop.run(bucket, first.source);
      }
    }
    for (const { first, applied, removed } of groupsOf(rows, groupName)) {
      const { subject, source, val, target } = first;
      subtract({ subject, source, val, target, applied, removed });
    }
    for (const [source, of] of Map.groupBy(rows, ({ source }) => source)) {
      subtractFromLabeler(
        source,
        of.map(({ id, val, flags, cts, ctsText }) => ({ id, ...countedRow(id, val, flags, cts, ctsText) })),
      );
    }
    count.run(metaNames.purged, rows.length);
    faults?.('purge.removed');
  };
}

function groupName({ subject, source, val, target }: RemovedRow): string {
  return `${subjectName(subject)} ${source} ${val} ${target}`;
}

/** Groups rows by key. Returns the first row of each group and its numbers of applications and removals. */
function groupsOf(rows: readonly RemovedRow[], keyOf: (row: RemovedRow) => string) {
  return [...Map.groupBy(rows, keyOf).values()].flatMap((group) => {
    const [first] = group;
    const removed = group.filter(({ flags }) => (flags & removalFlag) !== 0).length;
    return first ? [{ first, applied: group.length - removed, removed }] : [];
  });
}
