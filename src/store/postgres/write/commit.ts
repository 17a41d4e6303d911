import { hash } from 'node:crypto';
import type { Micros } from '../../../contract/timestamp.ts';
import type { Refusals } from '../../common/batch.ts';
import type { Batch } from '../../port.ts';
import type { RefusedRowsChange } from '../../refused-rows.ts';
import { minute } from '../../time.ts';
import { copiedColumns } from '../base/copy-in.ts';
import { isRemoval, type NewRow, verdictOf } from '../base/row.ts';
import type { Queries } from '../base/session.ts';
import type { Scalar, Value } from '../base/value.ts';
import { delayOf, labelerKinds } from '../count/labeler-kinds.ts';
import { partitionOf } from '../schema/partition.ts';

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
  const last = new Map(positions.map((one) => [positionKey(one), one]));
  const put = [...last].filter(([, { value }]) => value !== null);
  const gone = [...last].filter(([, { value }]) => value === null);
  const values: Value[] = [
    ...[changes.day, changes.stamp, ...timeCounts(rows), ...labelerCounts(changes), ...groupCounts(hot)],
    ...[refused.map(({ source }) => numberOf(source)), refused.map(({ reason }) => reason)],
    ...[refused.map(({ count }) => count), put.map(([key]) => key), put.map(([, { source }]) => source)],
    ...[put.map(([, { endpoint }]) => endpoint), put.map(([, { value }]) => value), at],
  ];
  await Promise.all([
    gone.length === 0
      ? Promise.resolve(0)
      : queries.run('DELETE FROM position WHERE key = ANY ($1::text[])', [gone.map(([key]) => key)]),
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

function positionKey({ source, endpoint }: Batch['positions'][number]): string {
  return hash('sha256', JSON.stringify([source, endpoint]), 'base64');
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
