import type { Database } from 'better-sqlite3';
import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import { type Edges, type Failover, firstColumns, lastColumns, metricColumn, type Silence } from './store-schema.ts';
import { type Interval, windowStart } from './window.ts';

/** The part of the window store that holds the silences, the counts from which they are found, and the failover. */
export interface SilenceStore {
  edges(series: number, startUs: number, collection: CollectionName): Edges;
  /** Returns the counts of one collection in those windows of the span that have events of any kind, in order. */
  countsOf(series: number, span: Interval, collection: CollectionName): { startUs: number; count: number }[];
  /** Returns the start of the last window before `beforeUs` with an event of the collection, or null if there is none. */
  lastEvent(series: number, beforeUs: number, collection: CollectionName): number | null;
  /** Returns the silences that overlap the span, sorted by start. */
  silences(series: number, span: Interval): Silence[];
  /**
   * Returns the silences that ended at or before `beforeUs` although no stored window from their end up to `beforeUs` has
   * an event of the collection. Their end is the end of an observation, not an event.
   */
  lastingSilences(series: number, beforeUs: number): Silence[];
  /** Replaces the stored silences that overlap the span, and those of the same collection and start as a new one. */
  keepSilences(series: number, span: Interval, silences: readonly Silence[]): void;
  /**
   * Returns, for each collection that earlier versions of the program did not count, the start of the first window in
   * which it is counted, in microseconds. Collections without an entry have been counted since the series began.
   */
  countedSince(series: number): ReadonlyMap<CollectionName, number>;
  /**
   * Returns true if a stored window of the series has an event of the collection, or if the collection has a stored
   * silence. A silence follows an event, whose window may have been deleted since.
   */
  hasEvents(series: number, collection: CollectionName): boolean;
  /** Deletes the silences that ended before `beforeUs`. */
  dropSilences(series: number, beforeUs: number): void;
  /** Returns the failover to this series of a second host, or null if there is none. */
  failover(series: number): Failover | null;
  keepFailover(series: number, failover: Failover | null): void;
}

/** Creates the part of the window store that holds the silences and the failover. */
export function silenceStore(db: Database): SilenceStore {
  const overlapping = db.prepare<[number, number, number], { place: number; from: number; to: number }>(
    `SELECT place, from_us AS "from", to_us AS "to" FROM silence
     WHERE series = ? AND from_us < ? AND to_us > ? ORDER BY from_us, place`,
  );
  const drop = db.prepare<[number, number, number]>(
    'DELETE FROM silence WHERE series = ? AND from_us < ? AND to_us > ?',
  );
  const add = db.prepare<[number, number, number, number]>('INSERT OR REPLACE INTO silence VALUES (?, ?, ?, ?)');
  const replace = db.transaction((series: number, { from, to }: Interval, silences: readonly Silence[]): void => {
    drop.run(series, to, from);
    for (const silence of silences)
      add.run(series, collectionNames.indexOf(silence.collection), silence.from, silence.to);
  });
  const since = db
    .prepare<[number], [number, number]>('SELECT place, since_us FROM counted_since WHERE series = ?')
    .raw();
  return {
    countedSince: (series) =>
      new Map(
        since.all(series).flatMap(([place, sinceUs]) => {
          const collection = collectionNames[place];
          return collection === undefined ? [] : [[collection, sinceUs] as const];
        }),
      ),
    hasEvents: (series, collection) => hasEvents(db, series, collection),
    edges: (series, startUs, collection) => {
      const place = collectionNames.indexOf(collection);
      const row = db
        .prepare<[number, number], { first: number; last: number }>(
          `SELECT ${firstColumns[place]} AS first, ${lastColumns[place]} AS last FROM window WHERE series = ? AND start_us = ?`,
        )
        .get(series, startUs);
      const at = (offset: number): number | null => (offset === 0 ? null : startUs + offset - 1);
      return { firstUs: at(row?.first ?? 0), lastUs: at(row?.last ?? 0) };
    },
    countsOf: (series, { from, to }, collection) =>
      db
        .prepare<[number, number, number], [number, number]>(
          `SELECT start_us, ${metricColumn(collection)} FROM window
           WHERE series = ? AND start_us >= ? AND start_us < ? ORDER BY start_us`,
        )
        .raw()
        .all(series, from, to)
        .map(([startUs, count]) => ({ startUs, count })),
    lastEvent: (series, beforeUs, collection) => lastEvent(db, series, beforeUs, collection),
    silences: (series, { from, to }) =>
      overlapping.all(series, to, from).flatMap(({ place, ...span }) => {
        const collection = collectionNames[place];
        return collection === undefined ? [] : [{ collection, ...span }];
      }),
    lastingSilences: lastingSilences(db),
    keepSilences: (series, span, silences) => replace.immediate(series, span, silences),
    dropSilences: (series, beforeUs) => {
      db.prepare<[number, number]>('DELETE FROM silence WHERE series = ? AND to_us <= ?').run(series, beforeUs);
    },
    ...failovers(db),
  };
}

function hasEvents(db: Database, series: number, collection: CollectionName): boolean {
  const found = db
    .prepare<[number, number, number]>(
      `SELECT 1 FROM window WHERE series = ? AND ${metricColumn(collection)} > 0
       UNION ALL SELECT 1 FROM silence WHERE series = ? AND place = ? LIMIT 1`,
    )
    .get(series, series, collectionNames.indexOf(collection));
  return found !== undefined;
}

function lastEvent(db: Database, series: number, beforeUs: number, collection: CollectionName): number | null {
  const found = db
    .prepare<[number, number], number>(
      `SELECT start_us FROM window WHERE series = ? AND start_us < ? AND ${metricColumn(collection)} > 0
       ORDER BY start_us DESC LIMIT 1`,
    )
    .pluck()
    .get(series, beforeUs);
  return found ?? null;
}

function lastingSilences(db: Database): SilenceStore['lastingSilences'] {
  const latest = db.prepare<[number, number, number], Interval>(
    `SELECT from_us AS "from", to_us AS "to" FROM silence
     WHERE series = ? AND place = ? AND from_us < ? ORDER BY from_us DESC LIMIT 1`,
  );
  return (series, beforeUs) =>
    collectionNames.flatMap((collection, place) => {
      const span = latest.get(series, place, beforeUs);
      if (!span || span.to > beforeUs) return [];
      const since = { from: windowStart(span.to), to: beforeUs };
      return hasEventsIn(db, series, since, collection) ? [] : [{ collection, ...span }];
    });
}

function hasEventsIn(db: Database, series: number, { from, to }: Interval, collection: CollectionName): boolean {
  const found = db
    .prepare<[number, number, number]>(
      `SELECT 1 FROM window WHERE series = ? AND start_us >= ? AND start_us < ? AND ${metricColumn(collection)} > 0 LIMIT 1`,
    )
    .get(series, from, to);
  return found !== undefined;
}

function failovers(db: Database): Pick<SilenceStore, 'failover' | 'keepFailover'> {
  return {
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
  };
}
