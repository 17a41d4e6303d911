import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue, RecentUse, type Waiting } from './fair-queue.ts';

/** Creates a queue whose entries record their names when they are admitted or refused. */
function queueOf(maxWaiting: number) {
  const queue = new FairQueue({ maxWaiting, monotonic: () => 0, oldestEvery: 4, maxOldestCost: 10 });
  const refused: string[] = [];
  const admitted: string[] = [];
  const members = new Map<string, Waiting>();
  return {
    queue,
    refused,
    admitted,
    add(client: string, name: string): boolean {
      const waiting = { admit: () => void admitted.push(name), refuse: () => void refused.push(name) };
      members.set(name, waiting);
      return queue.add(client, waiting);
    },
    remove(client: string, name: string): void {
      const waiting = members.get(name);
      if (waiting) queue.remove(client, waiting);
    },
    drain(): string[] {
      for (let next = queue.take(); next !== null; next = queue.take()) next.admit();
      return admitted;
    },
  };
}

describe('the turns of a fair queue', () => {
  it('alternate between clients and preserve the order of entries within each client', () => {
    const { add, drain } = queueOf(10);
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) add(name.charAt(0), name);
    expect(drain()).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  });

  it('are not granted to a removed entry', () => {
    const { add, remove, drain, queue } = queueOf(10);
    for (const name of ['a1', 'a2', 'b1']) add(name.charAt(0), name);
    remove('a', 'a1');
    remove('b', 'b1');
    remove('b', 'b1');
    expect(queue.size).toBe(1);
    expect(drain()).toEqual(['a2']);
  });
});

describe('a fair queue', () => {
  it('serves the client with the smallest recent use first and alternates between clients with similar use', () => {
    const { queue, add, drain } = queueOf(20);
    queue.charge('heavy', 100);
    for (const client of ['a', 'b']) queue.charge(client, 5);
    for (const name of ['heavy 1', 'heavy 2', 'a 1', 'a 2', 'b 1', 'new 1']) add(name.split(' ')[0] ?? '', name);
    expect(drain()).toEqual(['new 1', 'a 1', 'b 1', 'heavy 1', 'a 2', 'heavy 2']);
  });

  it('takes the expected cost of the next turn into account', () => {
    const { queue, drain, add } = queueOf(20);
    const costly = { admit: () => order.push('costly'), refuse: () => undefined, expectedCost: 10 };
    const order: string[] = [];
    queue.charge('a', 40);
    queue.add('new', costly);
    add('a', 'a');
    const first = queue.take();
    first?.admit();
    expect([order, drain(), order]).toEqual([['costly'], ['a'], ['costly']]);
  });

  it('immediately takes into account a charge that is made while the client waits', () => {
    const { queue, add, drain } = queueOf(20);
    for (const name of ['a', 'b', 'c']) add(name, name);
    queue.charge('a', 10);
    queue.charge('b', 100);
    expect(drain()).toEqual(['c', 'a', 'b']);
  });

  it('gives the fourth turn to the client that has waited longest, even if its recent use is the largest', () => {
    const { queue, add } = queueOf(100);
    queue.charge('heavy', 1_000);
    add('heavy', 'heavy');
    const turns: boolean[] = [];
    for (let n = 0; queue.waitingOf('heavy') > 0; n++) {
      for (const client of [`new ${n}`, `other ${n}`]) add(client, client);
      queue.take();
      turns.push(queue.waitingOf('heavy') === 0);
    }
    expect(turns).toEqual([false, false, false, true]);
  });

  it('grants a quarter of the total use to the client that has waited longest, even if its turn is costly', () => {
    const { queue, add } = queueOf(100);
    const costly = { admit: () => undefined, refuse: () => undefined, expectedCost: 10 };
    queue.add('costly', costly);
    let turns = 0;
    for (; queue.waitingOf('costly') > 0; turns++) {
      add(`new ${turns}`, `new ${turns}`);
      queue.take();
      queue.spend(`new ${turns}`, 1);
    }
    expect(turns).toBe(16);
  });

  it('does not let one client with a very costly turn delay the other clients that have waited long', () => {
    const { queue, add } = queueOf(100);
    const left = (client: string): boolean => queue.waitingOf(client) === 0;
    for (const [client, expectedCost] of [['huge', 8_000] as const, ['costly', 10] as const])
      queue.add(client, { admit: () => undefined, refuse: () => undefined, expectedCost });
    const turns = { huge: 0, costly: 0 };
    for (let n = 1; n < 100 && !left('costly'); n++) {
      add(`new ${n}`, `new ${n}`);
      const taken = queue.take();
      if (left('huge') && turns.huge === 0) {
        turns.huge = n;
        queue.spend('huge', 8_000, taken ?? undefined);
      } else queue.spend(`new ${n}`, 1, taken ?? undefined);
      if (left('costly')) turns.costly = n;
    }
    expect(turns).toEqual({ huge: 16, costly: 32 });
  });

  it('refuses an entry of the client with the largest recent use, possibly the new entry, if the queue is full', () => {
    const { queue, add, refused, drain } = queueOf(3);
    queue.charge('heavy', 100);
    queue.charge('heaviest', 1_000);
    queue.charge('some', 10);
    for (const client of ['some', 'heavy', 'new']) add(client, client);
    expect([add('heaviest', 'heaviest'), add('another', 'another')]).toEqual([false, true]);
    expect([refused, drain()]).toEqual([['heavy'], ['new', 'another', 'some']]);
  });
});

