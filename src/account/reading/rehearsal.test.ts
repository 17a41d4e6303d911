import { expect, it } from 'vitest';
import type { AccountReads } from './protocol.ts';
import { rehearse } from './rehearsal.ts';

const nobody = 'did:web:nobody.invalid';
const busy = ['did:plc:a', 'did:plc:b'];

/** A rehearsal of two reading processes, and what was asked of them. */
function rehearsal(answer: {
  readonly busyAccounts?: AccountReads['busyAccounts'];
  readonly view?: (account: string) => Promise<'out_of_window'>;
  readonly draw?: (account: string) => boolean;
}) {
  const asked: string[] = [];
  const ended = new AbortController();
  const reads = {
    busyAccounts: answer.busyAccounts ?? ((limit) => Promise.resolve(busy.slice(0, limit))),
    view: ({ query }) => {
      asked.push(`read ${query.account}`);
      return answer.view?.(query.account) ?? Promise.resolve('out_of_window');
    },
  } satisfies Pick<AccountReads, 'busyAccounts' | 'view'> as unknown as AccountReads;
  const done = rehearse({
    reading: {
      async warm(read) {
        for (let process = 0; process < 2; process++) await read(reads).catch(() => undefined);
      },
    },
    now: Date.UTC(2026, 10, 21),
    enough: ended.signal,
    draw: (account) => {
      asked.push(`draw ${account}`);
      return Promise.resolve(answer.draw?.(account) ?? true);
    },
  });
  return { asked, ended, done };
}

it('reads nobody and some accounts with many rows in every process, and draws their pages', async () => {
  const { asked, done } = rehearsal({});
  await done;
  expect(asked).toEqual([
    ...[`read ${nobody}`, `read ${nobody}`, `draw ${nobody}`],
    ...['read did:plc:a', 'read did:plc:b', 'read did:plc:a', 'read did:plc:b'],
    ...['draw did:plc:a', 'draw did:plc:b'],
  ]);
});

it('goes no further than a page that cannot be drawn: a store that is not there, or is too busy', async () => {
  const missing = rehearsal({ draw: () => false });
  await missing.done;
  expect(missing.asked).toEqual([`read ${nobody}`, `read ${nobody}`, `draw ${nobody}`]);
  const failing = rehearsal({ draw: (account) => account === nobody });
  await failing.done;
  expect(failing.asked.slice(-1)).toEqual(['draw did:plc:a']);
});

it('draws none of the accounts that could not be read', async () => {
  const { asked, done } = rehearsal({
    view: (account) => (account === nobody ? Promise.resolve('out_of_window') : Promise.reject(new Error('killed'))),
  });
  await done;
  expect(asked.filter((line) => line.startsWith('draw'))).toEqual([`draw ${nobody}`]);
});

it('keeps nobody waiting once it is enough, whatever is under way', async () => {
  const { asked, ended, done } = rehearsal({ view: () => new Promise(() => undefined) });
  ended.abort();
  await done;
  expect(asked).toEqual([`read ${nobody}`]);
});
