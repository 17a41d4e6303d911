import type { Micros } from '../../contract/timestamp.ts';
import { StoreError } from '../errors.ts';
import {
  identityText,
  labelBytes,
  maxRefusedRowsLength,
  type RefusedRowsChange,
  refusedRowBuckets,
  unfit,
} from '../label.ts';
import {
  type Batch,
  maxBatchBytes,
  maxBatchRows,
  maxPositionLength,
  type NewObservation,
  type RefusalCount,
  type RefusalReason,
} from '../port.ts';
import { dayOf, dayStart, micros } from '../time.ts';
import type { IdentitySet } from './identity-set.ts';

/** Rules for accepting a batch, shared by every implementation of the store port. */

/** Maximum time by which the next stamp of `append` may be ahead of the caller's clock, in microseconds: 5 s. */
export const maxStampAhead = 5_000_000;

/** Refused labels, summed by source and reason. */
export type Refusals = ReadonlyMap<string, RefusalCount>;

/** An observation that is not stored yet, with its label identity. */
interface FreshObservation {
  readonly observation: NewObservation;
  readonly identity: Buffer;
}

/**
 * Splits a batch into its new observations and the indexes of its duplicates: observations that are already stored,
 * or that repeat an earlier observation of the batch.
 */
export function sortOut({ observations }: Batch, known: IdentitySet) {
  const fresh: FreshObservation[] = [];
  const duplicates: number[] = [];
  const inBatch = new Set<string>();
  for (const [i, observation] of observations.entries()) {
    const text = identityText(observation.label);
    const identity = Buffer.from(text, 'latin1');
    if (inBatch.has(text) || known.has(identity)) duplicates.push(i);
    else fresh.push({ observation, identity });
    inBatch.add(text);
  }
  return { fresh, duplicates };
}

/**
 * Returns the first of `rows` consecutive stamps, all on the same day. `last` is the last assigned stamp. Throws
 * `clock_behind` if the next stamp is more than `maxStampAhead` ahead of the clock.
 */
export function firstStamp(at: Micros, last: Micros | null, rows: number): Micros {
  const next = last === null ? at : micros(Math.max(at, last + 1));
  if (next - at > maxStampAhead) {
    throw new StoreError('clock_behind', `the clock is ${(next - at) / 1e6} s behind the next stamp`);
  }
  const lastDay = dayOf(next + Math.max(0, rows - 1));
  return lastDay === dayOf(next) ? next : dayStart(lastDay);
}

/**
 * Returns the maximum number of bytes that the batch could write. Throws `batch_too_large` if the batch exceeds the
 * port's limits, and `invalid_observation` if it contains a label or text that the store cannot hold.
 */
export function assertBounds({ observations, positions, refusals, refusedRows = [] }: Batch): number {
  if ([observations, positions, refusals, refusedRows].some(({ length }) => length > maxBatchRows)) {
    throw new StoreError(
      'batch_too_large',
      `a batch contains more than ${maxBatchRows} observations, positions, refusals or refused rows`,
    );
  }
  let bytes = 0;
  for (const { label } of observations) {
    const size = labelBytes(label);
    const why = unfit(label, size);
    if (why !== null) throw new StoreError('invalid_observation', `a label in the batch is ${why}`);
    bytes += size;
  }
  for (const { value, endpoint, source } of positions) {
    const size = (value?.length ?? 0) + endpoint.length + source.length;
    if (!`${value ?? ''}${endpoint}${source}`.isWellFormed()) {
      throw new StoreError('invalid_observation', 'the text of a position is not valid Unicode');
    }
    if (size > maxPositionLength)
      throw new StoreError(
        'batch_too_large',
        `a position (source, endpoint and value) has ${size} characters; the maximum is ${maxPositionLength}`,
      );
    bytes += 3 * size;
  }
  for (const change of refusedRows) bytes += refusedRowsBytes(change);
  if (bytes > maxBatchBytes)
    throw new StoreError(
      'batch_too_large',
      `the batch could write up to ${bytes} bytes; the maximum is ${maxBatchBytes}`,
    );
  return bytes;
}

/**
 * Returns the maximum number of bytes that a change to refused rows could write. Throws `batch_too_large` or
 * `invalid_observation` for the same reasons as `assertBounds`.
 */
function refusedRowsBytes({ source, bucket, rows }: RefusedRowsChange): number {
  const length = rows?.length ?? 0;
  if (length > maxRefusedRowsLength)
    throw new StoreError(
      'batch_too_large',
      `a bucket of refused rows has ${length} characters; the maximum is ${maxRefusedRowsLength}`,
    );
  if (!Number.isInteger(bucket) || bucket < 0 || bucket >= refusedRowBuckets) {
    throw new StoreError('batch_too_large', `the bucket number ${bucket} of refused rows is invalid`);
  }
  if (!`${rows ?? ''}${source}`.isWellFormed()) {
    throw new StoreError('invalid_observation', 'the text of refused rows is not valid Unicode');
  }
  return 3 * (length + source.length);
}

/**
 * Returns the time of the pages in a batch; null if the batch only removes positions. Such a batch comes from the roster
 * or from a document, and thus proves no observation. The position of a page is never a removal.
 */
export function pagesAt({ observations, refusals, positions, refusedRows = [], ...batch }: Batch): Micros | null {
  const time = batch.pagesAt === undefined ? batch.at : batch.pagesAt;
  const isRemoval = positions.length > 0 && positions.every(({ value }) => value === null);
  return isRemoval && [observations, refusals, refusedRows].every(({ length }) => length === 0) ? null : time;
}

/** Sums the refused labels of a batch by source and reason, including duplicates. */
export function refusalsOf(batch: Batch, duplicates: readonly number[]): Refusals {
  const sums = new Map<string, RefusalCount>();
  const add = (source: string, reason: RefusalReason, count: number): void => {
    const key = `${source} ${reason}`;
    sums.set(key, { source, reason, count: (sums.get(key)?.count ?? 0) + count });
  };
  for (const { source, reason, count } of batch.refusals) add(source, reason, count);
  for (const i of duplicates) {
    const source = batch.observations[i]?.label.src;
    if (source !== undefined) add(source, 'duplicate', 1);
  }
  return sums;
}

/** Serializes work on whole days, so that a day is never sealed and purged at the same time. */
export class DayWork {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves once all requested work has finished. */
  async ended(): Promise<void> {
    await this.#last;
  }

  /**
   * Wraps work so that each run waits until all previously requested work has finished. A call while a run is waiting
   * or in progress returns the result of that run.
   */
  joined<T>(work: (at: Micros) => Promise<T>): (at: Micros) => Promise<T> {
    let running: Promise<T> | null = null;
    return (at) => {
      running ??= this.#afterOthers(() => work(at)).finally(() => {
        running = null;
      });
      return running;
    };
  }

  #afterOthers<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
