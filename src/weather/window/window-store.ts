import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import Sqlite from 'better-sqlite3';
import { makeFolder, OperatorError, systemCode, systemWords } from '../../ops/errors.ts';
import { metricNames } from '../classify/metric-names.ts';
import type { End, Position } from '../position/position.ts';

import { type SilenceStore, silenceStore } from './silence-store.ts';
import {
  type Commit,
  ensureSchema,
  firstColumns,
  type HourSums,
  lastColumns,
  metricColumn,
  type StoredBackfill,
  type StoredSeries,
  storeFault,
} from './store-schema.ts';
import { dayUs, hourUs, type Interval, type WindowDelta, type WindowRow, windowFlag, windowUs } from './window.ts';

/** Numbers that identify the readers of a series in the table `track`. */
const trackRoles = { live: 0, backfill: 1 } as const;

/** Name of the store's file in the data directory. */
export const storeFile = 'weather.sqlite';

/** Number of days for which windows are retained, which is the length of the baseline. */
export const keptDays = 45;

/** The store of the weather instrument. Only one process writes the store, and closes it with `close`. */
export interface WindowStore extends SeriesReads, Omit<SilenceStore, 'dropSilences'> {
  /** Records that the series replaced another one. */
  takeOver(series: number): void;
  /**
   * Adds the results of the readers and stores their positions, in one durable transaction. A repeated commit has no
   * effect. Throws if the commit does not follow the last one. Passes on SQLite's errors (see `storeFault`).
   */
  commit(commit: Commit): void;
  /**
   * Removes windows, observed time and silences that are older than `beforeUs`. A window that contains `beforeUs` is
   * removed with its observed time.
   */
  prune(series: number, beforeUs: number): void;
  /** Tests the store with a small write. Throws the same errors as `commit`. */
  probe(): void;
  close(): void;
}

/** Hooks that inject faults in tests. */
export interface StoreFaults {
  /** Called within the transaction, before it is committed. */
  readonly beforeCommit?: () => void;
}

/**
 * Opens the store of a data directory for exclusive use by this process. Throws OperatorError if the directory cannot
 * be used, another process is writing the store, or the file is damaged.
 */
export function openWindowStore(folder: string, faults: StoreFaults = {}): WindowStore {
  const path = join(folder, storeFile);
  let db: Database | undefined;
  try {
    makeFolder(folder);
    db = new Sqlite(path, { timeout: 0 });
    // The operating system holds the lock until the process ends, even if the process is killed.
    db.pragma('locking_mode = EXCLUSIVE');
    const mode = db.pragma('journal_mode = WAL', { simple: true });
    if (mode !== 'wal')
      throw new OperatorError(
        `the weather store ${path} cannot use a write-ahead log in its directory; choose a directory on a local file system with --data`,
      );
    // Flush every commit to disk: a position must never be durable without its counts, and both must be durable before
    // the artifact reports them.
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    ensureSchema(db, path);
    db.exec('BEGIN IMMEDIATE; COMMIT');
    const sound = db.pragma('quick_check(1)', { simple: true });
    if (sound !== 'ok') throw damaged(path, String(sound));
    return wrap(db, faults);
  } catch (error) {
    db?.close();
    throw openFault(error, path, folder);
  }
}

/** Creates the error for a store whose content differs from what was written. */
export function damaged(path: string, why: string): OperatorError {
  return new OperatorError(
    `the weather store ${path} is damaged (${why}); move it aside to create a new one, or restore a copy`,
  );
}

function openFault(error: unknown, path: string, folder: string): unknown {
  if (error instanceof OperatorError) return error;
  const why = error instanceof Error ? error.message : String(error);
  switch (storeFault(error)) {
    case 'busy':
      return new OperatorError(
        `another almanac weather process writes to ${folder}; stop it, or choose another directory with --data`,
      );
    case 'damaged':
      return damaged(path, why);
    case 'unexpected':
      return new OperatorError(
        `cannot use the weather store ${path}: ${why} (${systemCode(error)}); keep the file, and report this line`,
      );
    case 'full':
      return new OperatorError(`cannot write the weather store ${path}: ${why} (${systemCode(error)})`);
    default:
      return new OperatorError(
        `cannot use the data directory ${folder}: ${systemCode(error) === null ? why : systemWords(error)}`,
      );
  }
}

function wrap(db: Database, { beforeCommit = () => undefined }: StoreFaults): WindowStore {
  const { dropSilences, ...silences } = silenceStore(db);
  return {
    commit: seriesCommit(db, beforeCommit),
    probe: () => {
      db.transaction(() => {
        db.exec("INSERT INTO series (endpoint, revision) VALUES ('', 0); DELETE FROM series WHERE endpoint = ''");
        beforeCommit();
      }).immediate();
    },
    prune: (series, beforeUs) => {
      db.transaction(() => {
        db.prepare<[number, number]>('DELETE FROM window WHERE series = ? AND start_us < ?').run(series, beforeUs);
        // Observed time without its window would count as observed zeros.
        const keptUs = Math.ceil(beforeUs / windowUs) * windowUs;
        db.prepare<[number, number]>('DELETE FROM observed WHERE series = ? AND to_us <= ?').run(series, keptUs);
        db.prepare<[number, number, number]>('UPDATE observed SET from_us = ? WHERE series = ? AND from_us < ?').run(
          keptUs,
          series,
          keptUs,
        );
        dropSilences(series, beforeUs);
      }).immediate();
    },
    takeOver: (series) => {
      db.prepare<[number]>('UPDATE series SET took_over = 1 WHERE id = ?').run(series);
    },
    close: () => db.close(),
    ...seriesReads(db),
    ...silences,
  };
}

/**
 * Returns the start of the retained history of a series, whose last event has the time `streamUs`. Earlier minutes are
 * removed. If this machine's clock is wrongly ahead, the last event limits the removal. If a host sends times in the
 * future, the clock limits it. A host that is gone keeps the days before its last event, which do not grow.
 */
export function keptFrom(nowUs: number, streamUs: number): number {
  return Math.min(nowUs, streamUs) - keptDays * dayUs;
}

/** Read operations of the window store. */
interface SeriesReads {
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
const rateSpanUs = 300_000_000;
/** Minimum observed time from which the recent rate of a stream is computed, in microseconds. */
const minObservedUs = 5_000_000;

/** Prepares the statements that read a database. */
function seriesReads(db: Database): SeriesReads {
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
          `SELECT start_us / ${hourUs}, sum(events), max(flags & ${windowFlag.compacted})${sums} FROM window
           WHERE series = ? AND start_us >= ? AND start_us < ? GROUP BY 1 ORDER BY 1`,
        )
        .raw()
        .all(series, from, to);
      return rows.map(([hour = 0, events = 0, compacted = 0, ...counts]) => {
        return { startUs: hour * hourUs, events, isCompacted: compacted > 0, counts };
      });
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
function seriesCommit(db: Database, beforeCommit: () => void): (commit: Commit) => void {
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
