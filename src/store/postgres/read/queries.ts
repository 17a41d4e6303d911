import type { Micros } from '../../../contract/timestamp.ts';
import type { LabelerCount } from '../../counts.ts';
import { StoreError } from '../../errors.ts';
import {
  type AccountChunk,
  type AccountFilter,
  type AccountInterval,
  type AccountQuery,
  type BucketCount,
  maxChunkRows,
  type RefusalCount,
  type StoreReader,
} from '../../port.ts';
import { day as dayLength, dayName, dayOf, dayStart, hour, type Interval, micros, minute } from '../../time.ts';
import { decodeRow, ofSubject, type RowRecord, recordColumns, removalFlag, subjectKey, targets } from '../base/row.ts';
import type { Limits, Queries, Session } from '../base/session.ts';
import type { Value } from '../base/value.ts';

/** Runs a query of a reader. */
export type Query = <T>(work: () => Promise<T>) => Promise<T>;

/** Creates the methods of the port that read rows and the counters of their times. */
export function rowReads(query: Query, session: Session) {
  return {
    readAccount: (asked) => query(async () => readAccount(session, asked)),
    accountIntervals: (asked) => query(() => accountIntervals(session, asked)),
    countsByLabeler: (interval) => query(() => countsByLabeler(session, interval)),
    countsOverTime: (asked) => query(() => countsOverTime(session, asked)),
    labelersActive: (interval) => query(async () => (await countsByLabeler(session, interval)).length),
    refusals: (interval) => query(() => refusals(session, interval)),
  } satisfies Partial<StoreReader>;
}

/** State of the store as seen by one transaction. */
interface Look {
  readonly floor: Micros;
  /** Newest day that has a table, to which rows may still be added, or null in an empty store. */
  readonly newest: number | null;
  /** Time before which the server has received everything, or null if the server is up to date. */
  readonly through: Micros | null;
}

/** Throws `invalid_query` unless both ends of the interval are safe integers and the interval ends after it starts. */
function assertInterval({ start, end }: Interval): void {
  if (!(Number.isSafeInteger(start) && Number.isSafeInteger(end) && start < end)) {
    throw new StoreError('invalid_query', 'an interval must end after it starts');
  }
}

/**
 * Runs queries on one snapshot of the rows of an interval. Throws `out_of_window` if the interval begins before the
 * floor. The floor is raised before a day is removed, so that a removed day never counts as empty. Throws `behind` if
 * the server has not received everything before the end of the interval.
 */
export async function readRows<T>(
  session: Session,
  interval: Interval,
  work: (queries: Queries, look: Look) => Promise<T>,
  limits?: Limits,
): Promise<T> {
  assertInterval(interval);
  return session.read(
    async (queries) => {
      const look = await lookAt(queries, session);
      assertRetained(interval, look.floor);
      assertReceived(interval, look.through);
      return work(queries, look);
    },
    {
      locked: 'observation',
      // A reader's lock on a standby does not prevent the primary from detaching a day, so the floor is checked again.
      after: async (queries) => assertRetained(interval, await floorOf(queries)),
      ...(limits && { limits }),
    },
  );
}

/**
 * Runs queries on small tables. Throws `behind` if the server has not received everything before the end of the
 * interval.
 */
export async function readState<T>(
  session: Session,
  interval: Interval,
  work: (queries: Queries) => Promise<T>,
): Promise<T> {
  assertInterval(interval);
  return session.read(async (queries) => {
    assertReceived(interval, (await lookAt(queries, session)).through);
    return work(queries);
  });
}

async function lookAt(queries: Queries, session: Session): Promise<Look> {
  const [look] = await queries.rows<Look>(
    `SELECT floor, (SELECT max(day) FROM day) AS newest, ${throughIn(session)} AS through FROM store`,
  );
  if (!look) throw new StoreError('damaged', 'the table "store" has no row');
  return look;
}

