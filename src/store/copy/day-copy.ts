import { StoreError } from '../errors.ts';
import { dayName } from '../time.ts';
import { countedRows, countsDigest, RowDigest } from './digest.ts';
import type { CopyEvent, CopyOptions } from './options.ts';
import type { CopiedRow, CopySource, CopyTarget, DayCounts, DayProgress, SourceDay } from './parts.ts';

/** Rows of a day that were read back from the target: their digest and their number. */
interface ReadBack {
  readonly digest: RowDigest;
  rows: number;
  through: number;
}

/** Copies days, and compares each copied day with the rows that were read from the source. */
export class DayCopy {
  readonly #source: CopySource;
  readonly #target: CopyTarget;
  readonly #report: (event: CopyEvent) => void;
  /** Read-back results of days that are not verified yet, so that each row of the newest day is read back only once. */
  readonly #readBack = new Map<number, ReadBack>();

  constructor({ source, target, report }: Pick<CopyOptions, 'source' | 'target' | 'report'>) {
    this.#source = source;
    this.#target = target;
    this.#report = report;
  }

  /** Discards the read-back result of a day. */
  forget(day: number): void {
    this.#readBack.delete(day);
  }

  /**
   * Copies the missing rows of a day, or all rows if `known` is null, and returns their number. A complete day is then
   * verified. The last day is not recorded as verified, because rows may still be added to it.
   */
  async copy(
    { day, revision }: SourceDay,
    known: DayProgress | null,
    { isComplete, isLast }: { readonly isComplete: boolean; readonly isLast: boolean },
  ): Promise<number> {
    if (known === null) {
      this.forget(day);
      await this.#target.beginDay(day, revision);
    }
    const begun = known ?? { day, revision, through: -1, rows: 0, digest: '', isVerified: false };
    const progress = await this.#addRows(begun);
    await this.#target.index(day);
    const read = await this.#readRows(day);
    if (isComplete) {
      await this.#verify(progress, read);
      if (!isLast) {
        await this.#target.verified({ ...progress, isVerified: true });
        this.forget(day);
      }
      this.#report({ kind: 'verified', day: dayName(day), rows: progress.rows, digest: progress.digest });
    }
    return progress.rows - begun.rows;
  }

  /** Copies the rows after the last copied row. The next chunk is read while the target stores the current one. */
  async #addRows(begun: DayProgress): Promise<DayProgress> {
    const digest = new RowDigest(begun.digest);
    let progress = begun;
    let storing: Promise<void> = Promise.resolve();
    const add = async (rows: readonly CopiedRow[]): Promise<void> => {
      for (const row of rows) digest.add(row);
      const through = rows.at(-1)?.at ?? progress.through;
      progress = { ...progress, through, rows: progress.rows + rows.length, digest: digest.text() };
      await storing;
      const added = this.#target.add(rows, progress);
      // Prevent an unhandled rejection; `storing` reports the error.
      added.catch(() => undefined);
      storing = added.then(() => this.#report({ kind: 'copied', day: dayName(begun.day), rows: rows.length }));
      storing.catch(() => undefined);
    };
    try {
      await this.#source.rows(begun.day, begun.through, add);
    } finally {
      await storing;
    }
    return { ...progress, digest: digest.text() };
  }

  async #readRows(day: number): Promise<ReadBack> {
    const read = this.#readBack.get(day) ?? { digest: new RowDigest(), rows: 0, through: -1 };
    // Drop the result first: the target returns rows in any order, so that a retry after a failed read could otherwise
    // skip rows before `through`.
    this.#readBack.delete(day);
    const after = read.through;
    await this.#target.rows(day, after, (rows) => {
      for (const row of rows) {
        read.digest.add(row);
        read.through = Math.max(read.through, row.at);
      }
      read.rows += rows.length;
      return Promise.resolve();
    });
    this.#readBack.set(day, read);
    return read;
  }

  /**
   * Copies the counters of a day, then compares the rows and counters of the target with the rows and counters of the
   * source. If they differ, throws `busy` if rows of the day were removed during the copy, and otherwise drops the
   * copied day and throws `damaged`.
   */
  async #verify({ day, revision, rows, digest }: DayProgress, read: ReadBack): Promise<void> {
    const counts = await this.#source.counts(day);
    await this.#target.putCounts(day, counts);
    const stored = await this.#target.counts(day);
    const differences = [
      read.rows === rows ? '' : `${rows} rows were copied, but ${read.rows} are stored`,
      read.digest.text() === digest ? '' : 'the digests of the stored and the copied rows differ',
      countedRows(counts.minutes) === rows
        ? ''
        : `the minute counters count ${countedRows(counts.minutes)} of ${rows} rows`,
      countedRows(counts.hours) === rows ? '' : `the hour counters count ${countedRows(counts.hours)} of ${rows} rows`,
      countsDigest(comparable(counts, stored)) === countsDigest(stored)
        ? ''
        : 'the stored counters differ from the counters of the source',
    ].filter((text) => text !== '');
    if (differences.length === 0) return;
    this.forget(day);
    const now = (await this.#source.look()).days.find((one) => one.day === day);
    if (now === undefined || now.isChanging || now.revision !== revision) {
      throw new StoreError('busy', `rows of ${dayName(day)} were removed during the copy`);
    }
    // Drop the day, so that the next call copies it again.
    await this.#target.dropDay(day);
    throw new StoreError('damaged', `the copy of ${dayName(day)} differs from the source: ${differences.join('; ')}`);
  }
}

/**
 * Returns the counters that the target must contain. A target that cannot record `countedFrom` has recounted the
 * labelers over all rows of the day, so its own labeler counters are expected.
 */
function comparable(counts: DayCounts, stored: DayCounts): DayCounts {
  if (counts.countedFrom === null || stored.countedFrom !== null) return counts;
  return { ...counts, labelers: stored.labelers, countedFrom: null };
}
