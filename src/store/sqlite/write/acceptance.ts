import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import { identityOf } from '../../identity.ts';
import { labelBytes, unfit } from '../../label.ts';
import {
  type AppendResult,
  type Batch,
  duplicateHorizon,
  maxBatchBytes,
  maxBatchRows,
  maxPositionLength,
  maxStampAhead,
  type RefusalReason,
} from '../../port.ts';
import {
  maxRefusedRowsLength,
  type RefusedRows,
  type RefusedRowsChange,
  refusedRowBuckets,
} from '../../refused-rows.ts';
import { dayName, dayOf, dayStart, micros } from '../../time.ts';
import { syncFolder } from '../base/connection.ts';
import { type DayForm, dayPath, type StorePaths } from '../base/files.ts';
import type { Carried, Commit } from '../day/commit.ts';
import { DayReader } from '../day/day-reader.ts';
import { DayWriter, type DayWriterOptions } from '../day/day-writer.ts';
import type { StateChanges } from '../state/state-write.ts';
import { IdentitySet } from './identity-set.ts';

/** Dependencies of accepting batches. */
export interface AcceptanceOptions extends DayWriterOptions {
  readonly paths: StorePaths;
  readonly state: StateChanges;
}

/** Accepts batches: detects duplicates, assigns stamps, and commits to the day of the stamps. */
export class Acceptance {
  readonly #options: AcceptanceOptions;
  readonly #known = new IdentitySet(duplicateHorizon);
  #writer: DayWriter | null = null;
  #last: Micros | null = null;

  constructor(options: AcceptanceOptions) {
    this.#options = options;
    this.#last = this.#newest((reader) => reader.ends().last) ?? null;
    this.#rememberIdentities();
  }

  /** Last assigned stamp, or null before the first stamp. */
  get last(): Micros | null {
    return this.#last;
  }

  append(batch: Batch): AppendResult {
    const bytes = assertBounds(batch);
    const { fresh, duplicates } = this.#sortOut(batch);
    const first = this.#firstStamp(batch.at, fresh.length);
    const rows = fresh.map(({ observation, identity }, i) => ({ observation, identity, at: first + i }));
    const commit: Commit = {
      rows,
      refusals: refusalsOf(batch, duplicates),
      positions: batch.positions,
      refusedRows: batch.refusedRows ?? [],
      at: batch.at,
      stamp: first,
      bytes,
    };
    this.#writerOf(dayOf(first)).commit(commit);
    // Identities are added only after the commit, so that a refused batch leaves no identities in memory.
    for (const { identity, at } of rows) this.#known.add(identity, at);
    const last = rows.at(-1)?.at;
    if (last !== undefined) this.#last = micros(last);
    this.#options.faults?.('append.committed');
    return {
      accepted: rows.length,
      duplicates,
      first: rows.length > 0 ? first : null,
      last: last === undefined ? null : micros(last),
    };
  }

  /** Returns the refused rows as of the last commit. */
  refusedRows(): RefusedRows[] {
    return this.#newest((reader) => reader.refusedRows()) ?? [];
  }

  /** Removes identities of removed rows from memory, so that the same labels are accepted again. */
  forget(identities: readonly Buffer[]): void {
    for (const identity of identities) this.#known.delete(identity);
  }

  limitPages(pages: number): void {
    this.#writer?.limitPages(pages);
  }

  close(): void {
    this.#writer?.close();
    this.#writer = null;
  }

  #sortOut({ observations }: Batch) {
    const fresh: { observation: Batch['observations'][number]; identity: Buffer }[] = [];
    const duplicates: number[] = [];
    const inBatch = new Set<string>();
    for (const [i, observation] of observations.entries()) {
      const identity = identityOf(observation.label);
      const text = identity.toString('latin1');
      if (inBatch.has(text) || this.#known.has(identity)) duplicates.push(i);
      else fresh.push({ observation, identity });
      inBatch.add(text);
    }
    return { fresh, duplicates };
  }

