import type { End, Position } from './position.ts';
import type { TrackGain } from './track.ts';

/** A backfill that has not reached its end. */
export interface StoredBackfill {
  readonly position: Position;
  readonly end: End;
  /** Bytes that it has read so far. */
  readonly bytes: number;
}

/** Stored positions of the readers of one host's series. */
export interface StoredSeries {
  readonly id: number;
  /** Number of commits: each commit names the one that it follows. */
  readonly revision: number;
  /** True if it replaced another series of its host and is published since. */
  readonly tookOver: boolean;
  readonly live: Position | null;
  readonly backfill: StoredBackfill | null;
}

/** One commit: the gains of the readers since revision `after`, and their positions. */
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
  /** Counts of the requested columns, in their order. */
  readonly counts: readonly number[];
}

/** Numbers of the readers of a series in the table `track`. */
export const trackRoles = { live: 0, backfill: 1 } as const;