/**
 * Returns the SQL expression for the time before which a server has received everything, or null if it is certainly
 * up to date. A row that the server has not received has a later stamp than the newest row of the server, and a stamp
 * at or after its newest mark. A server that was suspended while another one became the primary still reports itself
 * as the primary, but the lease that it stores is no longer renewed.
 */
export function throughIn({ place, isWriter }: Session): string {
  if (isWriter) return 'NULL::bigint';
  const isUncertain =
    place.hosts.length > 1 ? 'pg_is_in_recovery() OR expires_at <= clock_timestamp()' : 'pg_is_in_recovery()';
  return `CASE WHEN ${isUncertain} THEN greatest(floor, last_stamp + 1, mark) END`;
}

function assertReceived({ end }: Interval, through: number | null): void {
  if (through !== null && end > through) {
    throw new StoreError(
      'behind',
      `the server has received only the data before ${through} µs, but the interval ends at ${end} µs`,
    );
  }
}

async function floorOf(queries: Queries): Promise<number> {
  const [row] = await queries.rows<{ floor: number }>('SELECT floor FROM store');
  return row?.floor ?? Number.POSITIVE_INFINITY;
}

function assertRetained({ start }: Interval, floor: number): void {
  if (start < floor) throw new StoreError('out_of_window', `the interval begins before ${dayName(dayOf(floor))}`);
}

/** Reads one chunk of an account's rows. */
function readAccount(session: Session, query: AccountQuery): Promise<AccountChunk> {
  const { account, order, after, limit, filter = {}, passes = Number.POSITIVE_INFINITY } = query;
  if (!Number.isInteger(limit) || limit < 1 || limit > maxChunkRows) {
    throw new StoreError('invalid_query', `the limit must be 1 to ${maxChunkRows}`);
  }
  // Only a filtered read needs a limit on the rows read: without a filter, `limit` already bounds them.
  const isBounded = Object.keys(filter).length > 0 && order === 'oldest' && Number.isFinite(passes);
  const part: Part = {
    subject: subjectKey(account),
    start: order === 'oldest' && after !== null ? Math.max(query.start, after + 1) : query.start,
    end: order === 'newest' && after !== null ? Math.min(query.end, after) : query.end,
  };
  // Check the floor against the requested interval, not only against the part that remains to be read.
  return readRows(session, query, async (queries) => {
    const passed = isBounded ? await passing(queries, part, passes) : null;
    const end = passed === null ? part.end : passed.rows === 0 ? part.start : passed.last + 1;
    const rows = await rowsOf(queries, { ...part, end }, { order, limit: limit + 1, filter });
    const chunk = rows.slice(0, limit).map(decodeRow);
    if (rows.length > limit) return { rows: chunk, next: chunk.at(-1)?.observedAt ?? null };
    return { rows: chunk, next: passed?.rows === passes ? micros(passed.last) : null };
  });
}

/** Rows of one account in one interval. */
interface Part {
  readonly subject: string;
  readonly start: number;
  readonly end: number;
}

const within = `${ofSubject('o', 1)} AND o.at >= $2 AND o.at < $3`;

async function rowsOf(
  queries: Queries,
  { subject, start, end }: Part,
  { order, limit, filter }: { order: AccountQuery['order']; limit: number; filter: AccountFilter },
): Promise<RowRecord[]> {
  const values: Value[] = [subject, start, end, limit];
  const conditions = [within];
  const add = (condition: string, value: Value): void => {
    values.push(value);
    conditions.push(`${condition} $${values.length}`);
  };
  if (filter.labeler !== undefined) add('o.source = (SELECT id FROM source WHERE did =', filter.labeler);
  if (filter.labeler !== undefined) conditions.push(`${conditions.pop() ?? ''})`);
  if (filter.value !== undefined) add('o.val =', filter.value);
  if (filter.target !== undefined) add('o.target =', targets.indexOf(filter.target));
  if (filter.removed !== undefined) conditions.push(`o.flags & ${removalFlag} ${filter.removed ? '<>' : '='} 0`);
  const direction = order === 'oldest' ? 'ASC' : 'DESC';
  return queries.rows<RowRecord>(
    `SELECT ${recordColumns} FROM (SELECT * FROM observation o WHERE ${conditions.join(' AND ')}
     ORDER BY o.at ${direction} LIMIT $4) o JOIN source s ON s.id = o.source ORDER BY o.at ${direction}`,
    values,
  );
}

