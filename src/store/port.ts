/**
 * The observation store: what was accepted, what was refused, and what could not be seen.
 *
 * How the label instrument uses it (one process, the only writer):
 *  1. Open. `epoch()` says what may be claimed; `heartbeat()` and `frontier()` say when the last run ended, and the
 *     instrument records the time since as a gap (`recordGap`) before it accepts anything.
 *  2. Read a source from its `positions()`. Admit or refuse each label (`unfit`, label.ts, names those that the store
 *     cannot hold); `append` the admitted ones together with the counts of the refused and the source's new position.
 *     A gap that a new position implies (a reset) is recorded BEFORE the position is appended: a crash between the
 *     two overstates the gap and never hides it.
 *  3. On an error with `retry`: stop reading, keep the batch, try it again later, and record the gap (on a full disk
 *     as soon as there is room): the identity rule makes a repeated append harmless. On `fatal`: stop the process.
 *  4. `beat` every 10 s. `maintain` every few minutes: it seals and expires days while labels are accepted. `purge` while it
 *     returns true: it removes what `requestPurge` asked for.
 *  5. The overview is `countsByLabeler` over the window, `refusals`, `coverage`, `gaps` and `frontier`.
 *
 * How the account surface uses it (another process, read-only, may be killed at any instant):
 *  1. `frontier()` gives the floor and the end of what can be asked; a query before the floor is refused.
 *  2. A page or an export is `readAccount` chunk by chunk, `next` of one being `after` of the following. An export
 *     is fixed by its `end` and by `revision`: rows accepted later lie beyond it, and removed ones end it. `scanAccount` (scan.ts) does this within a row budget.
 *  3. Beyond the bound, `accountIntervals` gives narrower intervals that each fit and together cover the asked one.
 *  4. `coverage` gives each labeler's gaps in the interval.
 *
 * Clock: every instant is the observed clock (local acceptance clock), in microseconds. Intervals are half open.
 * Errors: every method rejects with a `StoreError` (errors.ts) and nothing else, unless it says otherwise.
 */
import type { Micros } from '../contract/timestamp.ts';
import type { GapReason, TargetKind } from '../contract/vocabulary.ts';
import type { ReceivedLabel, SignatureVerdict } from './label.ts';
import type { Purge, PurgeWriter } from './removals.ts';
import type { DefinitionShares, Definitions, LabelerKey, RosterRow } from './roster.ts';
import type { Interval } from './time.ts';

