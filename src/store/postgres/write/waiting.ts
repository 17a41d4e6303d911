import type { Micros } from '../../../contract/timestamp.ts';
import { assertBounds, firstStamp, type Refusals, refusalsOf, sortOut } from '../../common/batch.ts';
import type { IdentitySet } from '../../common/identity-set.ts';
import { StoreError } from '../../errors.ts';
import { type AppendResult, type Batch, maxBatchBytes, maxBatchRows } from '../../port.ts';
import { dayOf, micros } from '../../time.ts';
import { binaryRows } from '../base/copy-in.ts';
import { encodeRow, type NewRow } from '../base/row.ts';
import type { SourceNumbers } from './source-numbers.ts';

/** A batch that waits for its commit. */
interface Waiting {
  readonly batch: Batch;
  prepared: Prepared | null;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
  isSettled: boolean;
}

/** New rows of a batch with their stamps, which are correct if every earlier batch is committed. */
export interface Prepared extends ReturnType<typeof sortOut> {
  readonly batch: Batch;
  /** Stamp of the first row; the next free stamp if there is no row. */
  readonly first: Micros;
  readonly last: Micros | null;
  readonly refusals: Refusals;
  /** Labelers of the rows and of the refused labels. */
  readonly dids: ReadonlySet<string>;
  /** Null until the numeric ids of the labelers are known. */
  encoded: EncodedRows | null;
}

/** Rows of a batch, and the message that copies them into their table. */
interface EncodedRows {
  readonly rows: readonly NewRow[];
  readonly data: Buffer;
}

/**
 * Batches that are not yet stored or rejected, in the order of the calls. A batch is prepared before its turn: its new
 * rows get stamps, and the set of identities contains them, as if all earlier batches were committed. If one of them
 * fails, `discard` takes that back.
 */
export class WaitingBatches {
  readonly #known: IdentitySet;
  readonly #sources: SourceNumbers;
  /** Throws if a day no longer accepts rows. */
  readonly #assertOpen: (day: number) => void;
  /** Prepared batches come first. */
  readonly #batches: Waiting[] = [];
  /** Last stamp of a committed row. */
  #last: Micros | null = null;
  /** Last stamp of a prepared row; `#last` if there is none. */
  #assigned: Micros | null = null;
  /** Newest mark: every row with an earlier stamp is stored or already prepared. */
  #mark: Micros | null = null;

  constructor(known: IdentitySet, sources: SourceNumbers, assertOpen: (day: number) => void) {
    this.#known = known;
    this.#sources = sources;
    this.#assertOpen = assertOpen;
  }

  add(batch: Batch, resolve: Waiting['resolve'], reject: Waiting['reject']): { readonly isSettled: boolean } {
    const waiting: Waiting = { batch, prepared: null, resolve, reject, isSettled: false };
    this.#batches.push(waiting);
    return waiting;
  }

  /** Sets a mark, before which no batch that is prepared from now on gets a stamp. */
  mark(at: Micros): void {
    this.#mark = micros(Math.max(this.#mark ?? at, at));
  }

  /** Takes over the state of the database. No batch may be prepared. */
  restart(last: Micros | null, mark: Micros | null): void {
    this.#last = this.#assigned = last;
    this.#mark ??= mark;
  }

