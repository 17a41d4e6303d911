import type { Micros } from '../../../contract/timestamp.ts';
import { assertBounds, firstStamp, type Refusals, refusalsOf, sortOut } from '../../common/batch.ts';
import type { IdentitySet } from '../../common/identity-set.ts';
import { StoreError } from '../../errors.ts';
import type { RefusedRowsChange } from '../../label.ts';
import { type AppendResult, type Batch, maxBatchBytes, maxBatchRows } from '../../port.ts';
import { dayOf, micros, minute } from '../../time.ts';
import { encodeRow, isRemoval, type NewRow, verdictOf } from '../base/row.ts';
import type { Queries } from '../base/session.ts';
import { binaryRows, copiedColumns, type Scalar, type Value } from '../base/value.ts';
import { delayOf, labelerKinds } from '../count/counters.ts';
import { partitionOf } from '../schema/migrate.ts';
import { changePositions, sortPositions } from './positions.ts';
import type { SourceNumbers } from './source-numbers.ts';
import { type Reached, UnansweredCommits } from './unanswered.ts';

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
  /** Part of the batch that the rows and refusals are from; see `UnansweredCommits`. */
  readonly rest: Batch;
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
  readonly #unanswered = new UnansweredCommits();
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

  /** True if an earlier commit got no reply and may still be stored. */
  get hasUnanswered(): boolean {
    return this.#unanswered.isWaiting;
  }

  /**
   * Sets a mark, before which no batch that is prepared from now on gets a stamp. Returns its time, which is not later
   * than the oldest waiting batch: after a long wait, the clock would otherwise seem to be behind the mark.
   */
  mark(at: Micros): Micros {
    const time = micros(Math.min(at, this.#batches[0]?.batch.at ?? at));
    this.#mark = micros(Math.max(this.#mark ?? time, time));
    return time;
  }

  /** Takes over the state of the database. No batch may be prepared. */
  restart(found: Reached, mark: Micros | null): void {
    this.#last = this.#assigned = found.last;
    this.#unanswered.settle(found);
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

  /** Removes the rows of prepared batches from memory, because the commit of the first ones failed or got no reply. */
  discard(failed: readonly Prepared[], from: Reached, to: Reached): void {
    this.#unanswered.add(failed, from, to);
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
    this.#unanswered.clear();
    for (const [i, waiting] of this.#batches.splice(0, committed.length).entries()) {
      const { batch, rest, fresh, duplicates, first, last } = committed[i] as Prepared;
      if (last !== null) this.#last = last;
      waiting.isSettled = true;
      const result = { accepted: fresh.length, duplicates, first: last === null ? null : first, last };
      waiting.resolve(rest === batch ? result : this.#unanswered.complete(batch, result));
    }
    return this.#batches.length > 0;
  }

  #prepare(batch: Batch): Prepared {
    const rest = this.#unanswered.rest(batch);
    const { fresh, duplicates } = sortOut(rest, this.#known);
    const first = firstStamp(batch.at, this.#end, fresh.length);
    const last = fresh.length === 0 ? null : micros(first + fresh.length - 1);
    this.#assertOpen(dayOf(first));
    const refusals = refusalsOf(rest, duplicates);
    const refused = [...refusals.values()].map(({ source }) => source);
    const dids = new Set([...fresh.map(({ observation }) => observation.label.src), ...refused]);
    for (const [i, { identity }] of fresh.entries()) this.#known.add(identity, first + i);
    if (last !== null) this.#assigned = last;
    const prepared: Prepared = { batch, rest, fresh, duplicates, first, last, refusals, dids, encoded: null };
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

/** Returns the rows of encoded batches. */
export function rowsOf(batches: readonly Prepared[]): readonly NewRow[] {
  const [only, ...others] = batches.map(({ encoded }) => encoded?.rows ?? []);
  return others.length === 0 ? (only ?? []) : [only ?? [], ...others].flat();
}

/** Functions that write one commit's changes, in the caller's transaction. */

/** Inserts rows into the table of their day. `data` contains the rows as `binaryRows` encodes them. */
export function insertRows(queries: Queries, day: number, data: readonly Buffer[]): Promise<void> {
  return queries.copy(`COPY ${partitionOf(day)}(${copiedColumns}) FROM STDIN (FORMAT binary)`, data);
}

/** Numbers of applications and removals with one key. */
interface Sum {
  applied: number;
  removed: number;
}

/**
 * Sums of rows by a number and a key, such as a source and a value. Two levels of maps, because a combined key would be
 * a new string for each row.
 */
class Sums<Key> {
  readonly #sums = new Map<number, Map<Key, Sum>>();

  add(first: number, key: Key, removed: boolean): void {
    let keys = this.#sums.get(first);
    if (keys === undefined) {
      keys = new Map();
      this.#sums.set(first, keys);
    }
    let sum = keys.get(key);
    if (sum === undefined) {
      sum = { applied: 0, removed: 0 };
      keys.set(key, sum);
    }
    if (removed) sum.removed += 1;
    else sum.applied += 1;
  }

  *[Symbol.iterator](): Generator<readonly [first: number, key: Key, applied: number, removed: number]> {
    for (const [first, keys] of this.#sums) {
      for (const [key, { applied, removed }] of keys) yield [first, key, applied, removed];
    }
  }
}

/** Returns the columns of rows as parameters of a query. */
function columnsOf(rows: readonly (readonly Scalar[])[], columns: number): Value[] {
  return Array.from({ length: columns }, (_, i) => rows.map((row) => row[i] ?? null));
}

/** Changes to the counters and positions that one commit makes. `numberOf` returns the numeric id of a source. */
interface CountChanges {
  readonly day: number;
  /** Stamp of the commit. */
  readonly stamp: number;
  readonly rows: readonly NewRow[];
  /** Returns true if the day counts a value of a labeler by name. */
  readonly isNamed: (source: number, value: string) => boolean;
  /** Returns true if the day has counts of an account. */
  readonly isHot: (subject: string) => boolean;
  readonly refusals: Refusals;
  readonly numberOf: (did: string) => number;
  readonly positions: Batch['positions'];
  /** Time of the batch. */
  readonly at: Micros;
}

/** Adds the rows and refused labels of a commit to the counters, and stores its positions. */
export async function addCounts(queries: Queries, changes: CountChanges): Promise<void> {
  const { rows, isHot, refusals, numberOf, positions, at } = changes;
  const hot = rows.filter(({ subject }) => isHot(subject));
  const refused = [...refusals.values()];
  const { put, ...others } = sortPositions(positions);
  const values: Value[] = [
    ...[changes.day, changes.stamp, ...timeCounts(rows), ...labelerCounts(changes), ...groupCounts(hot)],
    ...[refused.map(({ source }) => numberOf(source)), refused.map(({ reason }) => reason)],
    ...[refused.map(({ count }) => count), put.map(({ key }) => key), put.map(({ source }) => source)],
    ...[put.map(({ endpoint }) => endpoint), put.map(({ value }) => value), at],
  ];
  await Promise.all([
    changePositions(queries, others),
    queries.rows(`SELECT add_counts(${values.map((_, i) => `$${i + 1}`).join(', ')})`, values),
  ]);
}

/** Returns the counts of rows by minute and source. */
function timeCounts(rows: readonly NewRow[]): Value[] {
  const sums = new Sums<number>();
  for (const { at, source, flags } of rows) sums.add(Math.floor(at / minute), source, isRemoval(flags));
  return columnsOf([...sums], 4);
}

/** Returns the counts of rows by labeler, kind and key. */
function labelerCounts({ rows, isNamed }: Pick<CountChanges, 'rows' | 'isNamed'>): Value[] {
  const { verdict, value, others, delay } = labelerKinds;
  const [verdicts, values, delays] = [new Sums<string>(), new Sums<string>(), new Sums<string>()];
  const rest = new Sums<string>();
  for (const { at, source, flags, label } of rows) {
    verdicts.add(source, verdictOf(flags), false);
    if (isNamed(source, label.val)) values.add(source, label.val, isRemoval(flags));
    else rest.add(source, '', isRemoval(flags));
    const range = delayOf(at, flags, label.cts);
    if (range !== null) delays.add(source, String(range), false);
  }
  const all = ([verdict, value, others, delay] as const).flatMap((kind, i) =>
    Array.from([verdicts, values, rest, delays][i] ?? [], ([source, key, applied, removed]) => [
      ...[source, kind, key, applied, removed],
    ]),
  );
  return columnsOf(all, 5);
}

/** Returns the counts of rows by account, labeler, target and value. */
function groupCounts(rows: readonly NewRow[]): Value[] {
  const sums = new Map<string, [string, number, number, string, number, number]>();
  for (const { subject, source, target, val, flags } of rows) {
    const name = `${source} ${target} ${subject} ${val}`;
    const sum = sums.get(name) ?? [subject, source, target, val, 0, 0];
    sum[isRemoval(flags) ? 5 : 4] += 1;
    sums.set(name, sum);
  }
  return columnsOf([...sums.values()], 6);
}

/** Adds rows to the counters of their labelers only. */
export async function countLabelers(
  queries: Queries,
  changes: Pick<CountChanges, 'day' | 'rows' | 'isNamed'>,
): Promise<void> {
  const none: Value[] = [];
  const times = [none, none, none, none] as Value[];
  const others = Array.from({ length: 13 }, () => none as Value);
  const values = [changes.day, 0, ...times, ...labelerCounts(changes), ...others, 0];
  await queries.rows(`SELECT add_counts(${values.map((_, i) => `$${i + 1}`).join(', ')})`, values);
}

/** Stores changes to remembered refused rows. */
export async function putRefusedRows(queries: Queries, changes: readonly RefusedRowsChange[]): Promise<void> {
  const last = [...new Map(changes.map((one) => [JSON.stringify([one.source, one.bucket]), one])).values()];
  const put = last.filter(({ rows }) => rows !== null);
  const gone = last.filter(({ rows }) => rows === null);
  const keys = (some: typeof last) => [some.map(({ source }) => source), some.map(({ bucket }) => bucket)];
  // Send both statements at once, because the commit follows without waiting for the first.
  await Promise.all([
    gone.length === 0
      ? Promise.resolve(0)
      : queries.run(
          'DELETE FROM refused_rows r USING unnest($1::text[], $2::smallint[]) AS g(source, bucket) WHERE r.source = g.source AND r.bucket = g.bucket',
          keys(gone),
        ),
    put.length === 0
      ? Promise.resolve(0)
      : queries.run(
          `INSERT INTO refused_rows(source, bucket, rows) SELECT * FROM unnest($1::text[], $2::smallint[], $3::text[])
           ON CONFLICT (source, bucket) DO UPDATE SET rows = excluded.rows`,
          [...keys(put), put.map(({ rows }) => rows)],
        ),
  ]);
}
