import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { until } from '../../../harness/process/until.ts';
import { StoreError } from '../../store/errors.ts';
import { createReadingPool, MemoryRefused, ReadCosts, type ReadTurn } from './reading-pool.ts';

let now = 0;

function poolInTest(waitMs: number, readers = 1, sliceMs = 60_000) {
  const busy: string[] = [];
  const failed: string[] = [];
  const pool = createReadingPool({
    url: 'sqlite:/nowhere',
    readers,
    maxWaiting: 16,
    waitMs,
    deadlineMs: 60_000,
    sliceMs,
    monotonic: () => now,
    telemetry: {
      turn: () => undefined,
      busy: (why) => busy.push(why),
      storeFailed: (code) => failed.push(code),
      restarted: () => undefined,
    },
  });
  onTestFinished(() => pool.stop());
  return { busy, failed, pool };
}

it('a client that disconnects while waiting is not counted as refused', async () => {
  const { busy, pool } = poolInTest(60_000);
  const release = new AbortController();
  const held = pool.run({ client: 'a' }, () => once(release.signal, 'abort'));
  const gone = new AbortController();
  const left = pool.run({ client: 'b', signal: gone.signal }, () => Promise.resolve('read'));
  expect(pool.waiting()).toBe(1);
  gone.abort();
  await expect(left).rejects.toThrow('left');
  expect({ waiting: pool.waiting(), busy }).toEqual({ waiting: 0, busy: [] });
  release.abort();
  await held;
});

it('a turn that fails because the store cannot be read is counted by the code of the error', async () => {
  const { busy, failed, pool } = poolInTest(60_000);
  for (const code of ['damaged', 'unreachable', 'out_of_window', 'budget_exceeded', 'behind'] as const) {
    const turn = pool.run({ client: 'a' }, () => Promise.reject(new StoreError(code, 'a test')));
    await expect(turn).rejects.toMatchObject({ code });
  }
  expect({ busy, failed }).toEqual({ busy: [], failed: ['damaged', 'unreachable'] });
});

it('a client that waits too long is counted as refused', async () => {
  const { busy, pool } = poolInTest(1);
  const release = new AbortController();
  const held = pool.run({ client: 'a' }, () => once(release.signal, 'abort'));
  await expect(pool.run({ client: 'b' }, () => Promise.resolve('read'))).rejects.toThrow('waited');
  expect(busy).toEqual(['waited']);
  release.abort();
  await held;
});

/** Starts a turn that lasts until the test ends it. */
function lasting(pool: ReturnType<typeof poolInTest>['pool'], turn: ReadTurn) {
  const release = new AbortController();
  let began = false;
  const ended = pool.run(turn, async () => {
    began = true;
    if (!release.signal.aborted) await once(release.signal, 'abort');
  });
  return {
    began: () => began,
    end: () => {
      release.abort();
      return ended;
    },
  };
}

it('a client has at most one turn at a time, and does not delay the turns of other clients', async () => {
  const { pool } = poolInTest(60_000, 3);
  const first = lasting(pool, { client: '192.0.2.1' });
  const second = lasting(pool, { client: '192.0.2.1' });
  const other = lasting(pool, { client: '192.0.2.2' });
  await until('the turn of the other client', other.began);
  expect([first.began(), second.began(), pool.waiting()]).toEqual([true, false, 1]);
  await first.end();
  await until('the second turn', second.began);
  await Promise.all([second.end(), other.end()]);
});

it.each([
  ['of one account', (n: number) => ({ client: `192.0.2.${n}`, account: 'did:web:hot.example' })],
  ['of one IPv6 site', (n: number) => ({ client: `2001:db8:1:${n}00::1` })],
])('turns %s do not occupy all reading processes', async (_what, turnOf) => {
  const { pool } = poolInTest(60_000, 2);
  const hot = [1, 2, 3].map((n) => lasting(pool, turnOf(n)));
  const honest = lasting(pool, { client: '198.51.100.1', account: 'did:web:quiet.example' });
  await until('the turn of another client', honest.began);
  expect(hot.map(({ began }) => began())).toEqual([true, false, false]);
  for (const one of hot) await one.end();
  await honest.end();
});

it('turns that are expected to be long do not occupy all reading processes', async () => {
  const { pool } = poolInTest(60_000, 2);
  const turnOf = (n: number) => ({ client: `192.0.2.${n}`, account: `did:web:hot${n}.example` });
  now = 0;
  for (const n of [1, 2]) {
    await pool.run(turnOf(n), () => {
      now += 301;
      return Promise.resolve();
    });
  }
  const hot = [1, 2].map((n) => lasting(pool, turnOf(n)));
  const honest = lasting(pool, { client: '198.51.100.1', account: 'did:web:quiet.example' });
  await until('the turn of another client', honest.began);
  expect(hot.map(({ began }) => began())).toEqual([true, false]);
  for (const one of hot) await one.end();
  await honest.end();
});

