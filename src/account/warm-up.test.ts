import { expect, it } from 'vitest';
import { warmUp } from './app.ts';
import type { AccountReads } from './reading/reading-child.ts';

const empty = 'did:web:empty.invalid';
const hotAccounts = ['did:plc:a', 'did:plc:b'];

/** Creates a warm-up over two simulated reading processes, and records the reads and pages that it requests. */
function warmUpOf(answer: {
  readonly busyAccounts?: AccountReads['busyAccounts'];
  readonly view?: (account: string) => Promise<'out_of_window'>;
  readonly draw?: (account: string) => boolean;
}) {
  const asked: string[] = [];
  const ended = new AbortController();
  const reads = {
    busyAccounts: answer.busyAccounts ?? ((limit) => Promise.resolve(hotAccounts.slice(0, limit))),
    view: ({ query }) => {
      asked.push(`read ${query.account}`);
      return answer.view?.(query.account) ?? Promise.resolve('out_of_window');
    },
  } satisfies Pick<AccountReads, 'busyAccounts' | 'view'> as unknown as AccountReads;
  const done = warmUp({
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

it('a warm-up reads an empty account and hot accounts in every process, and renders their pages', async () => {
  const { asked, done } = warmUpOf({});
  await done;
  expect(asked).toEqual([
    ...[`read ${empty}`, `read ${empty}`, `draw ${empty}`],
    ...['read did:plc:a', 'read did:plc:b', 'read did:plc:a', 'read did:plc:b'],
    ...['draw did:plc:a', 'draw did:plc:b'],
  ]);
});

it('a warm-up ends at the first page that cannot be rendered', async () => {
  const missing = warmUpOf({ draw: () => false });
  await missing.done;
  expect(missing.asked).toEqual([`read ${empty}`, `read ${empty}`, `draw ${empty}`]);
  const failing = warmUpOf({ draw: (account) => account === empty });
  await failing.done;
  expect(failing.asked.slice(-1)).toEqual(['draw did:plc:a']);
});

it('a warm-up does not render the page of an account that could not be read', async () => {
  const { asked, done } = warmUpOf({
    view: (account) => (account === empty ? Promise.resolve('out_of_window') : Promise.reject(new Error('killed'))),
  });
  await done;
  expect(asked.filter((line) => line.startsWith('draw'))).toEqual([`draw ${empty}`]);
});

it('a warm-up resolves when its signal is aborted, even during a read', async () => {
  const { asked, ended, done } = warmUpOf({ view: () => new Promise(() => undefined) });
  ended.abort();
  await done;
  expect(asked).toEqual([`read ${empty}`]);
});
