import type { Micros } from '../../contract/timestamp.ts';
import type { RefusedRows } from '../label.ts';
import type { Epoch, NewObservation, Position, RefusalReason, StoredGap } from '../port.ts';
import type { Definitions, DirectoryPosition, LabelerKey, RosterRow } from '../roster.ts';

/**
 * Data of a store copy, and its two endpoints: source and target. Both kinds of store implement both endpoints, so
 * that a store of either kind can be copied to either kind. Instruments and readers do not use the endpoints; they
 * use the port.
 */

/** A row with everything that the copy must preserve. The identity is computed from the content of the row. */
export interface CopiedRow {
  /** Acceptance time, in microseconds; preserved in the copy. */
  readonly at: number;
  readonly observation: NewObservation;
  readonly identity: Buffer;
}

/** A day of the source. */
export interface SourceDay {
  /** UTC day, as the number of days since 1970-01-01. */
  readonly day: number;
  /** Revision of the day, which increases when rows of the day are removed. Other changes only append rows. */
  readonly revision: number;
  /** True if rows of the day are being removed, so that its content and its counters may change. */
  readonly isChanging: boolean;
}

/** Snapshot of the state of the source. */
export interface SourceLook {
  readonly epoch: Epoch;
  readonly floor: Micros;
  /** Revision of the whole store; see `Frontier.revision`. */
  readonly revision: number;
  readonly heartbeat: Micros | null;
  /** Last assigned stamp, which may belong to a row that was removed. */
  readonly last: Micros | null;
  /** Time of the last accepted page, or null if no page was accepted. */
  readonly through: Micros | null;
  /** Days, oldest first. Rows are added only to the last day. */
  readonly days: readonly SourceDay[];
}

/** Number of a source's applications and removals in one minute or hour. */
export type TimeCount = readonly [at: number, source: string, applied: number, removed: number];

/** Counters of one labeler on one day. */
export interface LabelerDay {
  readonly labeler: string;
  /** Number of rows by verdict. */
  readonly verdicts: Readonly<Record<string, number>>;
  /**
   * Counts of the values that are counted by name, in any order. A count is zero if all rows of the value were removed.
   */
  readonly values: readonly (readonly [value: string, applied: number, removed: number])[];
  /** Total counts of all other values. */
  readonly others: readonly [applied: number, removed: number];
  /** Number of live rows by delay; `range` is an index of `delayBounds`, or the next index for longer delays. */
  readonly delays: readonly (readonly [range: number, rows: number])[];
}

/** Counters of one day. The order of the entries has no meaning. */
export interface DayCounts {
  readonly minutes: readonly TimeCount[];
  readonly hours: readonly TimeCount[];
  readonly refusals: readonly (readonly [hour: number, source: string, reason: RefusalReason, rows: number])[];
  readonly labelers: readonly LabelerDay[];
  /**
   * First stamp that `labelers` includes, or null if `labelers` includes all rows. Rows with an earlier stamp were
   * accepted by an earlier version of this program.
   */
  readonly countedFrom: number | null;
}

/** A request to remove all rows of a source, with its progress. */
export interface CopiedPurge {
  readonly source: string;
  readonly requestedAt: Micros;
  readonly completedAt: Micros | null;
  readonly removed: number;
  readonly nextDay: number;
}

/** All data of a store that does not belong to a day. */
export interface StoreContent {
  readonly positions: readonly Position[];
  readonly refusedRows: readonly RefusedRows[];
  readonly gaps: readonly StoredGap[];
  readonly roster: readonly RosterRow[];
  readonly keys: readonly LabelerKey[];
  /** Revisions of the definitions, in the order in which they were stored. */
  readonly definitions: readonly Definitions[];
  readonly notes: readonly (readonly [name: string, content: string])[];
  readonly dailyBytes: readonly (readonly [source: string, day: number, bytes: number])[];
  readonly directories: readonly DirectoryPosition[];
  readonly purges: readonly CopiedPurge[];
}

/** Receives a chunk of rows. The next chunk is passed after the returned promise resolves. */
export type EachChunk = (rows: readonly CopiedRow[]) => Promise<void>;

/** The store to be copied. The copy only reads it until `freeze`. Every error is a `StoreError`. */
export interface CopySource {
  /** Reads the current state of the source. */
  look(): Promise<SourceLook>;
  /** Returns the number of rows of a day according to its counters, or 0 if the day has expired. */
  rowsIn(day: number): Promise<number>;
  /**
   * Reads the rows of a day after a stamp, in stamp order. Checks each row as far as the store allows. Throws
   * `out_of_window` if the day has expired.
   */
  rows(day: number, after: number, each: EachChunk): Promise<void>;
  /** Reads the counters of a day. */
  counts(day: number): Promise<DayCounts>;
  /** Reads all data that does not belong to a day. */
  content(): Promise<StoreContent>;
  /** Takes the right to write, so that no instrument can write; returns false while another process has that right. */
  freeze(): Promise<boolean>;
  /** Records that the store has moved, so that no process can open it for writing. Must be called after `freeze`. */
  retire(): Promise<void>;
  /** Makes a retired store writable again; returns false if it is not retired. Must be called after `freeze`. */
  reopen(): Promise<boolean>;
  close(): Promise<void>;
}

/** Progress of the copy of a day. */
export interface DayProgress {
  readonly day: number;
  /** Revision that the day had in the source when the copy of the day began. */
  readonly revision: number;
  /** Stamp of the last copied row, or -1 if no row is copied yet. */
  readonly through: number;
  readonly rows: number;
  /** Digest of the copied rows, as they were read from the source. */
  readonly digest: string;
  /** True if the day is complete, was read back and compared, and cannot receive further rows. */
  readonly isVerified: boolean;
}

/**
 * The unfinished copy. Opening it as a store throws `unfinished_copy` until `complete` has resolved. Each change is one
 * durable commit, so that an interrupted copy can always be resumed.
 */
export interface CopyTarget {
  /** Returns the progress of every day whose copy has begun. */
  progress(): Promise<readonly DayProgress[]>;
  /** Starts the copy of a day from its first row, and removes rows of the day that a previous call copied. */
  beginDay(day: number, revision: number): Promise<void>;
  /** Adds rows and records the new progress in the same commit. */
  add(rows: readonly CopiedRow[], progress: DayProgress): Promise<void>;
  /** Creates the indexes of a day after most of its rows are stored. Idempotent. */
  index(day: number): Promise<void>;
  /** Reads the stored rows of a day after a stamp, in any order. Checks that each row matches its identity. */
  rows(day: number, after: number, each: EachChunk): Promise<void>;
  /** Replaces the counters of a day. */
  putCounts(day: number, counts: DayCounts): Promise<void>;
  /** Reads the stored counters of a day. */
  counts(day: number): Promise<DayCounts>;
  /** Records that a day is verified. */
  verified(progress: DayProgress): Promise<void>;
  /** Removes the copy of a day. */
  dropDay(day: number): Promise<void>;
  /** Stores all data that does not belong to a day, and turns the copy into a store. */
  complete(look: SourceLook, content: StoreContent): Promise<void>;
  close(): Promise<void>;
}
