import type { DayCounts, LabelerDay, TimeCount } from '../../copy/parts.ts';
import { signatureVerdicts } from '../../label.ts';
import type { RefusalReason } from '../../port.ts';
import { dayStart, hour, minute } from '../../time.ts';
import type { Queries } from '../base/session.ts';
import type { Scalar } from '../base/value.ts';
import { labelerKinds } from '../count/labeler-kinds.ts';

/** Maximum number of rows per INSERT. */
const rowsAtOnce = 20_000;

/** Reads the counters of a day. */
export async function readDayCounts(queries: Queries, day: number): Promise<DayCounts> {
  const [minutes, hours] = await Promise.all([times(queries, 'minute', day), times(queries, 'hour', day)]);
  const refused = await queries.rows<{ hour: number; did: string; reason: RefusalReason; n: number }>(
    'SELECT hour, did, reason, n FROM refusal JOIN source ON id = source WHERE hour >= $1 AND hour < $2',
    bounds(day, hour),
  );
  const labelers = await queries.rows<LabelerRecord>(
    'SELECT did, kind, key, applied, removed FROM labeler_count JOIN source ON id = source WHERE day = $1',
    [day],
  );
  return {
    minutes,
    hours,
    refusals: refused.map(({ hour: at, did, reason, n }) => [at, did, reason, n] as const),
    labelers: [...Map.groupBy(labelers, ({ did }) => did)].map(([did, of]) => labelerDay(did, of)),
    countedFrom: null,
  };
}

interface LabelerRecord {
  readonly did: string;
  readonly kind: number;
  readonly key: string;
  readonly applied: number;
  readonly removed: number;
}

async function times(queries: Queries, bucket: 'minute' | 'hour', day: number): Promise<TimeCount[]> {
  const rows = await queries.rows<{ bucket: number; did: string; applied: number; removed: number }>(
    `SELECT ${bucket} AS bucket, did, applied, removed FROM counter_${bucket} JOIN source ON id = source
     WHERE ${bucket} >= $1 AND ${bucket} < $2`,
    bounds(day, bucket === 'minute' ? minute : hour),
  );
  return rows.map(({ bucket: at, did, applied, removed }) => [at, did, applied, removed] as const);
}

function labelerDay(labeler: string, rows: readonly LabelerRecord[]): LabelerDay {
  const of = (kind: number) => rows.filter((row) => row.kind === kind);
  const [others] = of(labelerKinds.others);
  return {
    labeler,
    verdicts: Object.fromEntries(of(labelerKinds.verdict).map(({ key, applied }) => [key, applied])),
    values: of(labelerKinds.value).map(({ key, applied, removed }) => [key, applied, removed] as const),
    others: [others?.applied ?? 0, others?.removed ?? 0],
    delays: of(labelerKinds.delay).map(({ key, applied }) => [Number(key), applied] as const),
  };
}

/** Removes the counters of a day. */
export async function dropDayCounts(queries: Queries, day: number): Promise<void> {
  for (const [table, column, length] of [
    ['counter_minute', 'minute', minute],
    ['counter_hour', 'hour', hour],
    ['refusal', 'hour', hour],
  ] as const) {
    await queries.run(`DELETE FROM ${table} WHERE ${column} >= $1 AND ${column} < $2`, bounds(day, length));
  }
  await queries.run('DELETE FROM labeler_count WHERE day = $1', [day]);
}

/** Replaces the counters of a day. `numberOf` returns the numeric id of a source. */
export async function writeDayCounts(
  queries: Queries,
  day: number,
  counts: DayCounts,
  numberOf: (did: string) => number,
): Promise<void> {
  await dropDayCounts(queries, day);
  for (const bucket of ['minute', 'hour'] as const) {
    const counted = bucket === 'minute' ? counts.minutes : counts.hours;
    const rows = counted.filter(([, , applied, removed]) => applied + removed > 0);
    const columns = [`${bucket} int`, 'source int', 'applied int', 'removed int'];
    await insertAll(
      queries,
      `counter_${bucket}`,
      columns,
      rows.map(([at, did, applied, removed]) => [at, numberOf(did), applied, removed]),
    );
  }
  await insertAll(
    queries,
    'refusal',
    ['hour int', 'source int', 'reason text', 'n bigint'],
    counts.refusals.map(([at, did, reason, rows]) => [at, numberOf(did), reason, rows]),
  );
  await insertAll(
    queries,
    'labeler_count',
    ['day int', 'source int', 'kind smallint', 'key text', 'applied bigint', 'removed bigint'],
    counts.labelers.flatMap((one) => labelerRows(one).map((row) => [day, numberOf(one.labeler), ...row])),
  );
}

/** Returns the counters of a labeler as rows of kind, key, applications and removals. */
function labelerRows({ verdicts, values, others, delays }: LabelerDay): Scalar[][] {
  const [applied, removed] = others;
  // Skip values with zero counts if `others` is zero. Otherwise the labeler may have reached its maximum number of
  // named values: keep the entries, so that no other value takes their place.
  const kept = values.filter(([, a, r]) => a + r > 0 || applied + removed > 0);
  const rows: (readonly [kind: number, key: string, applied: number, removed: number])[] = [
    ...signatureVerdicts.map((verdict) => [labelerKinds.verdict, verdict, verdicts[verdict] ?? 0, 0] as const),
    ...kept.map(([value, a, r]) => [labelerKinds.value, value, a, r] as const),
    [labelerKinds.others, '', applied, removed],
    ...delays.map(([range, n]) => [labelerKinds.delay, String(range), n, 0] as const),
  ];
  return rows.filter(([kind, , a, r]) => kind === labelerKinds.value || a + r > 0).map((row) => [...row]);
}

/** Inserts rows into a table. Each column is given as its name followed by its type. */
export async function insertAll(
  queries: Queries,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Scalar[])[],
): Promise<void> {
  const split = columns.map((column) => column.split(' '));
  const names = split.map(([name]) => name).join(', ');
  const types = split.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ');
  for (let from = 0; from < rows.length; from += rowsAtOnce) {
    const some = rows.slice(from, from + rowsAtOnce);
    await queries.run(
      `INSERT INTO ${table}(${names}) SELECT * FROM unnest(${types})`,
      columns.map((_, i) => some.map((row) => row[i] ?? null)),
    );
  }
}

function bounds(day: number, length: number): [start: number, end: number] {
  return [dayStart(day) / length, dayStart(day + 1) / length];
}
