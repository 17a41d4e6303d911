import { StoreError } from '../../src/store/errors.ts';
import { openStoreReader } from '../../src/store/open.ts';
import { type AccountQuery, maxChunkRows, type Observation, type StoreReader } from '../../src/store/port.ts';
import { day, type Interval, micros } from '../../src/store/time.ts';
import { subjects } from '../conformance/labels.ts';

/**
 * Yields all rows of an account within an interval in chunks. Each chunk is read in a separate call, so no transaction
 * stays open between chunks. Throws `budget_exceeded` if there are more than `budget` rows.
 */
export async function* scanAccount(
  store: Pick<StoreReader, 'readAccount'>,
  query: Omit<AccountQuery, 'after' | 'limit'>,
  budget: number,
): AsyncGenerator<readonly Observation[]> {
  let after: AccountQuery['after'] = null;
  let left = budget;
  do {
    const { rows, next } = await store.readAccount({ ...query, after, limit: Math.min(maxChunkRows, left + 1) });
    left -= rows.length;
    if (left < 0) throw new StoreError('budget_exceeded', `the interval has more than ${budget} rows`);
    yield rows;
    after = next;
  } while (after !== null);
}

/** Opens a store, and resolves with the result of `read`. */
export async function reading<T>(url: string, read: (store: StoreReader) => Promise<T>): Promise<T> {
  const store = await openStoreReader(url);
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

/** Returns an interval that covers a store's whole epoch and extends into the future. */
export async function wholeSpan(store: Pick<StoreReader, 'epoch'>): Promise<Interval> {
  const { startedAt } = await store.epoch();
  return { start: startedAt, end: micros(startedAt + 100 * day) };
}

/** Returns the number of rows in an interval; by default in the whole epoch. */
export async function countRows(
  store: Pick<StoreReader, 'epoch' | 'countsByLabeler'>,
  interval?: Interval,
): Promise<number> {
  const counts = await store.countsByLabeler(interval ?? (await wholeSpan(store)));
  return counts.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
}

/** Returns every row about the generated accounts in order of acceptance. */
export async function everyRow(store: StoreReader, interval: Interval): Promise<Observation[]> {
  const rows: Observation[] = [];
  for (const account of subjects) {
    const scan = scanAccount(store, { account, ...interval, order: 'oldest' }, 1e6);
    for await (const chunk of scan) rows.push(...chunk);
  }
  return rows.sort((a, b) => a.observedAt - b.observedAt);
}
