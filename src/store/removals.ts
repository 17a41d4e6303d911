import type { Micros } from '../contract/timestamp.ts';

/** A request to remove every row of a source, and its progress. */
export interface Purge {
  readonly source: string;
  readonly requestedAt: Micros;
  /** Time at which the last day was completed; null while rows may remain. */
  readonly completedAt: Micros | null;
  /** Rows removed; at least so many after a crash. */
  readonly rows: number;
  /** Days that remain to be done. */
  readonly daysLeft: number;
}

/** The part of the writer that removes rows at request. */
export interface PurgeWriter {
  /**
   * Requests the removal of every row of a source, durably; `purge` does it. Records the retained time before `at` as a
   * `maintenance` gap of the source in the same commit: what is removed is no longer observed. False, and nothing
   * changes, where a request of that instant or a later one is known, or `at` does not lie after the floor. The caller
   * appends no rows of the source until the request is completed: those would be removed or kept as it happens.
   */
  requestPurge(request: { readonly source: string; readonly at: Micros }): Promise<boolean>;
  /**
   * Removes the rows of the oldest request from its next day: with them their counters, kept counts, identities, refusals,
   * and whatever else was derived from them. Positions stay, so that reading can resume; the last stamp stays, so that
   * none is given twice. A closed day is replaced whole; in a day that may still be written rows go in bounded
   * commits, each of which leaves its counters equal to its rows. `append` continues meanwhile, `maintain` waits for it.
   * True while there is more to do. A crash at any point is resumed by the next call after the next open.
   *
   * Rejects, and is called again later: `disk_full`, `wal_full`, `busy`; `closed` when the store closes meanwhile.
   */
  purge(at: Micros): Promise<boolean>;
}

/**
 * Sentence that every surface shows after rows were removed on the operator's request: the number of labelers, and the
 * last day. Null if none were removed. A request that found no rows is not mentioned.
 */
export function removalSentence(purges: readonly Purge[]): string | null {
  const pending = purges.filter(({ completedAt }) => completedAt === null);
  const removed = purges.filter(({ completedAt, rows }) => completedAt !== null && rows > 0);
  const parts: string[] = [];
  const last = Math.max(...removed.map(({ completedAt }) => completedAt ?? 0));
  if (removed.length > 0) {
    parts.push(
      `Rows of ${labelers(removed.length)} were removed on the operator's request, the last on ${dateOf(last)}.`,
    );
  }
  if (pending.length > 0) {
    const since = Math.min(...pending.map(({ requestedAt }) => requestedAt));
    parts.push(
      `Rows of ${labelers(pending.length)} are being removed on the operator's request, since ${dateOf(since)}.`,
    );
  }
  return parts.length === 0 ? null : parts.join(' ');
}

function labelers(count: number): string {
  return count === 1 ? '1 labeler' : `${count} labelers`;
}

function dateOf(at: number): string {
  return new Date(at / 1000).toISOString().slice(0, 10);
}
