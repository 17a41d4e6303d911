import { hash } from 'node:crypto';
import { signatureVerdicts } from '../../contract/vocabulary.ts';
import { StoreError } from '../errors.ts';
import { dayName } from '../time.ts';
import type { CopiedRow, CopySource, CopyTarget, DayCounts, DayProgress, SourceDay, SourceLook } from './parts.ts';

/**
 * A pass that copies fewer rows than this number has caught up with the source. The copy then tries to freeze the
 * source.
 */
const fewRows = 10_000;
/** Maximum number of consecutive failed attempts without progress in between. */
const maxAttempts = 30;

/**
 * Copies a store. Passes copy the complete days first and then the newest day, and repeat until no process writes to
 * the source. The source is then frozen, the last rows and all other data are copied, and the source is retired
 * before the copy becomes a store. Returns false if another process still writes to the source and `once` is set. A
 * call after an interruption continues where the previous call stopped.
 */
export async function copyStore(options: CopyOptions): Promise<boolean> {
  const { source, target, report, once } = options;
  const passes = new Passes(options);
  await passes.begin();
  for (let attempts = 0; ; ) {
    const moved = await passes.run(false);
    if (moved >= fewRows) continue;
    await options.beforeFreeze?.(attempts);
    if (await source.freeze()) break;
    if (once) return false;
    if (attempts++ === 0) report({ kind: 'following' });
    await options.wait();
  }
  await passes.run(true);
  const look = await source.look();
  const content = await source.content();
  await options.beforeComplete?.();
  // If the process ends between these steps, neither store can be opened for writing until the next call completes the
  // copy.
  await source.retire();
  await target.complete(look, content);
  return true;
}

/** Runs passes over the days of the source. */
class Passes {
  readonly #options: CopyOptions;
  readonly #days: DayCopy;
  #attempts = 0;

  constructor(options: CopyOptions) {
    this.#options = options;
    this.#days = new DayCopy(options);
  }

  /** Reports how many rows the source has and how many of them are already copied. */
  async begin(): Promise<void> {
    const { source, target, report } = this.#options;
    const { days } = await source.look();
    const progress = new Map((await target.progress()).map((one) => [one.day, one]));
    let [rows, copied] = [0, 0];
    for (const { day, revision } of days) {
      const known = progress.get(day);
      rows += await source.rowsIn(day);
      copied += known?.revision === revision ? known.rows : 0;
    }
    report({ kind: 'begun', rows, copied });
  }

  /**
   * Copies the rows that are missing in the target, and returns their number. Repeats the pass after a transient error.
   * Skips days from which rows are being removed, unless the pass is final. After a final pass, every day is complete
   * and verified.
   */
  async run(isFinal: boolean): Promise<number> {
    for (;;) {
      try {
        const moved = await this.#run(isFinal);
        this.#attempts = 0;
        return moved;
      } catch (error) {
        this.#assertAnother(error, isFinal);
        this.#options.report({ kind: 'retrying', why: error instanceof Error ? error.message : String(error) });
        await this.#options.wait();
      }
    }
  }

  async #run(isFinal: boolean): Promise<number> {
    const { source, target } = this.#options;
    const look = await source.look();
    const progress = new Map((await target.progress()).map((one) => [one.day, one]));
    await this.#dropExpired(look, progress);
    const newest = look.days.at(-1)?.day;
    let moved = 0;
    for (const found of look.days) {
      // Skip a day while rows are being removed from it. In the final pass no process is removing rows, so the day is
      // copied with the rows that an interrupted removal has left, and the writer of the copy continues the removal.
      if (found.isChanging && !isFinal) continue;
      const known = progress.get(found.day);
      const isKnown = known?.revision === found.revision && !found.isChanging;
      if (known?.isVerified === true && isKnown) continue;
      if (known && !isKnown) this.#options.report({ kind: 'again', day: dayName(found.day) });
      const isLast = found.day === newest;
      moved += await this.#days.copy(found, isKnown ? known : null, { isComplete: isFinal || !isLast, isLast });
      this.#attempts = 0;
    }
    return moved;
  }

  async #dropExpired({ days }: SourceLook, progress: ReadonlyMap<number, DayProgress>): Promise<void> {
    const kept = new Set(days.map(({ day }) => day));
    for (const day of progress.keys()) {
      if (kept.has(day)) continue;
      await this.#options.target.dropDay(day);
      this.#days.forget(day);
      this.#options.report({ kind: 'dropped', day: dayName(day) });
    }
  }

  /**
   * Returns if the error is transient and attempts remain; otherwise rethrows the error. An error is transient if the
   * same call may succeed later, for example after a purge of the day, or if a day has expired before the final pass.
   */
  #assertAnother(error: unknown, isFinal: boolean): void {
    this.#attempts += 1;
    const isTransient = error instanceof StoreError && (error.retry || (error.code === 'out_of_window' && !isFinal));
    if (!isTransient || this.#attempts >= maxAttempts) throw error;
  }
}

/** Rows of a day that were read back from the target: their digest and their number. */
interface ReadBack {
  readonly digest: RowDigest;
  rows: number;
  through: number;
}

/** Copies days, and compares each copied day with the rows that were read from the source. */
class DayCopy {
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

/** Number of 32-bit sums; together they are as long as one SHA-256 hash. */
const lanes = 8;

/**
 * Digest of a set of rows: the sum of the SHA-256 hashes of the rows, computed as eight sums of 32 bits. The digest
 * does not depend on the row order, so that a sealed day, or a table without a time index, can be read in its stored
 * order, which is fastest.
 */
export class RowDigest {
  readonly #sums: Uint32Array;

