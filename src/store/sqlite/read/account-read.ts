import { setImmediate as nextTick } from 'node:timers/promises';
import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import {
  type AccountChunk,
  type AccountInterval,
  type AccountQuery,
  maxChunkRows,
  type Observation,
  type StoreReader,
} from '../../port.ts';
import { dayStart, type Interval, micros } from '../../time.ts';
import { subjectKey } from '../base/row.ts';
import type { Days } from './days.ts';

/** Maximum number of stamps that are read in one turn of the event loop. */
const stampsAtOnce = 20_000;

/** Reads one chunk of an account's rows. */
export function readAccount(days: Days, query: AccountQuery): AccountChunk {
  const { account, order, after, limit, filter, withoutBytes } = query;
  assertInterval(query);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxChunkRows) {
    throw new StoreError('invalid_query', `the limit must be 1 to ${maxChunkRows}`);
  }
  const passes = query.passes ?? Number.POSITIVE_INFINITY;
  // Only a filtered read needs a limit on the rows read: without a filter, `limit` already bounds them.
  const filtered = Object.keys(filter ?? {}).length > 0;
  const bounded = filtered && order === 'oldest' && Number.isFinite(passes);
  const start = order === 'oldest' && after !== null ? Math.max(query.start, after + 1) : query.start;
  const end = order === 'newest' && after !== null ? Math.min(query.end, after) : query.end;
  const key = subjectKey(account);
  // Check the floor against the requested interval, not only against the part that remains to be read.
  return days.over(query, (look) => {
    const rows: Observation[] = [];
    let left = passes;
    let reached: Micros | null = null;
    for (const day of order === 'oldest' ? look.days : look.days.toReversed()) {
      if (rows.length > limit || reached !== null) break;
      if (dayStart(day.day + 1) <= start || dayStart(day.day) >= end) continue;
      const passed = bounded ? day.passing(key, start, end, left) : null;
      if (bounded && passed === null) continue;
      const range = { key, start, end: passed ? passed.last + 1 : end, limit: limit + 1 - rows.length };
      rows.push(...day.account(range, { order, ...(filter && { filter }), ...(withoutBytes && { withoutBytes }) }));
      left -= passed?.rows ?? 0;
      if (passed && left === 0) reached = micros(passed.last);
    }
    const chunk = rows.slice(0, limit);
    return { rows: chunk, next: rows.length > limit ? (chunk.at(-1)?.observedAt ?? null) : reached };
  });
}

/** Splits an interval into parts with at most `maxRows` of the account's rows each. */
export async function accountIntervals(
  days: Days,
  query: Parameters<StoreReader['accountIntervals']>[0],
): Promise<AccountInterval[]> {
  const { account, maxRows, budget } = query;
  assertInterval(query);
  if (!Number.isInteger(maxRows) || maxRows < 1) throw new StoreError('invalid_query', 'maxRows must be at least 1');
  const key = subjectKey(account);
  const parts: AccountInterval[] = [];
  let partStart: number = query.start;
  let inPart = 0;
  let counted = 0;
  let from: number = query.start;
  for (;;) {
    // Once a part is full, read only one more row: the next part begins at its stamp.
    const most = inPart === maxRows ? 1 : Math.min(stampsAtOnce, maxRows - inPart);
    const passed = days.over(query, (look) => {
      for (const day of look.days) {
        if (dayStart(day.day + 1) <= from) continue;
        const found = day.passing(key, from, query.end, most);
        if (found) return found;
      }
      return null;
    });
    if (passed === null) break;
    counted += passed.rows;
    if (counted > budget) throw new StoreError('budget_exceeded', `the interval has more than ${budget} rows`);
    if (inPart === maxRows) {
      parts.push({ start: micros(partStart), end: micros(passed.last), rows: inPart });
      partStart = passed.last;
      inPart = 0;
    }
    inPart += passed.rows;
    from = passed.last + 1;
    await nextTick();
  }
  return [...parts, { start: micros(partStart), end: query.end, rows: inPart }];
}

/** Throws `invalid_query` unless both ends of the interval are safe integers and the interval ends after it starts. */
export function assertInterval({ start, end }: Interval): void {
  if (!(Number.isSafeInteger(start) && Number.isSafeInteger(end) && start < end)) {
    throw new StoreError('invalid_query', 'an interval must end after it starts');
  }
}
