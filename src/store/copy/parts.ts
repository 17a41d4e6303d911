import type { Micros } from '../../contract/timestamp.ts';
import type { Epoch, NewObservation, Position, RefusalReason, StoredGap } from '../port.ts';
import type { RefusedRows } from '../refused-rows.ts';
import type { Definitions, DirectoryPosition, LabelerKey, RosterRow } from '../roster.ts';

/**
 * Parts of a copy of a store, and the two ends of the copy. Both kinds of store implement both ends, so that a store can
 * be copied in each direction. Nothing else uses these ends: an instrument and a reader use the port.
 */

/** A row with everything that the copy must contain. The identity is computed from the content of the row. */
export interface CopiedRow {
  /** Acceptance time, in microseconds; the copy has the same. */
  readonly at: number;
  readonly observation: NewObservation;
  readonly identity: Buffer;
}

/** A day of the source. */
export interface SourceDay {
  /** Number of the UTC day since 1970. */
  readonly day: number;
  /** Increases when rows of the day are removed. Other changes only append rows. */
  readonly revision: number;
  /** True if rows of the day are being removed, so that its content and its counters may change. */
  readonly isChanging: boolean;
}

/** State of the source at one instant. */
export interface SourceLook {
  readonly epoch: Epoch;
  readonly floor: Micros;
  /** Revision of the whole store, as `Frontier.revision`. */
  readonly revision: number;
  readonly heartbeat: Micros | null;
  /** Last assigned stamp, which may belong to a row that was removed. */
  readonly last: Micros | null;
  readonly through: Micros | null;
  /** Days, oldest first. Rows are only added to the last one. */
  readonly days: readonly SourceDay[];
}

/** Applications and removals of a source in one minute or hour. */
export type TimeCount = readonly [at: number, source: string, applied: number, removed: number];

/** Counters of one labeler in one day. */
export interface LabelerDay {
  readonly labeler: string;
  /** Number of rows by verdict. */
  readonly verdicts: Readonly<Record<string, number>>;
  /** Counts of the values that have an entry, in any order. An entry may be zero: its rows were removed. */
  readonly values: readonly (readonly [value: string, applied: number, removed: number])[];
  readonly others: readonly [applied: number, removed: number];
  readonly delays: readonly (readonly [range: number, rows: number])[];
}

/** Counters of one day, in any order. */
export interface DayCounts {
  readonly minutes: readonly TimeCount[];
  readonly hours: readonly TimeCount[];
  readonly refusals: readonly (readonly [hour: number, source: string, reason: RefusalReason, rows: number])[];
  readonly labelers: readonly LabelerDay[];
  /** Instant from which `labelers` count rows, if an earlier version accepted rows before it; otherwise null. */
  readonly countedFrom: number | null;
}

/** A requested removal of rows. */
export interface CopiedPurge {
  readonly source: string;
  readonly requestedAt: Micros;
  readonly completedAt: Micros | null;
  readonly removed: number;
  readonly nextDay: number;
}

/** Everything in a store that belongs to no day. */
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

/** Receives a chunk of rows; the next one follows when it resolves. */
export type EachChunk = (rows: readonly CopiedRow[]) => Promise<void>;

/** The store that is copied. It is only read until `freeze`. Every error is a `StoreError`. */
export interface CopySource {
  look(): Promise<SourceLook>;
  /** Returns the number of rows of a day according to its counters; 0 if the day has expired. */
  rowsIn(day: number): Promise<number>;
  /**
   * Reads the rows of a day after a stamp, in the order of their stamps. Each row is checked as far as its store allows.
   * Throws `out_of_window` if the day has expired.
   */
  rows(day: number, after: number, each: EachChunk): Promise<void>;
  counts(day: number): Promise<DayCounts>;
  /** Reads everything that belongs to no day. */
  content(): Promise<StoreContent>;
  /** Takes the right to write, which keeps every instrument from writing; false while another process has it. */
  freeze(): Promise<boolean>;
  /** Records that the store has moved: no process opens it for writing any more. Only after `freeze`. */
  retire(): Promise<void>;
  /** Makes a retired store usable again; false if it is not retired. Only after `freeze`. */
  reopen(): Promise<boolean>;
  close(): Promise<void>;
}

/** Progress of the copy of a day. */
export interface DayProgress {
  readonly day: number;
  /** Revision of the source's day when the copy of the day began. */
  readonly revision: number;
  /** Stamp of the last copied row; -1 before the first. */
  readonly through: number;
  readonly rows: number;
  /** Digest of the copied rows, as they were read from the source. */
  readonly digest: string;
  /** True if the day is complete, was read back, and can receive no further row. */
  readonly isVerified: boolean;
}

/**
 * The unfinished copy. Opening it as a store throws `unfinished_copy` until `complete` has resolved. Each change is one
 * durable commit, so that a copy continues after it was killed at any instant.
 */
export interface CopyTarget {
  progress(): Promise<readonly DayProgress[]>;
  /** Begins a day, and removes what was copied of it. */
  beginDay(day: number, revision: number): Promise<void>;
  /** Adds rows together with the progress that they make. */
  add(rows: readonly CopiedRow[], progress: DayProgress): Promise<void>;
  /** Creates the indexes of a day, once the bulk of its rows is stored. Idempotent. */
  index(day: number): Promise<void>;
  /** Reads the stored rows of a day after a stamp, in any order. Each row is checked against its identity. */
  rows(day: number, after: number, each: EachChunk): Promise<void>;
  /** Replaces the counters of a day. */
  putCounts(day: number, counts: DayCounts): Promise<void>;
  counts(day: number): Promise<DayCounts>;
  /** Records that a day is verified. */
  verified(progress: DayProgress): Promise<void>;
  dropDay(day: number): Promise<void>;
  /** Stores everything that belongs to no day, and makes the copy a store. */
  complete(look: SourceLook, content: StoreContent): Promise<void>;
  close(): Promise<void>;
}
