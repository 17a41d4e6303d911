import type { Database } from 'better-sqlite3';
import { metricNames } from '../classify/metric-names.ts';
import type { End, Position } from '../position/position.ts';
import type { Interval } from './interval.ts';
import {
  type Commit,
  firstColumns,
  type HourSums,
  lastColumns,
  metricColumn,
  type StoredBackfill,
  type StoredSeries,
  trackRoles,
  type WindowRow,
} from './store-schema.ts';
import type { WindowDelta } from './window.ts';

/** Read operations of the window store. */
export interface SeriesReads {
  /** Returns the series of a host, creating it on first use. Two hosts never share a series. */
  series(endpoint: string): StoredSeries;
  /** Returns true if the series of an endpoint exists. */
  has(endpoint: string): boolean;
  /** Returns the windows that start in the span, in order, with the named metrics. */
  windows(series: number, span: Interval, metrics: readonly string[]): WindowRow[];
  /** Returns the sums of the hours that have windows in the span, in order, with the named metrics. */
  hourSums(series: number, span: Interval, metrics: readonly string[]): HourSums[];
  /** Returns the observed spans that overlap the given span, in order and disjoint, but not clipped to it. */
  observed(series: number, span: Interval): Interval[];
  /** Returns the start of the first observed span, in microseconds, or null if nothing was observed. */
  observedSince(series: number): number | null;
  /**
   * Returns the number of events per observed second in the five minutes up to the end of the minute that contains
   * `beforeUs`, or null if too little of them was observed or no event was counted.
   */
  recentRate(series: number, beforeUs: number): number | null;
}

interface TrackRow {
  readonly role: number;
  readonly kind: number;
  readonly value: number;
  readonly counted: number;
  readonly time_us: number;
  readonly end_seq: number | null;
  readonly end_time_us: number | null;
  readonly bytes: number;
}

/** Columns of a window row that precede the counts. */
const fixedColumns = ['start_us', 'events', 'late_or_repeat', 'malformed', 'flags', 'resync', 'left_out'];
const hourUs = 3_600_000_000;
const rateSpanUs = 300_000_000;
/** Minimum observed time that is needed to compute a rate, in microseconds. */
const minObservedUs = 5_000_000;

/** Prepares the statements that read a database. */
export function seriesReads(db: Database): SeriesReads {
  const observed = observedReader(db);
  const eventsIn = db
    .prepare<[number, number, number], number>(
      'SELECT coalesce(sum(events), 0) FROM window WHERE series = ? AND start_us >= ? AND start_us < ?',
    )
    .pluck();
  const since = db.prepare<[number], number | null>('SELECT min(from_us) FROM observed WHERE series = ?').pluck();
  return {
    ...seriesReader(db),
    observed,
    observedSince: (series) => since.get(series) ?? null,
    windows: (series, { from, to }, metrics) => {
      const columns = [...fixedColumns, ...metrics.map(metricColumn)];
      const rows = db
        .prepare<[number, number, number], number[]>(
          `SELECT ${columns.join(', ')} FROM window WHERE series = ? AND start_us >= ? AND start_us < ? ORDER BY start_us`,
        )
        .raw()
        .all(series, from, to);
      return rows.map(
        ([startUs = 0, events = 0, lateOrRepeat = 0, malformed = 0, flags = 0, resync = 0, leftOut = 0, ...counts]) => {
          return { startUs, events, lateOrRepeat, malformed, flags, resync, leftOut, counts };
        },
      );
    },
    hourSums: (series, { from, to }, metrics) => {
      const sums = metrics.map((metric) => `, sum(${metricColumn(metric)})`).join('');
      const rows = db
        .prepare<[number, number, number], number[]>(
          `SELECT start_us / ${hourUs}, sum(events)${sums} FROM window
           WHERE series = ? AND start_us >= ? AND start_us < ? GROUP BY 1 ORDER BY 1`,
        )
        .raw()
        .all(series, from, to);
      return rows.map(([hour = 0, events = 0, ...counts]) => ({ startUs: hour * hourUs, events, counts }));
    },
    recentRate: (series, beforeUs) => {
      const to = beforeUs - (beforeUs % 60_000_000) + 60_000_000;
      const span = { from: to - rateSpanUs, to };
      const observedUs = observed(series, span).reduce(
        (sum, { from, to: until }) => sum + Math.min(until, span.to) - Math.max(from, span.from),
        0,
      );
      const events = eventsIn.get(series, span.from, span.to) ?? 0;
      return observedUs >= minObservedUs && events > 0 ? events / (observedUs / 1_000_000) : null;
    },
  };
}

function seriesReader(db: Database): Pick<SeriesReads, 'series' | 'has'> {
  const find = db.prepare<[string], { id: number; revision: number; took_over: number }>(
    'SELECT id, revision, took_over FROM series WHERE endpoint = ?',
  );
  const create = db.prepare<[string]>('INSERT OR IGNORE INTO series (endpoint, revision) VALUES (?, 0)');
  const tracks = db.prepare<[number], TrackRow>('SELECT * FROM track WHERE series = ?');
  return {
    has: (endpoint) => find.get(endpoint) !== undefined,
    series: (endpoint) => {
      if (!find.get(endpoint)) create.run(endpoint);
      const row = find.get(endpoint);
      if (!row) throw new Error('a newly created series does not exist');
      const { id, revision } = row;
      const rows = tracks.all(id);
      const live = rows.find(({ role }) => role === trackRoles.live);
      return {
        id,
        revision,
        tookOver: row.took_over === 1,
        live: live ? position(live) : null,
        backfill: backfill(rows),
      };
    },
  };
}

function observedReader(db: Database): SeriesReads['observed'] {
  const overlapping = db.prepare<[number, number, number, number, number], { from: number; to: number }>(
    `SELECT from_us AS "from", to_us AS "to" FROM observed WHERE series = ? AND from_us < ? AND to_us > ? AND from_us >=
       coalesce((SELECT max(from_us) FROM observed WHERE series = ? AND from_us <= ?), 0) ORDER BY from_us`,
  );
  return (series, { from, to }) => overlapping.all(series, to, from, series, from);
}

function position({ kind, value, counted, time_us: timeUs }: TrackRow): Position {
  return { kind: kind === 1 ? 'seq' : 'time', value, counted, timeUs };
}

function backfill(rows: readonly TrackRow[]): StoredBackfill | null {
  const row = rows.find(({ role }) => role === trackRoles.backfill);
  if (!row || row.end_time_us === null) return null;
  return { position: position(row), end: { seq: row.end_seq, timeUs: row.end_time_us }, bytes: row.bytes };
}

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