  /** Returns the first of `rows` consecutive stamps, all on one day. */
  #firstStamp(at: Micros, rows: number): Micros {
    const next = this.#last === null ? at : micros(Math.max(at, this.#last + 1));
    if (next - at > maxStampAhead) {
      throw new StoreError('clock_behind', `the clock is ${(next - at) / 1e6} s before the next stamp`);
    }
    const lastDay = dayOf(next + Math.max(0, rows - 1));
    return lastDay === dayOf(next) ? next : dayStart(lastDay);
  }

  #writerOf(day: number): DayWriter {
    if (this.#writer?.day === day) return this.#writer;
    const { paths, state, durable, faults } = this.#options;
    const newest = state.catalog().days.at(-1);
    if (newest && (day < newest.day || (day === newest.day && newest.sealed === 1))) {
      throw new StoreError('clock_behind', `the clock is at ${dayName(day)}, which is already closed`);
    }
    const generation = state.epoch().generationId;
    const carried: Carried = this.#newest((reader) => ({
      positions: reader.positions(),
      refusedRows: reader.refusedRows(),
      last: reader.ends().last,
      through: reader.ends().through,
      generation,
    })) ?? { positions: [], refusedRows: [], last: null, through: null, generation };
    this.close();
    const writer = new DayWriter(dayPath(paths, day, 'open'), day, carried, dayTime(day), this.#options);
    if (durable) syncFolder(paths.days);
    faults?.('rollover.created');
    // The day is listed before the commit of its first row, so that no reader misses the day.
    state.addDay(day, false);
    this.#writer = writer;
    return writer;
  }

  #newest<T>(work: (reader: DayReader) => T): T | undefined {
    const newest = this.#options.state.catalog().days.at(-1);
    return newest && this.#read(newest.day, newest.sealed === 1 ? 'sealed' : 'open', work);
  }

  #read<T>(day: number, form: DayForm, work: (reader: DayReader) => T): T {
    const reader = new DayReader(dayPath(this.#options.paths, day, form), day, form);
    try {
      return work(reader);
    } finally {
      reader.close();
    }
  }

  #rememberIdentities(): void {
    if (this.#last === null) return;
    const since = this.#last - duplicateHorizon;
    for (const { day, sealed } of this.#options.state.catalog().days) {
      if (sealed === 1 || dayStart(day + 1) <= since) continue;
      this.#read(day, 'open', (reader) => {
        for (const [id, identity] of reader.identities(since)) this.#known.add(identity, id);
      });
    }
  }
}

/** Throws unless the batch is within the port's limits. Returns the size of its labels in bytes. */
function assertBounds({ observations, positions, refusals, refusedRows = [] }: Batch): number {
  if ([observations, positions, refusals, refusedRows].some(({ length }) => length > maxBatchRows)) {
    throw new StoreError('batch_too_large', `a batch contains more than ${maxBatchRows} entries of one kind`);
  }
  let bytes = 0;
  for (const { label } of observations) {
    const why = unfit(label);
    if (why !== null) throw new StoreError('invalid_observation', `a label of the batch is ${why}`);
    bytes += labelBytes(label);
  }
  for (const { value, endpoint, source } of positions) {
    const size = (value?.length ?? 0) + endpoint.length + source.length;
    if (!`${value ?? ''}${endpoint}${source}`.isWellFormed()) {
      throw new StoreError('invalid_observation', 'the text of a position is not valid Unicode');
    }
    if (size > maxPositionLength)
      throw new StoreError('batch_too_large', `the value of a position has ${size} characters`);
    bytes += 3 * size;
  }
  for (const change of refusedRows) bytes += refusedRowsBytes(change);
  if (bytes > maxBatchBytes) throw new StoreError('batch_too_large', `the batch may write up to ${bytes} bytes`);
  return bytes;
}

/** Throws unless a change of refused rows is within the port's limits. Returns its maximum size in bytes. */
function refusedRowsBytes({ source, bucket, rows }: RefusedRowsChange): number {
  const length = rows?.length ?? 0;
  if (length > maxRefusedRowsLength)
    throw new StoreError('batch_too_large', `a bucket of refused rows has ${length} characters`);
  if (!Number.isInteger(bucket) || bucket < 0 || bucket >= refusedRowBuckets) {
    throw new StoreError('batch_too_large', `the number ${bucket} is not a bucket of refused rows`);
  }
  if (!`${rows ?? ''}${source}`.isWellFormed()) {
    throw new StoreError('invalid_observation', 'the text of refused rows is not valid Unicode');
  }
  return 3 * (length + source.length);
}

function refusalsOf(batch: Batch, duplicates: readonly number[]): Commit['refusals'] {
  const sums = new Map<string, { source: string; reason: RefusalReason; count: number }>();
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

function dayTime(day: number): string {
  return new Date(dayStart(day) / 1000).toISOString();
}
