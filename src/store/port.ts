/**
 * The observation store: accepted labels, counts of refused labels, and gaps in the observation.
 *
 * Use by the label instrument (one process, the only writer):
 * 1. Open the store. `epoch()` gives the start of the observation; `heartbeat()` and `frontier()` show when the last
 *    run ended. The instrument records the time since then as a gap (`recordGap`) before it accepts anything.
 * 2. Read a source from its `positions()`. Admit or refuse each label (`unfit` in label.ts detects labels that the
 *    store cannot hold). `append` the admitted labels together with the counts of refused ones, the refused rows to
 *    remember, and the new position. If a new position implies a gap (a reset), record the gap BEFORE appending the
 *    position: a crash between the two then overstates the gap and never hides it.
 * 3. On an error with `retry`: stop reading, keep the batch, try again later, and record the gap (on a full disk, as
 *    soon as there is space). Label identities make a repeated append harmless. On `fatal`: stop the process.
 * 4. Call `beat` every 10 s, and `maintain` every few minutes: it seals and expires days while labels are accepted.
 *    Call `purge` until it returns false: it removes the rows for which `requestPurge` was called.
 * 5. Build the overview from `countsByLabeler` over the window, `refusals`, `coverage`, `gaps` and `frontier`.
 *
 * Use by the account surface (another process, read-only, may be killed at any time):
 * 1. `frontier()` gives the first and last instant that can be queried; a query before the floor is refused.
 * 2. A page or an export calls `readAccount` chunk by chunk; `next` of one chunk is `after` of the following one. An
 *    export is fixed by its `end` and `revision`: later rows are outside it, and a removal of rows ends it.
 * 3. If an interval has too many rows, `accountIntervals` splits it into parts that each fit.
 * 4. `coverage` gives each labeler's gaps in the interval.
 *
 * Clock: every instant is a time of the observed (local acceptance) clock, in microseconds. Intervals are half open.
 * Errors: every method rejects with a `StoreError` (errors.ts) and nothing else, unless documented otherwise.
 */
import type { Micros } from '../contract/timestamp.ts';
import type { GapReason, SignatureVerdict, TargetKind } from '../contract/vocabulary.ts';
import type { AccountTally, LabelerCount, LabelersCounters } from './counts.ts';
import type { ReceivedLabel, RefusedRows, RefusedRowsChange } from './label.ts';
import type { PurgeWriter, RemovalReader } from './removals.ts';
import type { DailyBytes, DefinitionShares, Definitions, DirectoryPosition, LabelerKey, RosterRow } from './roster.ts';
import type { Interval } from './time.ts';