it('the pool serves clients with little recent use first, and among clients with similar use the accounts with short turns first', async () => {
  const { pool } = poolInTest(60_000);
  now = 0;
  const took = (ms: number) => () => {
    now += ms;
    return Promise.resolve();
  };
  await pool.run({ client: '192.0.2.1', account: 'did:web:quick.example' }, took(30));
  await pool.run({ client: '192.0.2.9', account: 'did:web:slow.example' }, took(200));
  const order: string[] = [];
  const running = lasting(pool, { client: '192.0.2.8' });
  const asked = (client: string, account: string) =>
    pool.run({ client, account: `did:web:${account}.example` }, () =>
      Promise.resolve(order.push(`${client} ${account}`)),
    );
  const waiting = [
    asked('192.0.2.9', 'quick'),
    asked('192.0.2.2', 'slow'),
    asked('192.0.2.1', 'quick'),
    asked('192.0.2.3', 'quick'),
  ];
  await running.end();
  await Promise.all(waiting);
  expect(order).toEqual(['192.0.2.3 quick', '192.0.2.1 quick', '192.0.2.9 quick', '192.0.2.2 slow']);
});

it('a turn whose memory request is refused does not lower the expected duration of its account', async () => {
  const { pool } = poolInTest(60_000);
  now = 0;
  await pool.run({ client: '192.0.2.1', account: 'did:web:slow.example' }, () => {
    now += 200;
    return Promise.resolve();
  });
  for (let n = 0; n < 20; n++) {
    const refused = pool.run({ client: '192.0.2.1', account: 'did:web:slow.example' }, () => {
      throw new MemoryRefused(5);
    });
    await expect(refused).rejects.toThrow('unsent');
  }
  const order: string[] = [];
  const running = lasting(pool, { client: '192.0.2.8' });
  const waiting = [
    pool.run({ client: '192.0.2.2', account: 'did:web:slow.example' }, () => Promise.resolve(order.push('slow'))),
    pool.run({ client: '192.0.2.3', account: 'did:web:quick.example' }, () => Promise.resolve(order.push('quick'))),
  ];
  await running.end();
  await Promise.all(waiting);
  expect(order).toEqual(['quick', 'slow']);
});

it('the pool aborts a second turn that becomes long, so that a process stays free for short turns', async () => {
  const { busy, pool } = poolInTest(60_000, 2, 1);
  const release = new AbortController();
  const ended: string[] = [];
  const long = [1, 2].map((n) =>
    pool
      .run({ client: `192.0.2.${n}`, account: `did:web:hot${n}.example` }, async (store) => {
        while (!release.signal.aborted) {
          await store.frontier().catch((error: unknown) => {
            // Each read fails because the store does not exist, but the process continues.
            if (!(error instanceof StoreError)) throw error;
          });
        }
      })
      .then(
        () => ended.push('read'),
        (error: unknown) => ended.push(String(error)),
      ),
  );
  await until('the end of one of the long turns', () => ended.length > 0);
  await pool.run({ client: '198.51.100.1', account: 'did:web:quiet.example' }, () => Promise.resolve());
  expect({ ended, busy }).toEqual({ ended: ['StoreBusy: deadline'], busy: ['deadline'] });
  release.abort();
  await Promise.all(long);
  expect(ended.at(-1)).toBe('read');
});

it('the pool warms up all processes, even if each warm-up takes as long as a long turn', async () => {
  const { busy, pool } = poolInTest(60_000, 2, 1);
  let warmed = 0;
  await pool.warm(async (store) => {
    for (let reads = 0; reads < 50; reads += 1) await expect(store.frontier()).rejects.toThrow(StoreError);
    warmed += 1;
  });
  expect({ warmed, busy }).toEqual({ warmed: 2, busy: [] });
});

it('the expected duration of a turn is a moving average of the durations of earlier turns', () => {
  const costs = new ReadCosts(() => 0);
  costs.note('did:web:a.example', 80);
  costs.note('did:web:a.example', 40);
  expect([costs.expected('did:web:a.example'), costs.expected('did:web:b.example'), costs.expected(undefined)]).toEqual(
    [25, 0, 0],
  );
});

it('a long turn causes the next turn to be treated as long, until shorter turns have lowered the average', () => {
  const costs = new ReadCosts(() => 0);
  costs.note('did:web:a.example', 400);
  const after = costs.isLong('did:web:a.example');
  costs.note('did:web:a.example', 0);
  const still = costs.isLong('did:web:a.example');
  costs.note('did:web:a.example', 0);
  expect([after, still, costs.isLong('did:web:a.example')]).toEqual([true, true, false]);
});

it('read costs are not stored for accounts with short turns, and expire after ten minutes', () => {
  let now = 0;
  const costs = new ReadCosts(() => now);
  costs.note('did:web:short.example', 39);
  costs.note('did:web:long.example', 400);
  const before = [costs.expected('did:web:short.example'), costs.expected('did:web:long.example')];
  now = 600_000;
  expect([before, costs.expected('did:web:long.example')]).toEqual([[0, 400], 0]);
});