/**
 * Counts the rows of an interval from its start, up to `most` rows. Returns their number and the stamp of the last
 * counted row, or `start` if there are no rows.
 */
async function passing(queries: Queries, { subject, start, end }: Part, most: number) {
  const [row] = await queries.rows<{ rows: number; last: Micros | null }>(
    `SELECT count(*) AS rows, max(at) AS last FROM
     (SELECT at FROM observation o WHERE ${within} ORDER BY at LIMIT $4) o`,
    [subject, start, end, most],
  );
  return { rows: row?.rows ?? 0, last: row?.last ?? start };
}

/** Splits an interval into parts with at most `maxRows` of the account's rows each. */
async function accountIntervals(
  session: Session,
  query: Parameters<StoreReader['accountIntervals']>[0],
): Promise<AccountInterval[]> {
  const { account, start, end, maxRows, budget } = query;
  if (!Number.isInteger(maxRows) || maxRows < 1) throw new StoreError('invalid_query', 'maxRows must be at least 1');
  const found = await readRows(session, query, (queries) =>
    queries.rows<{ first: Micros; rows: number }>(
      `SELECT min(at) AS first, count(*) AS rows FROM
       (SELECT at, (row_number() OVER (ORDER BY at) - 1) / $5::bigint AS part FROM
        (SELECT at FROM observation o WHERE ${within} ORDER BY at LIMIT $4) o) p GROUP BY part ORDER BY 1`,
      [subjectKey(account), start, end, budget + 1, maxRows],
    ),
  );
  const counted = found.reduce((sum, { rows }) => sum + rows, 0);
  if (counted > budget) throw new StoreError('budget_exceeded', `the interval has more than ${budget} rows`);
  const starts = [start, ...found.slice(1).map(({ first }) => first)];
  return starts.map((from, i) => ({ start: from, end: starts[i + 1] ?? end, rows: found[i]?.rows ?? 0 }));
}

/** Maximum length of the interval of `countsOverTime` by bucket, in microseconds. */
const longest = { hour: 40 * dayLength, minute: 2 * dayLength } as const;

/**
 * Returns exact counts per labeler: from hour and minute counters, and from the rows of the incomplete minutes at both
 * ends of the interval.
 */
async function countsByLabeler(session: Session, interval: Interval): Promise<LabelerCount[]> {
  const rows = await readRows(session, interval, (queries) => {
    const parts = partsOf(interval);
    const selects = parts.map(({ kind, from, to }) =>
      kind === 'rows'
        ? `SELECT source, count(*) FILTER (WHERE flags & ${removalFlag} = 0), count(*) FILTER (WHERE flags & ${removalFlag} <> 0)
           FROM observation WHERE at >= ${from} AND at < ${to} GROUP BY source`
        : `SELECT source, sum(applied), sum(removed) FROM counter_${kind} WHERE ${kind} >= ${from} AND ${kind} < ${to} GROUP BY source`,
    );
    return queries.rows<LabelerCount>(
      `SELECT s.did AS labeler, sum(c.applied)::bigint AS applied, sum(c.removed)::bigint AS removed
       FROM (${selects.join(' UNION ALL ')}) AS c(source, applied, removed) JOIN source s ON s.id = c.source
       GROUP BY s.did HAVING sum(c.applied) + sum(c.removed) > 0`,
    );
  });
  return rows.sort((a, b) => b.applied + b.removed - (a.applied + a.removed) || (a.labeler < b.labeler ? -1 : 1));
}

/**
 * A part of an interval. A part of the kind `rows` is counted from rows; its `from` and `to` are in microseconds.
 * Other parts are counted from the counters of whole minutes or hours; their `from` and `to` are bucket numbers.
 */
