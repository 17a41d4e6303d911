import { expect, it } from 'vitest';
import type { AccountReads } from './reading/protocol.ts';
import { rehearse } from './rehearsal.ts';

/** Two reading processes over a store that tells of these accounts, and what was asked of it. */
function rehearsal(busyAccounts: AccountReads['busyAccounts']) {
  const asked: string[] = [];
  const reads = {
    busyAccounts,
    view: ({ query }) => {
      asked.push(`read ${query.account}`);
      return Promise.resolve('out_of_window');
    },
  } satisfies Pick<AccountReads, 'busyAccounts' | 'view'> as unknown as AccountReads;
  return {
    asked,
    run: () =>
      rehearse(
        {
          async warm(read) {
            for (let process = 0; process < 2; process++) await read(reads).catch(() => undefined);
          },
        },
        Date.UTC(2026, 10, 21),
        (account) => Promise.resolve(asked.push(`draw ${account}`)),
      ),
  };
}

const nobody = 'did:web:nobody.invalid';

it('reads nobody and some accounts with many rows in every process, and draws their pages', async () => {
  const { asked, run } = rehearsal((limit) => Promise.resolve(['did:plc:a', 'did:plc:b'].slice(0, limit)));
  await run();
  const read = [`read ${nobody}`, 'read did:plc:a', 'read did:plc:b'];
  expect(asked).toEqual([...read, ...read, `draw ${nobody}`, 'draw did:plc:a', 'draw did:plc:b']);
});

it('draws a page of nobody where the store cannot be read', async () => {
  const { asked, run } = rehearsal(() => Promise.reject(new Error('no store')));
  await run();
  expect(asked).toEqual([`read ${nobody}`, `read ${nobody}`, `draw ${nobody}`]);
});
