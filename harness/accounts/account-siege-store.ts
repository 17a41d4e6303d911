import { join } from 'node:path';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { micros } from '../../src/store/time.ts';
import { fill, labelNo } from './account.ts';
import type { SiegeTargets } from './account-siege.ts';

/** DIDs of the accounts that the clients of a siege request. */
export const siegeTargets: SiegeTargets = {
  plain: 'did:plc:ewvi7nxzyoun6zhxrhs64oiz',
  hot: 'did:plc:hothothothothothothothot',
  large: 'did:plc:largelargelargelargelarg',
};

/**
 * Length of the record key of the largest labels, in characters. Such a label is just below the size limit of the
 * store.
 */
const largeCharacters = 15_000;

/** Writes a store with one account of each kind into a directory. */
export async function writeSiegeStore(folder: string, hotRows: number): Promise<void> {
  const began = Date.now() * 1000 - 3_600_000_000;
  const store = openSqliteWriter({ folder: join(folder, 'labels'), at: micros(began) });
  const at = began + 60_000_000;
  await fill(store, 30, { at, subject: siegeTargets.plain });
  await fill(store, hotRows, { at, from: 1_000, subject: siegeTargets.hot });
  for (let first = 0; first < 600; first += 300) {
    await store.append({
      at: micros(at),
      observations: Array.from({ length: 300 }, (_, i) => ({
        label: {
          ...labelNo(first + i, siegeTargets.large),
          uri: `at://${siegeTargets.large}/app.bsky.feed.post/${String(first + i).padEnd(largeCharacters, 'x')}`,
        },
        signature: 'unverified' as const,
      })),
      refusals: [],
      positions: [],
    });
  }
  await store.close();
}
