import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { OperatorError, systemCode, systemWords } from '../../ops/errors.ts';
import { makeFolder } from '../../ops/folder.ts';
import { metricNames } from '../classify/metric-names.ts';
import type { Failover } from './failover-state.ts';
import type { Interval } from './interval.ts';
import type { End, Position } from './position.ts';
import { type SilenceStore, silenceStore } from './silence-store.ts';
import { storeFault } from './store-faults.ts';
import { ensureSchema, firstColumns, lastColumns, metricColumn } from './store-schema.ts';
import type { TrackGain } from './track.ts';
import { dayUs, type WindowDelta } from './window.ts';

/** The store's file in the data folder. */
export const storeFile = 'weather.sqlite';

/** Windows are kept this long: the reach of the baseline. */
export const keptDays = 45;

/** A backfill that has not come to its end yet. */
export interface StoredBackfill {
  readonly position: Position;
  readonly end: End;
  /** Bytes that it has read so far. */
  readonly bytes: number;
}

/** Stored positions of the readers of one host's series. */
export interface StoredSeries {
  readonly id: number;
  /** Commits so far: each commit names the one that it follows. */
  readonly revision: number;
  /** It has taken over from another series of its host, and is published since. */
  readonly tookOver: boolean;
  readonly live: Position | null;
  readonly backfill: StoredBackfill | null;
}

/** One commit: what the readers gained since revision `after`, and where they stand now. */
export interface Commit {
  readonly series: number;
  readonly after: number;
  readonly gains: readonly Pick<TrackGain, 'windows' | 'observed'>[];
  readonly live: Position | null;
  readonly backfill: StoredBackfill | null;
}

/** A stored window. */
export interface WindowRow {
  readonly startUs: number;
  readonly events: number;
  readonly lateOrRepeat: number;
  readonly malformed: number;
  readonly flags: number;
  readonly resync: number;
  readonly leftOut: number;
  /** By the columns that were asked for. */
  readonly counts: readonly number[];
}

/** The instrument's own small store. One process writes it; it is closed by `close`. */
export interface WindowStore extends Omit<SilenceStore, 'dropSilences'> {
  /** The series of a host; made at the first use. Two hosts never share one. */
  series(endpoint: string): StoredSeries;
  /** Whether there is a series of that name. */
  has(endpoint: string): boolean;
  /** The failover by which the series of a second host is published; null while it is not. */
  failover(series: number): Failover | null;
  keepFailover(series: number, failover: Failover | null): void;
  /** Notes that the series has taken over. */
  takeOver(series: number): void;
  /**
   * Adds what was gained and moves the positions, in one durable transaction. A commit that is already in the store
   * adds nothing. Throws when the store has gone on without it, and SQLite's errors (see `storeFault`).
   */
  commit(commit: Commit): void;
  /** Windows that start in the span, in order, with the named metrics. */
  windows(series: number, span: Interval, metrics: readonly string[]): WindowRow[];
  /** Observed spans that overlap the span, in order, disjoint, not clipped. */
  observed(series: number, span: Interval): Interval[];
  /** Events per observed second of the last minutes before the instant; null when nothing was watched. */
  recentRate(series: number, beforeUs: number): number | null;
  /** Drops what is older than the instant. */
  prune(series: number, beforeUs: number): void;
  /** Writes and takes back a few bytes: throws as `commit` would. */
  probe(): void;
  close(): void;
}

/** Seams for tests; nothing in production. */
export interface StoreFaults {
  /** Called within the transaction, before it is committed. */
  readonly beforeCommit?: () => void;
}

/**
 * Opens the store of a data folder, for this process alone. Throws OperatorError when the folder cannot be used, when
 * another process writes the store, and when the file is damaged.
 */
