import { StoreError } from './errors.ts';
import { type AccountQuery, maxChunkRows, type Observation, type StoreReader } from './port.ts';

/**
 * All rows of an account in an interval, chunk by chunk; each chunk is a call of its own, so nothing is held between
 * them. Throws `budget_exceeded` once more than `budget` rows turn up.
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
