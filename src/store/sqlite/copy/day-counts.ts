import type { DayCounts, LabelerDay, TimeCount } from '../../copy/parts.ts';
import type { SignatureVerdict } from '../../label.ts';
import type { RefusalReason } from '../../port.ts';
import { dayStart } from '../../time.ts';
import type { Sqlite } from '../base/connection.ts';
import type { Intern } from '../base/row.ts';
import type { DayReader } from '../day/day-reader.ts';
import type { DayCounters, Events } from '../labeler/day-counters.ts';
import { packCounters } from '../labeler/packed-counters.ts';
import { metaNames } from '../schema/day-schema.ts';

/** Reads all counters of a day's file. */
export function readDayCounts(db: Sqlite, reader: DayReader): DayCounts {
  const times = (bucket: 'minute' | 'hour'): TimeCount[] =>
    db
      .prepare<[], TimeCount>(
        `SELECT ${bucket}, s.name, applied, removed FROM counter_${bucket} c JOIN source s ON s.id = c.source`,
      )
      .raw()
      .all();
  const refusals = db
    .prepare<[], [number, string, RefusalReason, number]>(
      'SELECT hour, s.name, reason, n FROM refusal r JOIN source s ON s.id = r.source',
    )
    .raw()
    .all();
  const from = reader.labelerCounters.from();
  return {
    ...{ minutes: times('minute'), hours: times('hour'), refusals },
    labelers: [...reader.labelerCounters.all()].map(([source, counters]) =>
      labelerDay(reader.nameOf('source', source), counters, (value) => reader.nameOf('val', value)),
    ),
    countedFrom: from === dayStart(reader.day) ? null : from,
  };
}

function labelerDay(
  labeler: string,
  { verdicts, values, others, delays }: DayCounters,
  textOf: (value: number) => string,
): LabelerDay {
  return {
    ...{ labeler, others, delays: [...delays], verdicts: Object.fromEntries(verdicts) },
    values: [...values].map(([value, [applied, removed]]) => [textOf(value), applied, removed] as const),
  };
}

/** Replaces the counters of an open day, in the caller's transaction. */
export function writeDayCounts(db: Sqlite, counts: DayCounts, intern: Intern): void {
  for (const bucket of ['minute', 'hour'] as const) {
    db.exec(`DELETE FROM counter_${bucket}`);
    const add = db.prepare(`INSERT INTO counter_${bucket}(${bucket}, source, applied, removed) VALUES (?, ?, ?, ?)`);
    for (const [at, source, applied, removed] of bucket === 'minute' ? counts.minutes : counts.hours) {
      if (applied + removed > 0) add.run(at, intern('source', source), applied, removed);
    }
  }
  db.exec('DELETE FROM refusal; DELETE FROM counter_labeler');
  const refuse = db.prepare('INSERT INTO refusal(hour, source, reason, n) VALUES (?, ?, ?, ?)');
  for (const [hour, source, reason, rows] of counts.refusals) refuse.run(hour, intern('source', source), reason, rows);
  const put = db.prepare('INSERT INTO counter_labeler(source, packed) VALUES (?, ?)');
  for (const labeler of counts.labelers) {
    const source = intern('source', labeler.labeler);
    put.run(source, packCounters(dayCounters(labeler, intern), source, db.name));
  }
  db.prepare('DELETE FROM meta WHERE name = ?').run(metaNames.countedFrom);
  if (counts.countedFrom === null) return;
  db.prepare('INSERT INTO meta(name, value) VALUES (?, ?)').run(metaNames.countedFrom, counts.countedFrom);
}

function dayCounters({ verdicts, values, others, delays }: LabelerDay, intern: Intern): DayCounters {
  const [applied, removed] = others;
  // Skip values with zero counts if `others` is zero. Otherwise the labeler may have reached its maximum number of
  // named values: keep the entries, so that no other value takes their place.
  const kept = values.filter(([, a, r]) => a + r > 0 || applied + removed > 0);
  return {
    verdicts: new Map(Object.entries(verdicts) as [SignatureVerdict, number][]),
    values: new Map(kept.map(([value, a, r]): [number, Events] => [intern('val', value), [a, r]])),
    others: [applied, removed],
    delays: new Map(delays),
  };
}