export function openWindowStore(folder: string, faults: StoreFaults = {}): WindowStore {
  const path = join(folder, storeFile);
  let db: Database | undefined;
  try {
    makeFolder(folder);
    db = new Sqlite(path, { timeout: 0 });
    // Held until the process ends, however it ends: the lock is the operating system's.
    db.pragma('locking_mode = EXCLUSIVE');
    const mode = db.pragma('journal_mode = WAL', { simple: true });
    if (mode !== 'wal') throw new OperatorError(`the weather store ${path} cannot use a write-ahead log here`);
    // A position must never be durable without its counts, and neither be lost after the artifact has told of them.
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

/** The error for a store that is not what was written. */
export function damaged(path: string, why: string): OperatorError {
  return new OperatorError(
    `the weather store ${path} is damaged (${why}); move it away to begin a new one, or restore a copy`,
  );
}

function openFault(error: unknown, path: string, folder: string): unknown {
  if (error instanceof OperatorError) return error;
  const why = error instanceof Error ? error.message : String(error);
  switch (storeFault(error)) {
    case 'busy':
      return new OperatorError(`another almanac weather writes to ${folder}; stop it, or choose another --data`);
    case 'damaged':
      return damaged(path, why);
    case 'full':
      return new OperatorError(`cannot write the weather store ${path}: ${why} (${systemCode(error)})`);
    default:
      return new OperatorError(
        `cannot use the data directory ${folder}: ${systemCode(error) === null ? why : systemWords(error)}`,
      );
  }
}

function wrap(db: Database, faults: StoreFaults): WindowStore {
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
  // Stored spans are disjoint: of those that begin earlier, only the last can touch a new one.
  const touching = db.prepare<[number, number, number, number, number], { from: number; to: number }>(
    `SELECT from_us AS "from", to_us AS "to" FROM observed WHERE series = ? AND to_us >= ? AND from_us <= ? AND from_us >=
       coalesce((SELECT max(from_us) FROM observed WHERE series = ? AND from_us <= ?), 0)`,
  );
  const dropSpan = db.prepare<[number, number]>('DELETE FROM observed WHERE series = ? AND from_us = ?');
  const addSpan = db.prepare<[number, number, number]>('INSERT INTO observed VALUES (?, ?, ?)');
  const revisionOf = db.prepare<[number], number>('SELECT revision FROM series WHERE id = ?').pluck();
  const { dropSilences, ...silences } = silenceStore(db);
  const advance = db.prepare<[number]>('UPDATE series SET revision = revision + 1 WHERE id = ?');
  const dropTrack = db.prepare<[number, number]>('DELETE FROM track WHERE series = ? AND role = ?');
  const setTrack = db.prepare<(number | null)[]>('INSERT OR REPLACE INTO track VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');

  const addDelta = (series: number, delta: WindowDelta): void => {
    const { start, events, lateOrRepeat, malformed, flags, resync, leftOut, counts, firsts, lasts } = delta;
    const edges = [...firsts, ...lasts];
    addWindow.run(series, start, events, lateOrRepeat, malformed, flags, resync, leftOut, ...counts, ...edges);
  };
  const addObserved = (series: number, { from, to }: Interval): void => {
    const near = touching.all(series, from, to, series, from);
    for (const span of near) dropSpan.run(series, span.from);
    const first = Math.min(from, ...near.map((span) => span.from));
    addSpan.run(series, first, Math.max(to, ...near.map((span) => span.to)));
  };
  const place = (series: number, role: number, position: Position | null, end: End | null, bytes: number): void => {
    if (!position) {
      dropTrack.run(series, role);
      return;
    }
    const { kind, value, counted, timeUs } = position;
    const endAt = end ? [end.seq, end.timeUs] : [null, null];
    setTrack.run(series, role, kind === 'seq' ? 1 : 0, value, counted, timeUs, ...endAt, bytes);
  };
  const apply = db.transaction(({ series, after, gains, live, backfill }: Commit): void => {
    const revision = revisionOf.get(series);
    if (revision === after + 1) return;
    if (revision !== after) throw new Error(`commit ${after + 1} does not follow the stored ${revision ?? 'none'}`);
    for (const { windows, observed } of gains) {
      for (const delta of windows) addDelta(series, delta);
      for (const span of observed) addObserved(series, span);
    }
    place(series, roles.live, live, null, 0);
    place(series, roles.backfill, backfill?.position ?? null, backfill?.end ?? null, backfill?.bytes ?? 0);
    advance.run(series);
    faults.beforeCommit?.();
  });
  return {
    commit: (commit) => apply.immediate(commit),
    probe: () => {
      db.transaction(() => {
        db.exec("INSERT INTO series (endpoint, revision) VALUES ('', 0); DELETE FROM series WHERE endpoint = ''");
        faults.beforeCommit?.();
      }).immediate();
    },
    prune: (series, beforeUs) => {
      db.transaction(() => {
        db.prepare<[number, number]>('DELETE FROM window WHERE series = ? AND start_us < ?').run(series, beforeUs);
        db.prepare<[number, number]>('DELETE FROM observed WHERE series = ? AND to_us <= ?').run(series, beforeUs);
        dropSilences(series, beforeUs);
      }).immediate();
    },
    takeOver: (series) => {
      db.prepare<[number]>('UPDATE series SET took_over = 1 WHERE id = ?').run(series);
    },
    failover: (series) => {
      const row = db
        .prepare<[number], { since_us: number; trouble_us: number; silent: number; unwell_us: number }>(
          'SELECT * FROM failover WHERE series = ?',
        )
        .get(series);
      if (!row) return null;
      const reason = row.silent === 1 ? 'silent' : 'unobserved';
      return { sinceUs: row.since_us, trouble: { reason, sinceUs: row.trouble_us }, unwellUs: row.unwell_us };
    },
    keepFailover: (series, failover) => {
      if (!failover) {
        db.prepare<[number]>('DELETE FROM failover WHERE series = ?').run(series);
        return;
      }
      const { sinceUs, trouble, unwellUs } = failover;
      const silent = trouble.reason === 'silent' ? 1 : 0;
      db.prepare<number[]>('INSERT OR REPLACE INTO failover VALUES (?, ?, ?, ?, ?)').run(
        ...[series, Math.floor(sinceUs), Math.floor(trouble.sinceUs), silent, Math.floor(unwellUs)],
      );
    },
    close: () => db.close(),
    ...readers(db),
    ...silences,
  };
}

/** The earlier of a stored first event and a new one; 0 stands for none. */
function earlier(column: string): string {
  return `CASE WHEN ${column} = 0 OR (excluded.${column} > 0 AND excluded.${column} < ${column})
    THEN excluded.${column} ELSE ${column} END`;
}

/** Readers of a series in `track`. */
const roles = { live: 0, backfill: 1 } as const;

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

/** Of a window, before the counts. */
const fixedColumns = ['start_us', 'events', 'late_or_repeat', 'malformed', 'flags', 'resync', 'left_out'];

function readers(db: Database): Pick<WindowStore, 'series' | 'has' | 'windows' | 'observed' | 'recentRate'> {
  const find = db.prepare<[string], { id: number; revision: number; took_over: number }>(
    'SELECT id, revision, took_over FROM series WHERE endpoint = ?',
  );
  const create = db.prepare<[string]>('INSERT OR IGNORE INTO series (endpoint, revision) VALUES (?, 0)');
  const tracks = db.prepare<[number], TrackRow>('SELECT * FROM track WHERE series = ?');
  const overlapping = db.prepare<[number, number, number, number, number], { from: number; to: number }>(
    `SELECT from_us AS "from", to_us AS "to" FROM observed WHERE series = ? AND from_us < ? AND to_us > ? AND from_us >=
       coalesce((SELECT max(from_us) FROM observed WHERE series = ? AND from_us <= ?), 0) ORDER BY from_us`,
  );
  const eventsIn = db
    .prepare<[number, number, number], number>(
      'SELECT coalesce(sum(events), 0) FROM window WHERE series = ? AND start_us >= ? AND start_us < ?',
    )
    .pluck();
  const observed = (series: number, { from, to }: Interval): Interval[] =>
    overlapping.all(series, to, from, series, from);
  return {
    observed,
    has: (endpoint) => find.get(endpoint) !== undefined,
    series: (endpoint) => {
      if (!find.get(endpoint)) create.run(endpoint);
      const row = find.get(endpoint);
      if (!row) throw new Error('a series that was just created does not exist');
      const rows = tracks.all(row.id);
      const live = rows.find(({ role }) => role === roles.live);
      const { id, revision } = row;
      return {
        id,
        revision,
        tookOver: row.took_over === 1,
        live: live ? position(live) : null,
        backfill: backfill(rows),
      };
    },
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
    recentRate: (series, beforeUs) => {
      const to = beforeUs - (beforeUs % 60_000_000) + 60_000_000;
      const span = { from: to - 300_000_000, to };
      const watched = observed(series, span).reduce(
        (sum, { from, to: until }) => sum + Math.min(until, span.to) - Math.max(from, span.from),
        0,
      );
      const events = eventsIn.get(series, span.from, span.to) ?? 0;
      return watched >= 5_000_000 && events > 0 ? events / (watched / 1_000_000) : null;
    },
  };
}

function position({ kind, value, counted, time_us: timeUs }: TrackRow): Position {
  return { kind: kind === 1 ? 'seq' : 'time', value, counted, timeUs };
}

function backfill(rows: readonly TrackRow[]): StoredBackfill | null {
  const row = rows.find(({ role }) => role === roles.backfill);
  if (!row || row.end_time_us === null) return null;
  return { position: position(row), end: { seq: row.end_seq, timeUs: row.end_time_us }, bytes: row.bytes };
}

/** Start of the retained history: earlier minutes are removed. */
export function keptFrom(nowUs: number): number {
  return nowUs - keptDays * dayUs;
}
