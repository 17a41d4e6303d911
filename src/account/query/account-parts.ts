import { StoreError } from '../../store/errors.ts';
import type { AccountInterval, Frontier } from '../../store/port.ts';
import { day, dayOf, dayStart, type Interval, micros } from '../../store/time.ts';
import type { AccountStore } from './account-store.ts';

/** Maximum number of rows that are counted per turn; counting them takes a fraction of a second. */
const rowsPerTurn = 500_000;
/**
 * Maximum number of rows that are counted to split an interval. The window is expected to have fewer rows in total, so
 * only a faulty count reaches the limit.
 */
const countBudget = 50_000_000;

/** Runs work on the store in a separate turn of the reading pool. */
export type Turns = <T>(work: (store: AccountStore) => Promise<T>) => Promise<T>;

/**
 * Splits an interval into parts with at most `maxRows` of the account's rows each. Returns null if there are too many
 * rows to count in one turn.
 */
export async function partsInOneTurn(
  store: AccountStore,
  account: string,
  { start, end }: Interval,
  frontier: Pick<Frontier, 'end'>,
  maxRows: number,
): Promise<readonly AccountInterval[] | null> {
  const known = micros(Math.min(end, frontier.end));
  if (known <= start) return [{ start, end, rows: 0 }];
  const parts = await countedParts(store, account, { start, end: known }, maxRows);
  return parts && upTo(end, known, parts);
}

/**
 * Splits an interval like `partsInOneTurn`, in as many turns as necessary. Throws `budget_exceeded` above `countBudget`
 * rows.
 */
export async function partsInTurns(
  turns: Turns,
  account: string,
  { start, end }: Interval,
  frontier: Pick<Frontier, 'end'>,
  maxRows: number,
): Promise<readonly AccountInterval[]> {
  const known = micros(Math.min(end, frontier.end));
  if (known <= start) return [{ start, end, rows: 0 }];
  const merged: AccountInterval[] = [];
  let counted = 0;
  // Use a stack, so that both halves of a split interval are counted before the later intervals.
  const left = daysOf({ start, end: known }).toReversed();
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const interval = next;
    const parts = await turns((store) => countedParts(store, account, interval, maxRows));
    if (parts === null) {
      left.push(...halves(interval).toReversed());
      continue;
    }
    for (const part of parts) {
      append(merged, part, maxRows);
      counted += part.rows;
    }
    if (counted > countBudget)
      throw new StoreError('budget_exceeded', `the interval contains more than ${countBudget} rows`);
  }
  return upTo(end, known, merged);
}

async function countedParts(
  store: AccountStore,
  account: string,
  interval: Interval,
  maxRows: number,
): Promise<readonly AccountInterval[] | null> {
  try {
    return await store.accountIntervals({ account, ...interval, maxRows, budget: rowsPerTurn });
  } catch (error) {
    if (error instanceof StoreError && error.code === 'budget_exceeded') return null;
    throw error;
  }
}

/** Appends a part to `merged`, or merges it with the last part if both fit into `maxRows`. */
function append(merged: AccountInterval[], part: AccountInterval, maxRows: number): void {
  const last = merged.at(-1);
  if (last && last.rows + part.rows <= maxRows) {
    merged[merged.length - 1] = { start: last.start, end: part.end, rows: last.rows + part.rows };
  } else {
    merged.push(part);
  }
}

/**
 * Extends the parts to the end of the interval. If there are several parts, the time after the frontier becomes a
 * separate part.
 */
function upTo(
  end: Interval['end'],
  known: Interval['end'],
  parts: readonly AccountInterval[],
): readonly AccountInterval[] {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return [{ ...only, end }];
  return known < end ? [...parts, { start: known, end, rows: 0 }] : parts;
}

function daysOf({ start, end }: Interval): Interval[] {
  const days: Interval[] = [];
  for (let from: number = start; from < end; from = dayStart(dayOf(from)) + day) {
    days.push({ start: micros(from), end: micros(Math.min(end, dayStart(dayOf(from)) + day)) });
  }
  return days;
}

function halves({ start, end }: Interval): Interval[] {
  const middle = micros(start + Math.floor((end - start) / 2));
  return [
    { start, end: middle },
    { start: middle, end },
  ];
}
