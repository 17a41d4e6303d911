import { once } from 'node:events';
import { microsFromMillis } from '../../contract/timestamp.ts';
import { windowDays } from '../query/query.ts';
import type { ViewQuery } from '../view/view.ts';
import type { ReadingPool } from './reading-pool.ts';

/** DID of an account without rows. Reading its page opens every file of the window at little cost. */
const emptyAccount = 'did:web:empty.invalid';
/** Maximum number of hot accounts that a warm-up reads. The runtime compiles the code only after several reads. */
const maxHotAccounts = 4;

/** Options for a warm-up. */
export interface WarmUpOptions {
  readonly reading: Pick<ReadingPool, 'warm'>;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Aborted when the service must not wait for the warm-up any longer. */
  readonly enough: AbortSignal;
  /** Renders the page of an account. Resolves to false if that fails. */
  readonly draw: (account: string) => Promise<boolean>;
}

/**
 * Opens the files in every reading process, then reads several hot accounts and renders their pages, so that the
 * first request waits neither for files nor for the compilation of code. Stops at the first page that cannot be
 * rendered. Resolves when `enough` is aborted, so that no account can prevent the service from listening.
 */
export async function warmUp({ reading, now, enough, draw }: WarmUpOptions): Promise<void> {
  if (!enough.aborted) await Promise.race([once(enough, 'abort'), warmUpFully()]);

  async function warmUpFully(): Promise<void> {
    await reading.warm((store) => store.view(viewOf(emptyAccount, now)));
    if (enough.aborted || !(await draw(emptyAccount))) return;
    let hotAccounts: readonly string[] = [];
    // Read the hot accounts in a second turn: opening uncached files may use up most of the time limit of the first
    // turn.
    await reading.warm(async (store) => {
      const found = await store.busyAccounts(maxHotAccounts);
      for (const account of found) {
        if (enough.aborted) return;
        await store.view(viewOf(account, now));
      }
      hotAccounts = found;
    });
    for (const account of hotAccounts) if (enough.aborted || !(await draw(account))) return;
  }
}

function viewOf(account: string, now: number): ViewQuery {
  const asked = { kind: 'days', days: windowDays } as const;
  return { query: { account, asked, filters: {} }, before: null, now: microsFromMillis(now) };
}