interface CountedPart {
  readonly kind: 'rows' | 'minute' | 'hour';
  readonly from: number;
  readonly to: number;
}

/** Splits an interval into parts that are counted from rows, minute counters and hour counters; omits empty parts. */
function partsOf({ start, end }: Interval): CountedPart[] {
  const firstMinute = Math.ceil(start / minute);
  const lastMinute = Math.floor(end / minute);
  if (firstMinute > lastMinute) return [{ kind: 'rows', from: start, to: end }];
  const firstHour = Math.ceil(firstMinute / 60);
  const lastHour = Math.floor(lastMinute / 60);
  const whole: CountedPart[] =
    firstHour >= lastHour
      ? [{ kind: 'minute', from: firstMinute, to: lastMinute }]
      : [
          { kind: 'minute', from: firstMinute, to: firstHour * 60 },
          { kind: 'hour', from: firstHour, to: lastHour },
          { kind: 'minute', from: lastHour * 60, to: lastMinute },
        ];
  const edges: CountedPart[] = [
    { kind: 'rows', from: start, to: firstMinute * minute },
    { kind: 'rows', from: lastMinute * minute, to: end },
  ];
  const parts = [...whole, ...edges].filter(({ from, to }) => from < to);
  return parts.length > 0 ? parts : [{ kind: 'rows', from: start, to: end }];
}

/** Returns exact counts per labeler and whole hour or minute. */
async function countsOverTime(
  session: Session,
  query: Parameters<StoreReader['countsOverTime']>[0],
): Promise<BucketCount[]> {
  const { bucket, labeler, start, end } = query;
  assertInterval(query);
  const length = bucket === 'hour' ? hour : minute;
  if (start % length !== 0 || end % length !== 0 || end - start > longest[bucket]) {
    throw new StoreError(
      'invalid_query',
      `the interval must consist of whole ${bucket}s and be at most ${longest[bucket]} µs long`,
    );
  }
  return readRows(session, query, (queries) =>
    queries.rows<BucketCount>(
      `SELECT s.did AS labeler, c.${bucket}::bigint * ${length} AS start, c.applied, c.removed
       FROM counter_${bucket} c JOIN source s ON s.id = c.source
       WHERE c.${bucket} >= $1 AND c.${bucket} < $2 AND ($3::text IS NULL OR s.did = $3) ORDER BY 2, 1`,
      [start / length, end / length, labeler ?? null],
    ),
  );
}

/** Returns the number of refused labels by source and reason in the hours that overlap the interval. */
function refusals(session: Session, interval: Interval): Promise<RefusalCount[]> {
  return readRows(session, interval, (queries) =>
    queries.rows<RefusalCount>(
      `SELECT s.did AS source, r.reason, sum(r.n)::bigint AS count FROM refusal r JOIN source s ON s.id = r.source
       WHERE r.hour >= $1 AND r.hour < $2 GROUP BY 1, 2 ORDER BY 1, 2`,
      [Math.floor(interval.start / hour), Math.ceil(interval.end / hour)],
    ),
  );
}

/** Number of rows per FETCH. */
const identitiesAtOnce = 20_000;

interface IdentityRow {
  readonly at: number;
  readonly identity: Buffer;
  readonly source: number;
}

/** Calls `found` with the stamp, identity and source id of each row accepted at or after `since`, in stamp order. */
export async function readIdentities(
  queries: Queries,
  since: number,
  found: (at: number, identity: Buffer, source: number) => void,
): Promise<void> {
  await queries.run(
    `DECLARE identities NO SCROLL CURSOR FOR SELECT at, identity, source FROM observation
     WHERE at >= ${Math.max(since, dayStart(0))} ORDER BY at`,
  );
  for (;;) {
    const rows = await queries.rows<IdentityRow>(`FETCH ${identitiesAtOnce} FROM identities`);
    for (const { at, identity, source } of rows) found(at, identity, source);
    if (rows.length < identitiesAtOnce) return;
  }
}