/** Reasons why a label was not stored, in the order in which they are checked. Only the store detects `duplicate`. */
export const refusalReasons = [
  'foreign_src',
  'malformed',
  'oversized',
  'space_uri',
  'undated',
  'future',
  'pre_epoch',
  'late',
  'duplicate',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Maximum number of entries of each kind per batch: observations, positions, refusals or refused rows. */
export const maxBatchRows = 2_000;
/** Maximum number of bytes that a batch may write. Together with `maxBatchRows`, it bounds the writes of one commit. */
export const maxBatchBytes = 8 * 1024 * 1024;
/** Maximum number of rows per chunk of `readAccount`. */
export const maxChunkRows = 500;
/** Maximum total length of a position's source, endpoint and value, in characters. */
export const maxPositionLength = 4_096;
/** Minimum time in which duplicates are detected, in microseconds: 48 h of lateness and 300 s of clock difference. */
export const duplicateHorizon = (48 * 60 + 5) * 60_000_000;

/** A label that admission accepted, with the verdict on its signature. */
export interface NewObservation {
  readonly label: ReceivedLabel;
  readonly signature: SignatureVerdict;
  /** True if the label arrived when the labeler sent it, false or absent if it came from fill-in or a first read. */
  readonly live?: boolean;
}

/** Number of a source's labels that admission refused for one reason. */
export interface Refusal {
  /** DID of the labeler that was read, regardless of the label's `src`. */
  readonly source: string;
  readonly reason: Exclude<RefusalReason, 'duplicate'>;
  readonly count: number;
}

/** A new resume position of a source and endpoint; a null `value` removes it. The value is opaque to the store. */
export interface PositionChange {
  readonly source: string;
  readonly endpoint: string;
  readonly value: string | null;
  /** Time of the page, if a standby accepted it earlier; absent if it is the time of the batch. */
  readonly acceptedAt?: Micros;
}

/** A stored position, and the time at which it was last changed or confirmed. */
export interface Position extends PositionChange {
  readonly value: string;
  readonly acceptedAt: Micros;
}

/** Accepted pages, whose `observations` are empty if a poll found no new row; or only removals of positions. */
export interface Batch {
  /** Current time of the acceptance clock, in microseconds. */
  readonly at: Micros;
  readonly observations: readonly NewObservation[];
  readonly refusals: readonly Refusal[];
  readonly positions: readonly PositionChange[];
  /** Time of the newest page if a standby accepted the pages earlier, or null if it accepted none; absent for `at`. */
  readonly pagesAt?: Micros | null;
  /** Changes to the remembered refused rows; absent if there are no changes. */
  readonly refusedRows?: readonly RefusedRowsChange[];
}

/** Result of `append`. */
export interface AppendResult {
  readonly accepted: number;
  /** Indexes of the `observations` that were already stored or that repeat an earlier label of the batch. */
  readonly duplicates: readonly number[];
  /** Stamp of the first accepted row, or null if no row was accepted. */
  readonly first: Micros | null;
  /** Stamp of the last accepted row, or null if no row was accepted. */
  readonly last: Micros | null;
}

/** A stored observation: the label as received, with its acceptance time. */
export interface Observation {
  /** Acceptance time, unique in the store; also the keyset cursor. */
  readonly observedAt: Micros;
  readonly label: ReceivedLabel;
  readonly signature: SignatureVerdict;
}

/** Identity and start of the store's observation period; never changes after the store is created. */
export interface Epoch {
  readonly generationId: string;
  readonly startedAt: Micros;
}

/** Bounds of the time that can be queried. */
export interface Frontier {
  readonly generationId: string;
  /** Earliest start of a query: the epoch's start or the oldest retained day, whichever is later. */
  readonly floor: Micros;
  /** End of the queryable time: 1 µs after the last accepted observation; `floor` if the store is empty. */
  readonly end: Micros;
  /** Time of the last accepted page, or null before the first page. A removal of positions is not a page. */
  readonly observedThrough: Micros | null;
  /** Increases at purge requests, row removals and `endReads`, not at expiry. An increase invalidates earlier reads. */
  readonly revision: number;
  /** Time before which the server has all rows; set only if rows may be missing. A later query end throws `behind`. */
  readonly replicatedThrough?: Micros;
}

/** An interval in which one source was not observed, or the whole instrument if `source` is null. */
export interface StoredGap extends Interval {
  readonly source: string | null;
  readonly reason: GapReason;
}

/** A gap to be recorded or withdrawn. */
export interface GapChange {
  readonly kind: 'record' | 'withdraw';
  readonly gap: StoredGap;
  /** Maximum number of the source's gaps after this change, unless it had more before; default `maxGapsPerSource`. */
  readonly maxGaps?: number;
}

/** Filter of an account's rows; a row must match every given field. */
export interface AccountFilter {
  readonly labeler?: string;
  /** Exact label value. */
  readonly value?: string;
  /** True for removals only, false for applications only. */
  readonly removed?: boolean;
  readonly target?: TargetKind;
}

/** Query for one chunk of an account's rows. */
export interface AccountQuery extends Interval {
  /** DID of the account. Labels of its records are also its rows. */
  readonly account: string;
  /** Order of acceptance: `oldest` first or `newest` first. */
  readonly order: 'oldest' | 'newest';
  /** `next` of the previous chunk, exclusive, or null for the first chunk. */
  readonly after: Micros | null;
  /** Maximum number of rows in the chunk; 1 to `maxChunkRows`. */
  readonly limit: number;
  /** Filter of the rows; absent for all rows. The store must also read the rows that do not match. */
  readonly filter?: AccountFilter;
  /**
   * Maximum number of rows to read, at least 1; only for the order `oldest` with a filter. Absent for no limit. At the
   * limit, the chunk may be short, and `next` is the position reached, even if no further row matches.
   */
  readonly passes?: number;
  /** True to omit signatures and fields that the lexicon does not define, where this saves time. */
  readonly withoutBytes?: boolean;
}

/** One chunk of an account's rows; `next` is null if no matching row remains to be read. See also `passes`. */
export interface AccountChunk {
  readonly rows: readonly Observation[];
  readonly next: Micros | null;
}

/** A part of an interval, with the number of the account's rows in it. */
export interface AccountInterval extends Interval {
  readonly rows: number;
}

/** Number of a labeler's events within one time bucket. */
export interface BucketCount extends LabelerCount {
  readonly start: Micros;
}

/** Number of a source's refused labels, by reason. */
export interface RefusalCount {
  readonly source: string;
  readonly reason: RefusalReason;
  readonly count: number;
}

/** Unobserved time of one labeler: its gaps and the interruptions of the instrument. */
export interface LabelerCoverage {
  readonly labeler: string;
  /** Gaps sorted by start; gaps with the same source and reason do not overlap. */
  readonly gaps: readonly StoredGap[];
  /** Length of the unobserved part of the interval, in microseconds. */
  readonly gapped: number;
}

/** Result of `verify` for one day. */
export interface DayReport {
  /** UTC day, `YYYY-MM-DD`. */
  readonly day: string;
  readonly sealed: boolean;
  /** True if the day is sealed but has no checksums yet, because an earlier version wrote it. */
  readonly unverified: boolean;
  readonly rows: number;
  readonly problems: readonly string[];
}

/**
 * Read access to a store. A call returns the rows of every `append` that resolved before the call, and never blocks the
 * writer. A standby of a database throws `behind` if it has not yet received everything before the end of the interval.
 */
export interface StoreReader extends RemovalReader {
  epoch(): Promise<Epoch>;
  /** Returns the bounds of the time that can be queried now. */
  frontier(): Promise<Frontier>;

  /**
   * Reads one chunk of an account's rows in the requested order. Throws `out_of_window` if `start` is before the floor,
   * or if a day expired during the read, so that rows are never missing silently. No transaction remains open after the
   * call.
   */
  readAccount(query: AccountQuery): Promise<AccountChunk>;
  /**
   * Splits the interval into adjacent parts, in order, each with at most `maxRows` of the account's rows. Returns one
   * part if all rows fit. Throws `budget_exceeded` if this would require counting more than `budget` rows.
   */
  accountIntervals(
    query: Interval & { readonly account: string; readonly maxRows: number; readonly budget: number },
  ): Promise<AccountInterval[]>;

  /**
   * Counts an account's rows; the counts of every counted day are exact. For a hot account the store usually keeps
   * counts of whole days. Other days are counted row by row, newest first, up to `budget` rows; a day that exceeds the
   * budget is marked as not counted. Throws `out_of_window` like `readAccount`.
   */
  tallyAccount(
    query: Interval & { readonly account: string; readonly filter?: AccountFilter; readonly budget: number },
  ): Promise<AccountTally>;

  /** Returns up to `limit` hot accounts of the newest sealed day for warm-up, without those of over 1,000 groups. */
  busyAccounts(limit: number): Promise<string[]>;

  /** Returns exact counts per labeler, largest first, then by DID; omits labelers without events. */
  countsByLabeler(interval: Interval): Promise<LabelerCount[]>;
  /** Returns exact counts per labeler and whole `hour` or `minute`. The interval must consist of whole buckets. */
  countsOverTime(
    interval: Interval & { readonly bucket: 'hour' | 'minute'; readonly labeler?: string },
  ): Promise<BucketCount[]>;
  /** Returns the number of distinct labelers with at least one observation in the interval. */
  labelersActive(interval: Interval): Promise<number>;
  /**
   * Returns the counts of each labeler by verdict, by value and by delay. Every UTC day that overlaps the interval is
   * counted as a whole. Throws `out_of_window` like `readAccount`. The embedded store sums days in short steps, each in
   * a separate turn of the event loop, so that the result may include rows that were appended after the call.
   */
  labelerCounters(interval: Interval): Promise<LabelersCounters>;
  /** Returns the refused labels by source and reason. An hour that overlaps the interval is counted as a whole. */
  refusals(interval: Interval): Promise<RefusalCount[]>;
  /** Returns the resume positions of all sources and endpoints. */
  positions(): Promise<Position[]>;

  /**
   * Returns the gaps that overlap the interval, clipped to it and sorted by start. With `source`, returns the gaps of
   * that source and of the whole instrument; otherwise the gaps of all sources.
   */
  gaps(interval: Interval & { readonly source?: string }): Promise<StoredGap[]>;
  /** Returns the unobserved time of each given labeler in the interval. */
  coverage(interval: Interval & { readonly labelers: readonly string[] }): Promise<LabelerCoverage[]>;

  /** Returns the time of the last durable heartbeat, or null if none was stored. */
  heartbeat(): Promise<Micros | null>;
  /** Returns all known labelers, sorted by DID. */
  roster(): Promise<RosterRow[]>;
  /** Returns the stored keys of a labeler, sorted by `firstSeen`. */
  keys(did: string): Promise<LabelerKey[]>;
  /** Returns the stored revisions of a labeler's label definitions, newest first. */
  definitions(did: string): Promise<Definitions[]>;
  /** Returns the text that the instrument stored under this name, or null if there is none. */
  note(name: string): Promise<string | null>;

  /**
   * Recomputes every counter from the rows and compares it with the stored counter; checks the row order, subjects,
   * identities and the files themselves. Yields one report per day, oldest first, including damaged days.
   */
  verify(): AsyncGenerator<DayReport>;
  /** Stops all reads and closes every file. Idempotent. */
  close(): Promise<void>;
}

/** Result of `maintain`. */
export interface Maintenance {
  readonly sealed: readonly string[];
  /** Days that could not be sealed because of a stalled reader or a full disk; the next run tries again. */
  readonly postponed: readonly string[];
  /** Days that this run dropped: at most one. */
  readonly expired: readonly string[];
}

/** Write access to a store. While a writer is open, opening another writer throws `second_writer`. */
export interface StoreWriter extends StoreReader, PurgeWriter {
  /**
   * Stores a batch atomically and durably: new observations, their counters, refusals, positions and refused rows in
   * one commit of one file. Resolves after the commit. Stamps start at max(`at`, last stamp + 1), in order, one
   * microsecond apart; if a batch would cross midnight, all its rows get stamps after midnight. A label that is already
   * stored is not stored again but counted and reported as `duplicate`, so repeating a batch after a crash or an error
   * is harmless.
   *
   * Stores nothing if the call rejects with `wal_full`, `disk_full` or `clock_behind` (retry later),
   * `invalid_observation` (a label that is `unfit`, label.ts) or `batch_too_large`. After `unreachable`, the batch may
   * have been stored. Append the same observation and refusal objects again: a store that finds them stored by that call
   * does not count them again, and reports them as that call would have.
   */
  append(batch: Batch): Promise<AppendResult>;

  /**
   * Records a gap durably. Overlapping and touching gaps with the same source and reason are merged, so an ongoing
   * outage can be recorded repeatedly with a later end. Idempotent. Each source keeps at most `maxGapsPerSource` gaps;
   * beyond that number the two closest gaps become one `unknown` gap, which may overstate the missed time.
   */
  recordGap(gap: StoredGap): Promise<void>;
  /**
   * Removes an interval from the recorded gaps of a source and reason, because the missing labels have arrived.
   * `unknown` gaps stay. Idempotent.
   */
  withdrawGap(gap: StoredGap): Promise<void>;
  /** Records and withdraws many gaps in order, in one durable commit. */
  changeGaps(changes: readonly GapChange[]): Promise<void>;
  /**
   * Returns the refused rows as of the last commit, by source and bucket. The instrument loads them when it starts.
   * Refused rows are in the same file as their counts, because one commit must both count and remember a row.
   */
  refusedRows(): Promise<RefusedRows[]>;
  /** Stores a heartbeat, which proves that the writer was alive at `at`. The stored time never decreases. */
  beat(at: Micros): Promise<void>;
  /** Removes the roster rows, keys and definitions of labelers in one commit; ignores unknown DIDs. Keeps positions. */
  dropRoster(dids: readonly string[]): Promise<void>;
  /** Adds or replaces roster rows in one commit. Never changes a position. */
  putRoster(rows: readonly RosterRow[]): Promise<void>;
  /** Adds keys, or extends `firstSeen` and `lastSeen`. Keeps the `rosterLimits.keys` last seen keys per labeler. */
  putKeys(keys: readonly LabelerKey[]): Promise<void>;
  /**
   * Adds revisions of definitions in one commit. Returns one value per revision, in order: false if the labeler's
   * newest revision is equal. Keeps the newest `rosterLimits.revisions` of each labeler, and at most
   * `rosterLimits.definitionBytes` bytes in total. Above that limit, revisions are removed from the group with the largest
   * share; `shares` assigns labelers with the same owner to one group. Superseded revisions are removed first, then
   * newest ones, beginning with unprotected labelers.
   */
  putDefinitions(revisions: readonly Definitions[], shares?: DefinitionShares): Promise<readonly boolean[]>;
  /** Returns the number of bytes that each source added to a day; empty if the stored numbers belong to another day. */
  dailyBytes(day: number): Promise<DailyBytes>;
  /**
   * Stores the number of bytes that sources added to a day, and removes the numbers of other days. Sources that are not
   * listed keep their stored numbers.
   */
  putDailyBytes(bytes: DailyBytes): Promise<void>;
  /** Returns the position in the operation stream of a directory, or null if no position is stored. */
  directoryPosition(host: string): Promise<number | null>;
  /** Stores the position in a directory's operation stream, and removes the position of any other directory. */
  putDirectoryPosition(position: DirectoryPosition): Promise<void>;
  /** Stores a short text (at most `rosterLimits.noteLength` characters) under a name; null deletes it. */
  putNote(name: string, text: string | null): Promise<void>;

  /**
   * Seals every day that can no longer receive duplicates, drops at most one day that ended more than a day before the
   * window, and adds checksums to at most one sealed day that an earlier version wrote. Runs concurrently with
   * `append`, which it blocks only for a rename. After a crash, the next open or the next run completes the work. A
   * call during a run returns the result of that run.
   */
  maintain(at: Micros): Promise<Maintenance>;
  /** Rejects with `fenced` if another process has become the writer. Every change makes the same check. */
  assertWriter(): Promise<void>;
  /** Fencing tokens of this writer and of the previous one; absent if the store has no ordered tokens. */
  readonly tokens?: { readonly own: number; readonly former: number };
}