/** Why a label was not stored. `duplicate` is found by the store alone. */
export const refusalReasons = [
  'foreign_src',
  'malformed',
  'oversized',
  'undated',
  'pre_epoch',
  'late',
  'future',
  'duplicate',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Most observations of one batch. */
export const maxBatchRows = 2_000;
/** Most bytes of labels of one batch (`labelBytes`): with the row bound it bounds what one commit can write. */
export const maxBatchBytes = 8 * 1024 * 1024;
/** Most rows of one chunk of `readAccount`. */
export const maxChunkRows = 500;
/** Most characters of a position's value. */
export const maxPositionLength = 4_096;
/** Minimum time for which an accepted label is known as a duplicate: 48 h of lateness and 300 s ahead. */
export const duplicateHorizon = (48 * 60 + 5) * 60_000_000;
/** Maximum lead of the next stamp over the caller's clock before `append` refuses: 5 s. */
export const maxStampAhead = 5_000_000;

/** A label that admission accepted. */
export interface NewObservation {
  readonly label: ReceivedLabel;
  readonly signature: SignatureVerdict;
}

/** Labels that admission refused. */
export interface Refusal {
  /** DID of the labeler that was read, whatever the label claimed. */
  readonly source: string;
  readonly reason: Exclude<RefusalReason, 'duplicate'>;
  readonly count: number;
}

/** A change of the resume position of a source and endpoint; a null `value` forgets it. Opaque to the store. */
export interface PositionChange {
  readonly source: string;
  readonly endpoint: string;
  readonly value: string | null;
}

/** A stored position and when it was last appended, moved or confirmed. */
export interface Position {
  readonly source: string;
  readonly endpoint: string;
  readonly value: string;
  readonly acceptedAt: Micros;
}

/** One or more accepted pages; may hold no observations (an empty poll, a confirmed tail). */
export interface Batch {
  /** The acceptance clock now. */
  readonly at: Micros;
  readonly observations: readonly NewObservation[];
  readonly refusals: readonly Refusal[];
  readonly positions: readonly PositionChange[];
}

/** Result of `append`. */
export interface AppendResult {
  readonly accepted: number;
  /** Indexes into `observations` of those that were known already (also from earlier in the batch). */
  readonly duplicates: readonly number[];
  /** Stamps of the first and last accepted row; null when none was. */
  readonly first: Micros | null;
  readonly last: Micros | null;
}

/** A stored observation: the label as received, with our clock. */
export interface Observation {
  /** Unique in the store: also the keyset cursor. */
  readonly observedAt: Micros;
  readonly label: ReceivedLabel;
  readonly signature: SignatureVerdict;
}

/** The epoch: made once with the store, never changed. Basis: local acceptance clock. */
export interface Epoch {
  /** UUID. */
  readonly generationId: string;
  readonly startedAt: Micros;
}

/** The bounds of what can be asked. */
export interface Frontier {
  readonly generationId: string;
  /** Queries may begin here: the epoch's start or the oldest retained day, whichever is later. */
  readonly floor: Micros;
  /** One microsecond after the last accepted observation, or `floor` when there is none. */
  readonly end: Micros;
  /** `at` of the last accepted batch; null before the first. */
  readonly observedThrough: Micros | null;
  /**
   * Rises before and after any stored row is removed at an operator's request (`purge`). What was read under one
   * revision must not be continued under another. Expiry at the floor does not change it.
   */
  readonly revision: number;
}

/** A stretch that was not observed. `source` null: nothing was, for every source (our own interruption). */
export interface StoredGap extends Interval {
  readonly source: string | null;
  readonly reason: GapReason;
}

/** A gap to record, or to take back. */
export interface GapChange {
  readonly kind: 'record' | 'withdraw';
  readonly gap: StoredGap;
}

/** Which of an account's rows are wanted: those that agree with every part that is given. */
export interface AccountFilter {
  /** DID of the labeler. */
  readonly labeler?: string;
  /** The label's value, exactly. */
  readonly value?: string;
  /** Removals (true) or applications (false). */
  readonly removed?: boolean;
  readonly target?: TargetKind;
}

/** One chunk of an account's rows. */
export interface AccountQuery extends Interval {
  /** DID of the account; labels of its records are its rows too. */
  readonly account: string;
  /** Order of acceptance: `oldest` first or `newest` first. */
  readonly order: 'oldest' | 'newest';
  /** `next` of the chunk before, exclusive; null for the first chunk. */
  readonly after: Micros | null;
  /** At most `maxChunkRows`. */
  readonly limit: number;
  /** Only these rows; absent for all. The store still passes by the others: see `tallyAccount`. */
  readonly filter?: AccountFilter;
  /**
   * Most rows to look at, at least 1, in the order `oldest` with a filter: a chunk may then be short, and `next` the place
   * that was reached, where a further row may or may not follow. Absent: as many as it takes.
   */
  readonly passes?: number;
}

/** A chunk; `next` is null when the interval holds no further row that is asked for. */
export interface AccountChunk {
  readonly rows: readonly Observation[];
  readonly next: Micros | null;
}

/** A part of an interval with the number of the account's rows in it. */
export interface AccountInterval extends Interval {
  readonly rows: number;
}

/** Applications and removals, in rows. */
export interface EventCount {
  readonly applied: number;
  readonly removed: number;
}

/** An account's rows of one UTC day's share of an interval. */
export interface DayCounts extends Readonly<Record<TargetKind, EventCount>> {
  /** All rows, whatever the filter. */
  readonly rows: number;
}

/** One UTC day's share of an interval; `counts` null: its rows were not counted. */
export interface AccountDay extends Interval {
  /** By what the rows are about: those that agree with the filter. */
  readonly counts: DayCounts | null;
}

/** An account's rows of an interval in numbers; where a day was not counted, no sum here holds it. */
export interface AccountTally {
  /** Every UTC day that the interval touches, oldest first. */
  readonly days: readonly AccountDay[];
  /** Rows by labeler, whatever the filter, most first (then by DID). */
  readonly labelers: readonly LabelerCount[];
  /** Values of the rows, whatever the filter, most first (then by text); at most `maxTallyValues`. */
  readonly values: readonly ({ readonly value: string } & EventCount)[];
}

/** Most values that a tally lists. */
export const maxTallyValues = 200;

/** Observed events of a labeler: `applied` were no negations, `removed` were. */
export interface LabelerCount extends EventCount {
  readonly labeler: string;
}

/** The same within one bucket of time. */
export interface BucketCount extends LabelerCount {
  /** Start of the bucket. */
  readonly start: Micros;
}

/** Number of refused labels of a source. */
export interface RefusalCount {
  readonly source: string;
  readonly reason: RefusalReason;
  readonly count: number;
}

/** Unobserved time of one labeler: its own gaps and our own interruptions, sorted, disjoint per reason. */
export interface LabelerCoverage {
  readonly labeler: string;
  readonly gaps: readonly StoredGap[];
  /** Microseconds of the interval that lie in at least one gap. */
  readonly gapped: number;
}

/** Result of `verify` for one day. */
export interface DayReport {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly sealed: boolean;
  /**
   * True if the day is sealed but has no checksums: an earlier version wrote it, and upkeep has not rewritten it yet.
   */
  readonly unverified: boolean;
  readonly rows: number;
  readonly problems: readonly string[];
}

/** Reading. Sees every `append` that returned before the call; never blocks the writer. */
export interface StoreReader {
  /** The epoch. */
  epoch(): Promise<Epoch>;
  /** The bounds of what can be asked now. */
  frontier(): Promise<Frontier>;

  /**
   * One chunk of an account's rows in the asked order. `out_of_window` when `start` lies before the floor, also
   * when a day expired meanwhile: never a page that silently lacks rows. Holds no transaction after it returned.
   */
  readAccount(query: AccountQuery): Promise<AccountChunk>;
  /**
   * The interval cut into parts of at most `maxRows` of the account's rows each: adjacent, in order, covering it
   * exactly. One part when all fit. `budget_exceeded` when more than `budget` rows would have to be counted.
   */
  accountIntervals(
    query: Interval & { readonly account: string; readonly maxRows: number; readonly budget: number },
  ): Promise<AccountInterval[]>;

  /**
   * An account's rows in numbers, exact for every day that is counted. Of an account with many rows a whole day's numbers
   * are kept, as a rule; all else is counted row by row, newest day first, `budget` rows at most: a day that would need
   * more is marked as not counted. `out_of_window` as for `readAccount`.
   */
  tallyAccount(
    query: Interval & { readonly account: string; readonly filter?: AccountFilter; readonly budget: number },
  ): Promise<AccountTally>;

  /**
   * A few accounts of which the newest closed day keeps numbers, though not very many, at most `limit`: for a program that
   * makes itself ready before anybody asks. None where there is no such day.
   */
  busyAccounts(limit: number): Promise<string[]>;

  /** Exact counts per labeler, most events first (then by DID); labelers without events are absent. */
  countsByLabeler(interval: Interval): Promise<LabelerCount[]>;
  /** Exact counts per labeler and whole `hour` or `minute`; the interval must begin and end on one. */
  countsOverTime(
    interval: Interval & { readonly bucket: 'hour' | 'minute'; readonly labeler?: string },
  ): Promise<BucketCount[]>;
  /** Number of distinct labelers with at least one observation in the interval. */
  labelersActive(interval: Interval): Promise<number>;
  /** Refused labels, by source and reason. Kept by the hour: an hour that the interval touches counts whole. */
  refusals(interval: Interval): Promise<RefusalCount[]>;
  /** Every position as of the last append. */
  positions(): Promise<Position[]>;

  /** Gaps that overlap the interval, clipped to it, sorted by start; of one source (with our own) or of all. */
  gaps(interval: Interval & { readonly source?: string }): Promise<StoredGap[]>;
  /** The gaps per labeler. */
  coverage(interval: Interval & { readonly labelers: readonly string[] }): Promise<LabelerCoverage[]>;

  /** Requested removals of rows, by request (then by DID). Those that were completed before the floor are forgotten. */
  purges(): Promise<Purge[]>;

  /** The last durable heartbeat; null before the first. */
  heartbeat(): Promise<Micros | null>;
  /** Every known labeler. */
  roster(): Promise<RosterRow[]>;
  /** The keys that a labeler was seen to sign with, oldest first. */
  keys(did: string): Promise<LabelerKey[]>;
  /** Revisions of a labeler's own label definitions, newest first. */
  definitions(did: string): Promise<Definitions[]>;
  /** A small text that the instrument keeps for itself; null when there is none. */
  note(name: string): Promise<string | null>;

  /**
   * Derives every counter again from the rows and compares; checks order, subjects, identities and the files
   * themselves. Yields one report a day, oldest first. Problems are reported, not thrown.
   */
  verify(): AsyncGenerator<DayReport>;
  /** Ends reading and releases every file. Idempotent. */
  close(): Promise<void>;
}

/** Result of `maintain`. */
export interface Maintenance {
  /** Days sealed in this run. */
  readonly sealed: readonly string[];
  /** Days that a stopped reader or a full disk kept from being sealed: the next run tries again. */
  readonly postponed: readonly string[];
  /** Days dropped in this run: at most one. */
  readonly expired: readonly string[];
}

/** The one writer. While it is open, opening another rejects with `second_writer`. */
export interface StoreWriter extends StoreReader, PurgeWriter {
  /**
   * Stores a batch whole or not at all, durably before it resolves: new observations, their counters, refusals and
   * positions in one commit of one file. Rows are stamped in order, from max(`at`, last stamp + 1), one microsecond
   * apart; a batch that would cross midnight is stamped from midnight on. A known label is not stored, is counted
   * as `duplicate` and is reported: repeating a batch after a crash or an error stores nothing twice.
   *
   * Rejects, with nothing stored: `wal_full`, `disk_full`, `clock_behind` (retry later), `invalid_observation`
   * (a label that is `unfit`, label.ts), `batch_too_large`, `damaged`.
   */
  append(batch: Batch): Promise<AppendResult>;

  /**
   * Records a gap durably. Overlapping and touching gaps of one source and reason become one, so an outage under way
   * is recorded again and again with a later end. Idempotent. A source keeps at most `maxGapsPerSource`: beyond it
   * the two nearest become one `unknown` gap, which overstates and never hides.
   */
  recordGap(gap: StoredGap): Promise<void>;
  /**
   * Takes back what was recorded of a gap of this source and reason within this interval: what was thought missed came
   * after all. What lies outside it stays, and so does what had become an `unknown` gap. Idempotent.
   */
  withdrawGap(gap: StoredGap): Promise<void>;
  /** Records and withdraws many gaps in their order, in one durable commit: all or nothing. */
  changeGaps(changes: readonly GapChange[]): Promise<void>;
  /** Durable proof that the writer lived at this instant. Never moves back. */
  beat(at: Micros): Promise<void>;
  /** Removes roster rows in one commit; missing rows are ignored. Never changes a position. */
  dropRoster(dids: readonly string[]): Promise<void>;
  /** Adds or replaces roster rows in one commit. Never touches a position. */
  putRoster(rows: readonly RosterRow[]): Promise<void>;
  /** Adds a key or moves its `lastSeen`. Idempotent. The newest `maxKeysPerLabeler` are kept. */
  putKey(key: LabelerKey): Promise<void>;
  /**
   * Adds a revision; false when the newest one has the same content. The newest `maxDefinitionRevisions` of a labeler are
   * kept, and of all labelers together as much as `maxDefinitionsInAll` allows. Beyond it the group of labelers (one owner's,
   * as far as `shares` tells) that takes most gives way: superseded revisions first, then newest ones, but never the newest
   * one of a protected labeler while an unprotected one has any.
   */
  putDefinitions(definitions: Definitions, shares?: DefinitionShares): Promise<boolean>;
  /** Keeps a small text (at most `maxNoteLength` characters) under a name; null forgets it. */
  putNote(name: string, text: string | null): Promise<void>;

  /**
   * Seals every day that can hold no more duplicates, drops at most one day that left the window plus one day, and gives
   * at most one sealed day of an earlier version its checksums.
   * Runs concurrently with `append`, which it blocks only for a rename. After a crash at any point the next
   * open or the next run. A second call while one runs joins it.
   */
  maintain(at: Micros): Promise<Maintenance>;
}
