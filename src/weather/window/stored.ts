import type { End, Position } from '../position/position.ts';
import type { TrackGain } from './track.ts';

/** Stored position of a backfill that has not reached its end. */
export interface StoredBackfill {
  readonly position: Position;
  readonly end: End;
  /** Number of bytes that the backfill has read. */
  readonly bytes: number;
}

/** Stored positions of the readers of one host's series. */
export interface StoredSeries {
  readonly id: number;
  /** Number of commits so far. Each commit names the revision that it follows. */
  readonly revision: number;
  /** True if the series has replaced another series of its host and has been published since. */
  readonly tookOver: boolean;
  readonly live: Position | null;
  readonly backfill: StoredBackfill | null;
}

/** One commit: the results of the readers since revision `after`, and their positions. */
export interface Commit {
  readonly series: number;
  readonly after: number;
  readonly gains: readonly Pick<TrackGain, 'windows' | 'observed'>[];
  readonly live: Position | null;
  readonly backfill: StoredBackfill | null;
}

/** One row of a stored window. */
export interface WindowRow {
  readonly startUs: number;
  readonly events: number;
  readonly lateOrRepeat: number;
  readonly malformed: number;
  readonly flags: number;
  readonly resync: number;
  readonly leftOut: number;
  /** Counts of the requested columns, in their order. */
  readonly counts: readonly number[];
}

/** Sums over the windows of one hour. */
export interface HourSums {
  readonly startUs: number;
  readonly events: number;
  /** Counts of the requested columns, in their order. */
  readonly counts: readonly number[];
}

/** Numbers that identify the readers of a series in the table `track`. */
export const trackRoles = { live: 0, backfill: 1 } as const;
