import { once } from 'node:events';
import { microsFromMillis } from '../../contract/timestamp.ts';
import { windowDays } from '../query/query.ts';
import type { ViewQuery } from '../view/view.ts';
import type { ReadingPool } from './reading-pool.ts';

/** An account that nobody has: to ask for it opens every file of the window, and reads next to nothing. */
const nobody = 'did:web:nobody.invalid';
/** Accounts with many rows that are read beside it: of few the code would still be slow in its first turns. */
const rehearsals = 4;

/** Options of a warm-up. */
export interface RehearsalOptions {
  readonly reading: Pick<ReadingPool, 'warm'>;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Aborted when nobody waits for the end of it any more. */
  readonly enough: AbortSignal;
  /** Draws the page of an account; false where that failed. */
  readonly draw: (account: string) => Promise<boolean>;
}

/**
 * Has every reading process open what it will read from and read a few accounts with many rows, and draws their pages,
 * so that the first client waits neither for files nor for code. It goes no further than the first thing that fails,
 * and resolves when it is `enough` whatever is still under way: what others labelled must not keep us from listening.
 */
export async function rehearse({ reading, now, enough, draw }: RehearsalOptions): Promise<void> {
  if (!enough.aborted) await Promise.race([once(enough, 'abort'), rehearseAll()]);

  async function rehearseAll(): Promise<void> {
    await reading.warm((store) => store.view(viewOf(nobody, now)));
    if (enough.aborted || !(await draw(nobody))) return;
    let busy: readonly string[] = [];
    // A turn of its own, as each has a deadline: to open the files takes most of one where nothing of them is cached.
    await reading.warm(async (store) => {
      const found = await store.busyAccounts(rehearsals);
      for (const account of found) {
        if (enough.aborted) return;
        await store.view(viewOf(account, now));
      }
      busy = found;
    });
    for (const account of busy) if (enough.aborted || !(await draw(account))) return;
  }
}

function viewOf(account: string, now: number): ViewQuery {
  const asked = { kind: 'days', days: windowDays } as const;
  return { query: { account, asked, filters: {} }, before: null, now: microsFromMillis(now) };
}