  /** Prepares all batches. A batch that cannot be prepared is tried again in its turn, which reports the error. */
  prepare(): void {
    try {
      for (const waiting of this.#batches) waiting.prepared ??= this.#prepare(waiting.batch);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }

  /**
   * Returns the first batches that fit a commit, prepared; they belong to one day. Throws if the first batch cannot be
   * prepared.
   */
  take(): readonly Prepared[] {
    const [first] = this.#batches;
    if (first === undefined) throw new StoreError('unexpected', 'no batch is waiting');
    first.prepared ??= this.#prepare(first.batch);
    this.prepare();
    const group: Prepared[] = [];
    const sums = { rows: 0, bytes: 0, positions: 0, refusals: 0, refusedRows: 0 };
    for (const { prepared } of this.#batches) {
      if (prepared === null || dayOf(prepared.first) !== dayOf(first.prepared.first)) break;
      const { positions, refusedRows = [] } = prepared.batch;
      sums.rows += prepared.fresh.length;
      sums.bytes += assertBounds(prepared.batch);
      sums.positions += positions.length;
      sums.refusals += prepared.refusals.size;
      sums.refusedRows += refusedRows.length;
      const { bytes, ...counts } = sums;
      const isFull = bytes > maxBatchBytes || Object.values(counts).some((count) => count > maxBatchRows);
      if (group.length > 0 && isFull) break;
      group.push(prepared);
    }
    return group;
  }

  /** Encodes the rows of a batch, whose labelers must have numeric ids. */
  encode(prepared: Prepared): EncodedRows {
    prepared.encoded ??= encodeRows(prepared, this.#sources);
    return prepared.encoded;
  }

  /** Removes the rows of prepared batches from memory, because the first of these batches were not committed. */
  discard(): void {
    this.#assigned = this.#last;
    for (const waiting of this.#batches) {
      for (const { identity } of waiting.prepared?.fresh ?? []) this.#known.delete(identity);
      waiting.prepared = null;
    }
  }

  /** Rejects the first batches. */
  reject(count: number, error: unknown): void {
    for (const waiting of this.#batches.splice(0, count)) {
      waiting.isSettled = true;
      waiting.reject(error);
    }
  }

  /** Resolves the first batches, which were committed. Returns true if others are waiting. */
  resolve(committed: readonly Prepared[]): boolean {
    for (const [i, waiting] of this.#batches.splice(0, committed.length).entries()) {
      const { fresh, duplicates, first, last } = committed[i] as Prepared;
      if (last !== null) this.#last = last;
      waiting.isSettled = true;
      waiting.resolve({ accepted: fresh.length, duplicates, first: last === null ? null : first, last });
    }
    return this.#batches.length > 0;
  }

  #prepare(batch: Batch): Prepared {
    const { fresh, duplicates } = sortOut(batch, this.#known);
    const first = firstStamp(batch.at, this.#end, fresh.length);
    const last = fresh.length === 0 ? null : micros(first + fresh.length - 1);
    this.#assertOpen(dayOf(first));
    const refusals = refusalsOf(batch, duplicates);
    const dids = new Set([...fresh.map(({ observation }) => observation.label.src), ...refusedSources(refusals)]);
    for (const [i, { identity }] of fresh.entries()) this.#known.add(identity, first + i);
    if (last !== null) this.#assigned = last;
    const prepared: Prepared = { batch, fresh, duplicates, first, last, refusals, dids, encoded: null };
    if (this.#sources.knows(dids)) this.encode(prepared);
    return prepared;
  }

  /**
   * Returns the stamp that the next stamp must exceed: the last assigned stamp or the stamp before the newest mark,
   * whichever is later. Returns null if neither exists.
   */
  get #end(): Micros | null {
    if (this.#mark === null) return this.#assigned;
    return micros(Math.max(this.#assigned ?? 0, this.#mark - 1));
  }
}

function encodeRows({ fresh, first }: Prepared, sources: SourceNumbers): EncodedRows {
  const rows = fresh.map(({ observation, identity }, i) =>
    encodeRow(first + i, sources.of(observation.label.src), observation, identity),
  );
  return { rows, data: binaryRows(rows) };
}

function refusedSources(refusals: Refusals): string[] {
  return [...refusals.values()].map(({ source }) => source);
}

/** Returns the rows of encoded batches. */
export function rowsOf(batches: readonly Prepared[]): readonly NewRow[] {
  const [only, ...others] = batches.map(({ encoded }) => encoded?.rows ?? []);
  return others.length === 0 ? (only ?? []) : [only ?? [], ...others].flat();
}
