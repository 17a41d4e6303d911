import type { Micros } from '../contract/timestamp.ts';
import { micros } from './time.ts';

/** A request to remove every row of a source, and its progress. */
export interface Purge {
  readonly source: string;
  readonly requestedAt: Micros;
  /** Time at which the removal was completed, or null while rows may remain. */
  readonly completedAt: Micros | null;
  /** Number of rows that the purge has removed; a lower bound after a crash. */
  readonly rows: number;
  /**
   * Number of stored days from the first unprocessed one onwards. After a damaged day was skipped, this includes later
   * days that are already processed.
   */
  readonly daysLeft: number;
}

/**
 * Removal of rows about addresses inside spaces, which earlier versions accepted and admission now refuses. It runs
 * once, in a store that such a version wrote.
 */
export interface SpaceRemoval {
  /** Number of removed rows; a lower bound if the file of a day could not be read. */
  readonly rows: number;
  /**
   * Time at which the removal was completed, or null while rows may remain, including rows of a day that could not be
   * read.
   */
  readonly completedAt: Micros | null;
}

/** Methods of the reader that report which rows were removed. */
export interface RemovalReader {
  /** Returns the requested purges, by request time, then by DID. Omits purges that were completed before the floor. */
  purges(): Promise<Purge[]>;
  /** Returns the removal of rows about spaces, or null if it removed no row or was completed before the floor. */
  spaceRemoval(): Promise<SpaceRemoval | null>;
}

/** Methods of the writer that remove rows on request. */
export interface PurgeWriter {
  /**
   * Durably requests the removal of every row of a source; `purge` removes the rows. The same commit records the
   * retained time before `at`, and up to the last row in the store, as a `maintenance` gap of the source, because removed
   * rows no longer count as observed: rows may have been accepted after `at`, until the request reached the store.
   * Returns false without a change if `at` is not after the floor, or if a request with the same or a later time
   * exists. The caller must not append rows of the source until the request is completed; otherwise it is undefined
   * whether those rows are removed.
   */
  requestPurge(request: { readonly source: string; readonly at: Micros }): Promise<boolean>;
  /**
   * Processes the next day of the oldest request, or of the removal of rows about spaces: removes the rows with their
   * counters, group counts, identities, refusals and all other data derived from them. If a sealed day of the embedded
   * store is damaged, the removal reports and skips it, stays incomplete, and tries again after the next open. Positions
   * stay, so that reading can resume; the last stamp stays, so that no stamp is assigned twice. A sealed day is replaced
   * as a whole.
   * An open day is changed in bounded commits, each of which keeps counters and rows consistent. During the removal,
   * `append` continues and `maintain` waits. Returns true while work remains other than skipped days. After a crash, the
   * first call after the next open resumes the removal.
   *
   * Rejects with `disk_full`, `wal_full` or `busy`, after which the call can be repeated later, and with `closed` if
   * the store is closed during the call.
   */
  purge(at: Micros): Promise<boolean>;
  /**
   * Invalidates all earlier reads, because the store may have lost rows that these reads returned. `revision` is the
   * highest revision that a reader may have seen, even if the store has lost that revision.
   */
  endReads(revision: number): Promise<void>;
}

/** Removed rows, as pages and APIs describe them. Completed requests that removed no rows are excluded. */
export interface Removals {
  /** Completed requests: number of labelers and time of the last removal, or null if no request is completed. */
  readonly purged: { readonly labelers: number; readonly last: Micros } | null;
  /** Pending requests: number of labelers and time of the first request, or null if no request is pending. */
  readonly pending: { readonly labelers: number; readonly since: Micros } | null;
  readonly spaces: SpaceRemoval | null;
}

/** Summarizes requests to remove rows. */
function summarizePurges(purges: readonly Purge[]): Omit<Removals, 'spaces'> {
  const pending = purges.filter(({ completedAt }) => completedAt === null);
  const removed = purges.flatMap(({ completedAt, rows }) => (completedAt !== null && rows > 0 ? [completedAt] : []));
  return {
    purged: removed.length === 0 ? null : { labelers: removed.length, last: micros(Math.max(...removed)) },
    pending:
      pending.length === 0
        ? null
        : { labelers: pending.length, since: micros(Math.min(...pending.map(({ requestedAt }) => requestedAt))) },
  };
}

/** Reads which rows were removed from a store. */
export async function readRemovals(store: RemovalReader): Promise<Removals> {
  const [purges, spaces] = await Promise.all([store.purges(), store.spaceRemoval()]);
  return { ...summarizePurges(purges), spaces };
}

/**
 * Returns the sentences that every API shows about removals at the operator's request: the number of labelers whose
 * rows were removed, with the day of the last removal, and the number of labelers whose rows are being removed.
 * Completed requests that removed no rows are excluded. Returns null if no request remains.
 */
export function removalSentence(purges: readonly Purge[]): string | null {
  const { purged, pending } = summarizePurges(purges);
  const parts: string[] = [];
  if (purged) {
    parts.push(
      `Rows of ${labelers(purged.labelers)} were removed at the operator's request, the last on ${dateOf(purged.last)}.`,
    );
  }
  if (pending) {
    parts.push(
      `Rows of ${labelers(pending.labelers)} are being removed at the operator's request (since ${dateOf(pending.since)}).`,
    );
  }
  return parts.length === 0 ? null : parts.join(' ');
}

/** Returns the sentence about removed rows whose subject is inside a space, or null if no row was removed. */
export function spaceRemovalSentence(removal: SpaceRemoval | null): string | null {
  if (removal === null) return null;
  const { rows, completedAt } = removal;
  const what = rows === 1 ? '1 label on a subject' : `${rows} labels on subjects`;
  const when = completedAt === null ? 'so far (the removal is incomplete)' : `by ${dateOf(completedAt)}`;
  return `Removed ${when}: ${what} inside spaces, whose records are not public. An earlier version accepted them.`;
}

/** Returns all sentences about removed rows, for every API, or null if there is nothing to report. */
export async function removedRowsSentence(store: RemovalReader): Promise<string | null> {
  const [purges, spaces] = await Promise.all([store.purges(), store.spaceRemoval()]);
  const sentences = [removalSentence(purges), spaceRemovalSentence(spaces)].filter((sentence) => sentence !== null);
  return sentences.length === 0 ? null : sentences.join(' ');
}

function labelers(count: number): string {
  return count === 1 ? '1 labeler' : `${count} labelers`;
}

function dateOf(at: number): string {
  return new Date(at / 1000).toISOString().slice(0, 10);
}