  /** Resumes a digest from the result of `text`, or starts an empty digest if `text` is empty. */
  constructor(text = '') {
    this.#sums = new Uint32Array(lanes);
    const bytes = Buffer.from(text, 'hex');
    for (let i = 0; i < lanes && bytes.length === lanes * 4; i++) this.#sums[i] = bytes.readUInt32LE(i * 4);
  }

  add(row: CopiedRow): void {
    const found = hash('sha256', encodedRow(row), 'buffer');
    for (let i = 0; i < lanes; i++) this.#sums[i] = (this.#sums[i] ?? 0) + found.readUInt32LE(i * 4);
  }

  /** Returns the digest as 64 hexadecimal digits. */
  text(): string {
    const bytes = Buffer.alloc(lanes * 4);
    for (let i = 0; i < lanes; i++) bytes.writeUInt32LE(this.#sums[i] ?? 0, i * 4);
    return bytes.toString('hex');
  }
}

const absent = 0xff_ff_ff_ff;
/** Number of bytes that precede the signature and the other fields in an encoded row. */
const fixedBytes = 8 + 3 + 16 + 9 + 8;

/**
 * Encodes a row: the stamp, the verdict, the live flag, the form of `neg`, the identity, `ver`, and the lengths and
 * bytes of the signature and of the other fields. The identity covers src, uri, cid, val, cts and exp.
 */
function encodedRow({ at, observation, identity }: CopiedRow): Buffer {
  const { label, signature, live = false } = observation;
  const { ver, neg, sig, extra } = label;
  const bytes = Buffer.alloc(fixedBytes + (sig?.length ?? 0) + (extra?.length ?? 0));
  bytes.writeDoubleLE(at, 0);
  bytes[8] = signatureVerdicts.indexOf(signature);
  bytes[9] = live ? 1 : 0;
  bytes[10] = neg === undefined ? 0 : neg ? 2 : 1;
  bytes.set(identity, 11);
  bytes[27] = ver === undefined ? 0 : 1;
  bytes.writeDoubleLE(ver ?? 0, 28);
  bytes.writeUInt32LE(sig?.length ?? absent, 36);
  bytes.writeUInt32LE(extra?.length ?? absent, 40);
  if (sig) bytes.set(sig, fixedBytes);
  if (extra) bytes.set(extra, fixedBytes + (sig?.length ?? 0));
  return bytes;
}

/** Returns the digest of a day's counters. Ignores entries whose counts are zero. */
export function countsDigest({ minutes, hours, refusals, labelers, countedFrom }: DayCounts): string {
  const times = (counts: DayCounts['minutes']) => sorted(counts.filter(([, , a, r]) => a + r > 0));
  const named = labelers.map(({ labeler, verdicts, values, others, delays }) => [
    labeler,
    signatureVerdicts.map((verdict) => verdicts[verdict] ?? 0),
    sorted(values.filter(([, a, r]) => a + r > 0)),
    others,
    sorted(delays.filter(([, rows]) => rows > 0)),
  ]);
  const counted = named.filter(([, verdicts]) => (verdicts as number[]).some((rows) => rows > 0));
  const all = [times(minutes), times(hours), sorted(refusals.filter(([, , , rows]) => rows > 0)), sorted(counted)];
  return hash('sha256', JSON.stringify([...all, countedFrom]));
}

function sorted(entries: readonly unknown[]): string[] {
  return entries.map((entry) => JSON.stringify(entry)).sort();
}

/** Returns the total number of rows in the counters of minutes or hours. */
function countedRows(counts: DayCounts['minutes']): number {
  return counts.reduce((sum, [, , applied, removed]) => sum + applied + removed, 0);
}

/** Event that a running copy reports. */
export type CopyEvent =
  | { readonly kind: 'copied'; readonly day: string; readonly rows: number }
  | { readonly kind: 'verified'; readonly day: string; readonly rows: number; readonly digest: string }
  /** The day is copied again, because rows of the day were removed since the previous copy. */
  | { readonly kind: 'again'; readonly day: string }
  /** The copy of the day was removed, because the day has expired in the source. */
  | { readonly kind: 'dropped'; readonly day: string }
  /** Number of rows of the source when the copy started, and how many of them an earlier run had copied. */
  | { readonly kind: 'begun'; readonly rows: number; readonly copied: number }
  /** All rows are copied, but another process still writes to the source. */
  | { readonly kind: 'following' }
  /** A transient error occurred; the copy tries again. */
  | { readonly kind: 'retrying'; readonly why: string };

/** Options for copying a store. */
interface CopyOptions {
  readonly source: CopySource;
  readonly target: CopyTarget;
  /** True to return when all rows are copied but another process still writes to the source. */
  readonly once: boolean;
  readonly report: (event: CopyEvent) => void;
  /** Waits before the copy checks again whether another process still writes to the source, and before a retry. */
  readonly wait: () => Promise<void>;
  /** Called with the number of previous attempts before each attempt to freeze the source. */
  readonly beforeFreeze?: (attempts: number) => Promise<void>;
  /** Called when everything is copied, before the copy becomes a store. */
  readonly beforeComplete?: () => Promise<void>;
}
