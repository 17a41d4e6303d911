import { StoreError } from '../../store/errors.ts';
import type { AccountInterval, Frontier } from '../../store/port.ts';
import { day, dayOf, dayStart, type Interval, micros } from '../../store/time.ts';
import type { AccountStore } from './account-store.ts';

/** Maximum rows counted in one turn: a fraction of a second, after which other clients have their turn. */
const rowsPerTurn = 500_000;
/**
 * Maximum rows counted to split an interval; an account with more is refused without parts. It exceeds the expected
 * rows of all accounts in the window, and only stops a faulty count from running forever.
 */
const countBudget = 50_000_000;

/** Runs each read in its own turn. */
export type Turns = <T>(work: (store: AccountStore) => Promise<T>) => Promise<T>;

/**
 * Splits an interval into parts of at most `maxRows` of the account's rows; null if one turn is too short to count
 * them.
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

/** Splits an interval like `partsInOneTurn`, in as many turns as necessary. */
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
  // A stack, so that an interval that is split further is counted before those that follow it.
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
      throw new StoreError('budget_exceeded', `the interval holds more than ${countBudget} rows`);
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

/** Adds a part, or extends the last one by it if both fit. */
function append(merged: AccountInterval[], part: AccountInterval, maxRows: number): void {
  const last = merged.at(-1);
  if (last && last.rows + part.rows <= maxRows) {
    merged[merged.length - 1] = { start: last.start, end: part.end, rows: last.rows + part.rows };
  } else {
    merged.push(part);
  }
}

/** If there are several parts, time after the frontier forms its own part, because only that part can grow. */
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