describe('a full queue', () => {
  it('refuses an entry of the client with the most entries if the new client has fewer entries, and otherwise refuses the new entry', () => {
    const { add, refused, drain } = queueOf(3);
    for (const name of ['a1', 'a2', 'a3']) expect(add('a', name)).toBe(true);
    expect(add('a', 'a4')).toBe(false);
    expect(add('b', 'b1')).toBe(true);
    expect(refused).toEqual(['a3']);
    expect(add('b', 'b2')).toBe(false);
    expect(drain()).toEqual(['a1', 'b1', 'a2']);
  });
});

it('the queue admits or refuses every added entry exactly once, and never exceeds its limit of waiting entries', () => {
  const names = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean()), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), names, (most, steps) => {
      const { add, queue, refused, admitted, drain } = queueOf(most);
      const entered: string[] = [];
      for (const [n, [client, take]] of steps.entries()) {
        if (add(client, `${client}${n}`)) entered.push(`${client}${n}`);
        expect(queue.size).toBeLessThanOrEqual(most);
        if (take) queue.take()?.admit();
      }
      drain();
      expect([...admitted, ...refused].sort()).toEqual(entered.sort());
    }),
  );
});

it('the recent use of each client halves every ten seconds', () => {
  let now = 0;
  const use = new RecentUse(() => now);
  use.charge('a', 8);
  use.charge('b', 1);
  now = 10_000;
  use.charge('a', 1);
  now = 20_000;
  expect([use.of('a'), use.of('b'), use.of('c')]).toEqual([2.5, 0.25, 0]);
});

it('a client without further use is removed after ten half-lives', () => {
  let now = 0;
  const use = new RecentUse(() => now);
  for (let n = 0; n < 100; n++) use.charge(`client ${n}`, 1);
  now = 90_000;
  use.charge('client 99', 1);
  expect(use.size).toBe(100);
  now = 100_000;
  use.charge('client 99', 1);
  expect(use.size).toBe(1);
});

it('only the most recently charged clients are retained, up to the maximum number of clients', () => {
  const use = new RecentUse(() => 0);
  for (let n = 0; n < 20_000; n++) {
    use.charge(`client ${n}`, 1);
    use.charge('steady', 1);
  }
  const remembered = [use.of('client 0'), use.of('client 19999'), use.of('steady')];
  expect([use.size <= 16_384, remembered]).toEqual([true, [0, 1, 20_000]]);
});
