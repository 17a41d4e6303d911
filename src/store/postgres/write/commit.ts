import { hash } from 'node:crypto';
import type { Micros } from '../../../contract/timestamp.ts';
import type { Refusals } from '../../common/batch.ts';
import type { Batch } from '../../port.ts';
import type { RefusedRowsChange } from '../../refused-rows.ts';
import { hour, minute } from '../../time.ts';
import { isRemoval, type NewRow, verdictOf } from '../base/row.ts';
import type { Queries } from '../base/session.ts';
import { delayOf, labelerKinds } from '../count/labeler-kinds.ts';
import { partitionOf } from '../schema/partition.ts';

/** Functions that write one commit's changes to each table, in the caller's transaction. */

/** Inserts rows into the table of their day. */
export async function insertRows(queries: Queries, day: number, rows: readonly NewRow[]): Promise<void> {
  if (rows.length === 0) return;
  const column = <T>(of: (row: NewRow) => T): T[] => rows.map(of);
  await queries.run(
    `INSERT INTO ${partitionOf(day)}(at, source, target, flags, ver, subject, val, rest, cts, cid, exp, identity, sig, extra)
     SELECT * FROM unnest($1::bigint[], $2::int[], $3::smallint[], $4::smallint[], $5::bigint[], $6::text[], $7::text[],
       $8::text[], $9::text[], $10::text[], $11::text[], $12::bytea[], $13::bytea[], $14::bytea[])`,
    [
      column(({ at }) => at),
      column(({ source }) => source),
      column(({ target }) => target),
      column(({ flags }) => flags),
      column(({ label }) => label.ver ?? null),
      column(({ subject }) => subject),
      column(({ label }) => label.val),
      column(({ rest }) => rest),
      column(({ label }) => label.cts),
      column(({ label }) => label.cid ?? null),
      column(({ label }) => label.exp ?? null),
      column(({ identity }) => identity),
      column(({ label }) => label.sig ?? null),
      column(({ label }) => label.extra ?? null),
    ],
  );
}

/** Numbers of applications and removals with one key. */
interface Sum {
  applied: number;
  removed: number;
}

/** Adds rows to the counters of minutes and hours. */
export async function countTimes(queries: Queries, rows: readonly NewRow[]): Promise<void> {
  if (rows.length === 0) return;
  const counters = (['minute', 'hour'] as const).map((bucket) => {
    const length = bucket === 'minute' ? minute : hour;
    const sums = sumsOf(rows, ({ at, source }) => `${Math.floor(at / length)} ${source}`);
    const keys = [...sums.keys()].map((key) => key.split(' ').map(Number));
    return queries.run(
      `INSERT INTO counter_${bucket}(${bucket}, source, applied, removed)
       SELECT * FROM unnest($1::int[], $2::int[], $3::int[], $4::int[])
       ON CONFLICT (${bucket}, source) DO UPDATE SET applied = counter_${bucket}.applied + excluded.applied,
       removed = counter_${bucket}.removed + excluded.removed`,
      [keys.map(([at = 0]) => at), keys.map(([, source = 0]) => source), ...countsOf(sums)],
    );
  });
  await Promise.all(counters);
}

function sumsOf(rows: readonly NewRow[], keyOf: (row: NewRow) => string): Map<string, Sum> {
  const sums = new Map<string, Sum>();
  for (const row of rows) increase(sums, keyOf(row), isRemoval(row.flags));
  return sums;
}

function increase(sums: Map<string, Sum>, key: string, removed: boolean): void {
  const sum = sums.get(key) ?? { applied: 0, removed: 0 };
  sums.set(key, sum);
  if (removed) sum.removed += 1;
  else sum.applied += 1;
}

function countsOf(sums: ReadonlyMap<string, Sum>): [applied: number[], removed: number[]] {
  const all = [...sums.values()];
  return [all.map(({ applied }) => applied), all.map(({ removed }) => removed)];
}

/**
 * Adds rows to the counters of their labelers. `isNamed` returns true if the labeler's day counts the value by name.
 */
