import type { Database } from 'better-sqlite3';
import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import { firstColumns, lastColumns, metricColumn } from './store-schema.ts';
import type { Interval } from './window.ts';

/**
 * A span of the stream's clock in which a collection had no event while others continued. The collection counts as not
 * observed in this span.
 */
export interface Silence extends Interval {
  readonly collection: CollectionName;
}

/** Times of a collection's first and last event in a window, in microseconds of the stream's clock. */
export interface Edges {
  /** Time of the first event. Null if the window has no event, or was stored by an earlier version. */
  readonly firstUs: number | null;
  /** Time of the last event. Null under the same conditions as `firstUs`. */
  readonly lastUs: number | null;
}

/** The part of the window store that holds the silences, and the counts from which they are found. */
export interface SilenceStore {
  edges(series: number, startUs: number, collection: CollectionName): Edges;
  /** Returns the counts of one collection in those windows of the span that have events of any kind, in order. */
  countsOf(series: number, span: Interval, collection: CollectionName): { startUs: number; count: number }[];
  /** Returns the silences that overlap the span, sorted by start. */
  silences(series: number, span: Interval): Silence[];
  /** Replaces the stored silences that overlap the span. */
  keepSilences(series: number, span: Interval, silences: readonly Silence[]): void;
  /**
   * Returns, for each collection that earlier versions of the program did not count, the start of the first window in
   * which it is counted, in microseconds. Collections without an entry have been counted since the series began.
   */
  countedSince(series: number): ReadonlyMap<CollectionName, number>;
  /** Returns true if a stored window of the series has an event of the collection. */
  hasEvents(series: number, collection: CollectionName): boolean;
  /** Deletes the silences that ended before `beforeUs`. */
  dropSilences(series: number, beforeUs: number): void;
}

/** Creates the part of the window store that holds the silences. */
export function silenceStore(db: Database): SilenceStore {
  const overlapping = db.prepare<[number, number, number], { place: number; from: number; to: number }>(
    `SELECT place, from_us AS "from", to_us AS "to" FROM silence
     WHERE series = ? AND from_us < ? AND to_us > ? ORDER BY from_us, place`,
  );
  const drop = db.prepare<[number, number, number]>(
    'DELETE FROM silence WHERE series = ? AND from_us < ? AND to_us > ?',
  );
  const add = db.prepare<[number, number, number, number]>('INSERT INTO silence VALUES (?, ?, ?, ?)');
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
    hasEvents: (series, collection) =>
      db
        .prepare<[number]>(`SELECT 1 FROM window WHERE series = ? AND ${metricColumn(collection)} > 0 LIMIT 1`)
        .get(series) !== undefined,
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
    silences: (series, { from, to }) =>
      overlapping.all(series, to, from).flatMap(({ place, ...span }) => {
        const collection = collectionNames[place];
        return collection === undefined ? [] : [{ collection, ...span }];
      }),
    keepSilences: (series, span, silences) => replace.immediate(series, span, silences),
    dropSilences: (series, beforeUs) => {
      db.prepare<[number, number]>('DELETE FROM silence WHERE series = ? AND to_us <= ?').run(series, beforeUs);
    },
  };
}

/** Reason why a series is unreliable, and the start of its unreliable time, in microseconds. */
export interface Trouble {
  readonly reason: 'unobserved' | 'silent';
  readonly sinceUs: number;
}

/**
 * State while the second host is published: the start of the failover in microseconds, and the trouble that caused it.
 */
export interface Failover {
  readonly sinceUs: number;
  /** Trouble of the first host at the start of the failover. */
  readonly trouble: Trouble;
  /** Last time at which the first host was in trouble, in microseconds. */
  readonly unwellUs: number;
}
