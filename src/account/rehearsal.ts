import { microsFromMillis } from '../contract/timestamp.ts';
import type { ViewQuery } from './page/view.ts';
import { windowDays } from './query.ts';
import type { ReadingPool } from './reading/reading-pool.ts';

/** An account that nobody has: to ask for it opens every file of the window, and reads next to nothing. */
const nobody = 'did:web:nobody.invalid';
/** Accounts with many rows that are read beside it: of few the code would still be slow in its first turns. */
const rehearsals = 4;

/**
 * Has every reading process open what it will read from and read a few accounts with many rows, and draws their pages,
 * so that the first client waits neither for files nor for code. `now` in milliseconds since 1970. Rejects with what
 * `draw` rejects with, never for a store that is not there yet: the turn that finds it opens it.
 */
export async function rehearse(
  reading: Pick<ReadingPool, 'warm'>,
  now: number,
  draw: (account: string) => Promise<unknown>,
): Promise<void> {
  let busy: readonly string[] = [];
  await reading.warm(async (store) => {
    await store.view(viewOf(nobody, now));
    busy = await store.busyAccounts(rehearsals);
    for (const account of busy) await store.view(viewOf(account, now));
  });
  for (const account of [nobody, ...busy]) await draw(account);
}

function viewOf(account: string, now: number): ViewQuery {
  const asked = { kind: 'days', days: windowDays } as const;
  return { query: { account, asked, filters: {} }, before: null, now: microsFromMillis(now) };
}
