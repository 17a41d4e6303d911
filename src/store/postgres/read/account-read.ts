import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import {
  type AccountChunk,
  type AccountFilter,
  type AccountInterval,
  type AccountQuery,
  maxChunkRows,
  type StoreReader,
} from '../../port.ts';
import { micros } from '../../time.ts';
import { decodeRow, ofSubject, type RowRecord, recordColumns, removalFlag, subjectKey, targets } from '../base/row.ts';
import type { Queries, Session } from '../base/session.ts';
import type { Value } from '../base/value.ts';
import { readRows } from './look.ts';

/** Reads one chunk of an account's rows. */
export function readAccount(session: Session, query: AccountQuery): Promise<AccountChunk> {
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
export async function accountIntervals(
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
