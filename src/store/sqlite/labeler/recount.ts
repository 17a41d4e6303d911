import { maxCountedValueBytes } from '../../labeler-counters.ts';
import { dayStart } from '../../time.ts';
import type { Sqlite } from '../base/connection.ts';
import { metaNames } from '../schema/day-schema.ts';
import { hasCounters } from './counter-changes.ts';
import { addRow, countedColumns, countedRow, type DayCounters, emptyCounters } from './day-counters.ts';
import { packCounters } from './packed-counters.ts';

/**
 * Copies the labeler counters of the attached database `day` to a new sealed day, except the counters of the labeler
 * with the numeric id `without`. If the attached day has no counters, the new day records that its rows are not
 * counted.
 */
export function copyLabelerCounters(db: Sqlite, day: number, without = -1): void {
  if (!hasCounters(db, 'day')) setUncounted(db, day);
  else db.prepare('INSERT INTO main.counter_labeler SELECT * FROM day.counter_labeler WHERE source <> ?').run(without);
}

/**
 * Computes the labeler counters of a new sealed day from its rows. If the attached database `day` has no counters,
 * records that the rows of the new day are not counted.
 */
export function recountNewDay(db: Sqlite, day: number): void {
  if (hasCounters(db, 'day')) recountLabelers(db);
  else setUncounted(db, day);
}

function setUncounted(db: Sqlite, day: number): void {
  db.prepare('INSERT INTO main.meta(name, value) VALUES (?, ?)').run(metaNames.countedFrom, dayStart(day + 1));
}

/**
 * Recomputes the labeler counters from the counted rows, in order of acceptance, and replaces the stored counters.
 * Has no effect on a file without counters.
 */
export function recountLabelers(db: Sqlite): void {
  if (!hasCounters(db, 'main')) return;
  const from = db.prepare<[string], number>('SELECT value FROM main.meta WHERE name = ?').pluck();
  const long = db
    .prepare<[number], number>('SELECT id FROM main.val WHERE length(CAST(name AS BLOB)) > ?')
    .pluck()
    .all(maxCountedValueBytes);
  const longValues = new Set(long);
  const read = db
    .prepare<[number], [number, ...Parameters<typeof countedRow>]>(
      `SELECT source, ${countedColumns} FROM main.observation WHERE id >= ? ORDER BY id`,
    )
    .raw();
  const bySource = new Map<number, DayCounters>();
  for (const [source, ...columns] of read.iterate(from.get(metaNames.countedFrom) ?? 0)) {
    const row = countedRow(...columns);
    const counters = bySource.get(source) ?? emptyCounters();
    bySource.set(source, counters);
    addRow(counters, row, longValues.has(row.value));
  }
  const write = db.prepare('INSERT INTO main.counter_labeler(source, packed) VALUES (?, ?)');
  db.transaction(() => {
    db.exec('DELETE FROM main.counter_labeler');
    for (const [source, counters] of bySource) write.run(source, packCounters(counters, source, db.name));
  })();
}
