import type { Database } from 'better-sqlite3';
import type { Position } from '../position/position.ts';
import type { Interval } from './interval.ts';
import { metricColumn } from './store-schema.ts';
import { type HourSums, type StoredBackfill, type StoredSeries, trackRoles, type WindowRow } from './stored.ts';

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
