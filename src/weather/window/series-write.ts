import type { Database } from 'better-sqlite3';
import { metricNames } from '../classify/metric-names.ts';
import type { End, Position } from '../position/position.ts';
import type { Interval } from './interval.ts';
import { firstColumns, lastColumns, metricColumn } from './store-schema.ts';
import { type Commit, trackRoles } from './stored.ts';
import type { WindowDelta } from './window.ts';

/**
 * Prepares the commit function of a database. A commit is one durable transaction that adds the results of the readers
 * and stores their positions. A repeated commit has no effect. The function throws if a commit does not follow the last
 * one.
 */
export function seriesCommit(db: Database, beforeCommit: () => void): (commit: Commit) => void {
  const addDelta = windowWriter(db);
  const addObserved = observedWriter(db);
  const place = trackWriter(db);
  const revisionOf = db.prepare<[number], number>('SELECT revision FROM series WHERE id = ?').pluck();
  const advance = db.prepare<[number]>('UPDATE series SET revision = revision + 1 WHERE id = ?');
  const apply = db.transaction(({ series, after, gains, live, backfill }: Commit): void => {
    const revision = revisionOf.get(series);
    if (revision === after + 1) return;
    if (revision !== after)
      throw new Error(`commit ${after + 1} does not follow the stored revision ${revision ?? '(none)'}`);
    for (const { windows, observed } of gains) {
      for (const delta of windows) addDelta(series, delta);
      for (const span of observed) addObserved(series, span);
    }
    place(series, trackRoles.live, live, null, 0);
    place(series, trackRoles.backfill, backfill?.position ?? null, backfill?.end ?? null, backfill?.bytes ?? 0);
    advance.run(series);
    beforeCommit();
  });
  return (commit) => apply.immediate(commit);
}

function windowWriter(db: Database): (series: number, delta: WindowDelta) => void {
  const metricList = metricNames.map(metricColumn);
  const edgeList = [...firstColumns, ...lastColumns];
  const addWindow = db.prepare<number[]>(
    `INSERT INTO window (series, start_us, events, late_or_repeat, malformed, flags, resync, left_out,
       ${[...metricList, ...edgeList].join(', ')})
     VALUES (${Array(8 + metricList.length + edgeList.length)
       .fill('?')
       .join(', ')})
     ON CONFLICT DO UPDATE SET events = events + excluded.events,
       late_or_repeat = late_or_repeat + excluded.late_or_repeat, malformed = malformed + excluded.malformed,
       flags = flags | excluded.flags, resync = resync + excluded.resync, left_out = left_out + excluded.left_out,
       ${metricList.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')},
       ${firstColumns.map((name) => `${name} = ${earlier(name)}`).join(', ')},
       ${lastColumns.map((name) => `${name} = max(${name}, excluded.${name})`).join(', ')}`,
  );
  return (series, { start, events, lateOrRepeat, malformed, flags, resync, leftOut, counts, firsts, lasts }) => {
    const edges = [...firsts, ...lasts];
    addWindow.run(series, start, events, lateOrRepeat, malformed, flags, resync, leftOut, ...counts, ...edges);
  };
}

/**
 * Returns the SQL expression for the earlier of a stored and a new first event. The value 0 means that there is no
 * event.
 */
function earlier(column: string): string {
  return `CASE WHEN ${column} = 0 OR (excluded.${column} > 0 AND excluded.${column} < ${column})
    THEN excluded.${column} ELSE ${column} END`;
}

function observedWriter(db: Database): (series: number, span: Interval) => void {
  // Stored spans are disjoint, so among the spans that begin earlier, only the last can touch a new span.
  const touching = db.prepare<[number, number, number, number, number], { from: number; to: number }>(
    `SELECT from_us AS "from", to_us AS "to" FROM observed WHERE series = ? AND to_us >= ? AND from_us <= ? AND from_us >=
       coalesce((SELECT max(from_us) FROM observed WHERE series = ? AND from_us <= ?), 0)`,
  );
  const dropSpan = db.prepare<[number, number]>('DELETE FROM observed WHERE series = ? AND from_us = ?');
  const addSpan = db.prepare<[number, number, number]>('INSERT INTO observed VALUES (?, ?, ?)');
  return (series, { from, to }) => {
    const near = touching.all(series, from, to, series, from);
    for (const span of near) dropSpan.run(series, span.from);
    const first = Math.min(from, ...near.map((span) => span.from));
    addSpan.run(series, first, Math.max(to, ...near.map((span) => span.to)));
  };
}

type PlaceTrack = (series: number, role: number, position: Position | null, end: End | null, bytes: number) => void;

function trackWriter(db: Database): PlaceTrack {
  const dropTrack = db.prepare<[number, number]>('DELETE FROM track WHERE series = ? AND role = ?');
  const setTrack = db.prepare<(number | null)[]>('INSERT OR REPLACE INTO track VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  return (series, role, position, end, bytes) => {
    if (!position) {
      dropTrack.run(series, role);
      return;
    }
    const { kind, value, counted, timeUs } = position;
    const endAt = end ? [end.seq, end.timeUs] : [null, null];
    setTrack.run(series, role, kind === 'seq' ? 1 : 0, value, counted, timeUs, ...endAt, bytes);
  };
}