export async function countLabelers(
  queries: Queries,
  day: number,
  rows: readonly NewRow[],
  isNamed: (source: number, value: string) => boolean,
): Promise<void> {
  if (rows.length === 0) return;
  const sums = new Map<string, Sum & { source: number; kind: number; key: string }>();
  const add = (source: number, kind: number, key: string, removed: boolean): void => {
    const name = `${source} ${kind} ${key}`;
    const sum = sums.get(name) ?? { source, kind, key, applied: 0, removed: 0 };
    sums.set(name, sum);
    if (removed) sum.removed += 1;
    else sum.applied += 1;
  };
  for (const { at, source, flags, label } of rows) {
    const delay = delayOf(at, flags, label.cts);
    add(source, labelerKinds.verdict, verdictOf(flags), false);
    if (isNamed(source, label.val)) add(source, labelerKinds.value, label.val, isRemoval(flags));
    else add(source, labelerKinds.others, '', isRemoval(flags));
    if (delay !== null) add(source, labelerKinds.delay, String(delay), false);
  }
  const all = [...sums.values()];
  await queries.run(
    `INSERT INTO labeler_count(day, source, kind, key, applied, removed)
     SELECT $1, * FROM unnest($2::int[], $3::smallint[], $4::text[], $5::bigint[], $6::bigint[])
     ON CONFLICT (day, source, kind, key) DO UPDATE SET applied = labeler_count.applied + excluded.applied,
     removed = labeler_count.removed + excluded.removed`,
    [
      day,
      all.map(({ source }) => source),
      all.map(({ kind }) => kind),
      all.map(({ key }) => key),
      all.map(({ applied }) => applied),
      all.map(({ removed }) => removed),
    ],
  );
}

/** Adds refused labels to the counts of the hour of `stamp`. `numberOf` returns the numeric id of a source. */
export async function countRefusals(
  queries: Queries,
  refusals: Refusals,
  stamp: number,
  numberOf: (did: string) => number,
): Promise<void> {
  const all = [...refusals.values()];
  if (all.length === 0) return;
  await queries.run(
    `INSERT INTO refusal(hour, source, reason, n) SELECT $1, * FROM unnest($2::int[], $3::text[], $4::bigint[])
     ON CONFLICT (hour, source, reason) DO UPDATE SET n = refusal.n + excluded.n`,
    [
      Math.floor(stamp / hour),
      all.map(({ source }) => numberOf(source)),
      all.map(({ reason }) => reason),
      all.map(({ count }) => count),
    ],
  );
}

/** Stores changes to positions accepted at `at`. If a position is changed several times, the last change applies. */
export async function putPositions(queries: Queries, changes: Batch['positions'], at: Micros): Promise<void> {
  const last = new Map(changes.map((one) => [positionKey(one), one]));
  const put = [...last].filter(([, { value }]) => value !== null);
  const gone = [...last].filter(([, { value }]) => value === null);
  if (gone.length > 0)
    await queries.run('DELETE FROM position WHERE key = ANY ($1::text[])', [gone.map(([key]) => key)]);
  if (put.length === 0) return;
  await queries.run(
    `INSERT INTO position(key, source, endpoint, value, accepted_at)
     SELECT p.*, $5 FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS p
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, accepted_at = excluded.accepted_at`,
    [
      put.map(([key]) => key),
      put.map(([, { source }]) => source),
      put.map(([, { endpoint }]) => endpoint),
      put.map(([, { value }]) => value),
      at,
    ],
  );
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
  if (gone.length > 0) {
    await queries.run(
      'DELETE FROM refused_rows r USING unnest($1::text[], $2::smallint[]) AS g(source, bucket) WHERE r.source = g.source AND r.bucket = g.bucket',
      keys(gone),
    );
  }
  if (put.length === 0) return;
  await queries.run(
    `INSERT INTO refused_rows(source, bucket, rows) SELECT * FROM unnest($1::text[], $2::smallint[], $3::text[])
     ON CONFLICT (source, bucket) DO UPDATE SET rows = excluded.rows`,
    [...keys(put), put.map(({ rows }) => rows)],
  );
}
