import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ByteAccount, createDecodedBytes, type TakeOutcome } from './decoded-bytes.ts';

const never = new AbortController().signal;
const limits = { total: 1_000, reserve: 10, buffered: 500 };
const settled = () => new Promise(setImmediate);

/** Requests memory and records the order of grants. */
function ask(account: ByteAccount, bytes: number, name: string, order: string[], buffered = 0) {
  void account.take(bytes, never, buffered).then((outcome) => order.push(`${name} ${outcome}`));
}

describe('createDecodedBytes', () => {
  test('delays requests that would exceed the total until other accounts release memory', async () => {
    const memory = createDecodedBytes(limits);
    const [a, b] = [memory.open(), memory.open()];
    const order: string[] = [];
    ask(a, 900, 'a', order);
    ask(b, 200, 'b', order);
    await settled();
    expect(order).toEqual(['a taken']);
    expect([memory.held, memory.waiting]).toEqual([900, 1]);
    a.release();
    await settled();
    expect(order).toEqual(['a taken', 'b taken']);
    expect([memory.held, memory.waiting, a.held, b.held]).toEqual([200, 0, 0, 200]);
  });

  test("grants an account's reserve immediately, regardless of other accounts", async () => {
    const memory = createDecodedBytes(limits);
    const order: string[] = [];
    for (let i = 0; i < 50; i += 1) ask(memory.open(), 1_000, `hostile ${i}`, order);
    ask(memory.open(), 10, 'honest', order);
    await settled();
    expect(order).toEqual(['hostile 0 taken', 'honest taken']);
  });

  test('serves small requests before large requests, and serves a large request after a bounded number of small requests', async () => {
    const memory = createDecodedBytes(limits);
    const holder = memory.open();
    holder.hold(1_000);
    const order: string[] = [];
    ask(memory.open(), 600, 'large', order);
    ask(memory.open(), 500, 'small', order);
    holder.release();
    await settled();
    expect(order).toEqual(['small taken']);

    const busy = createDecodedBytes(limits);
    const first = busy.open();
    first.hold(1_000);
    const done: string[] = [];
    ask(busy.open(), 1_000, 'large', done);
    let held = first;
    let served = 0;
    while (!done.includes('large taken')) {
      const small = busy.open();
      const outcome = small.take(900, never);
      held.release();
      if (done.length === 0) {
        await settled();
        if (done.length > 0) break;
      }
      expect(await outcome).toBe('taken');
      held = small;
      served += 1;
      expect(served).toBeLessThan(300);
    }
    expect(served).toBeGreaterThan(200);
  });

  test('never makes an account wait if it already holds memory, because two such accounts would deadlock', async () => {
    const memory = createDecodedBytes(limits);
    const [a, b] = [memory.open(), memory.open()];
    expect(await a.take(500, never)).toBe('taken');
    expect(await b.take(500, never)).toBe('taken');
    expect(await a.take(100, never)).toBe('busy');
    expect(await b.take(100, never)).toBe('busy');
  });

  test('grants input larger than the total if no other memory is held', async () => {
    const memory = createDecodedBytes(limits);
    const [a, b] = [memory.open(), memory.open()];
    expect(await a.take(5_000, never)).toBe('taken');
    const order: string[] = [];
    ask(b, 5_000, 'b', order);
    await settled();
    expect(order).toEqual([]);
    a.release();
    await settled();
    expect(order).toEqual(['b taken']);
  });

  test('rejects the largest waiting input if too much input waits', async () => {
    const memory = createDecodedBytes(limits);
    memory.open().hold(1_000);
    const order: string[] = [];
    ask(memory.open(), 300, 'large', order, 400);
    ask(memory.open(), 100, 'small', order, 200);
    ask(memory.open(), 100, 'other', order, 200);
    await settled();
    expect(order).toEqual(['large busy']);
    expect(memory.waiting).toBe(2);
  });

  test('ends a wait when its signal aborts', async () => {
    const memory = createDecodedBytes(limits);
    memory.open().hold(1_000);
    const stop = new AbortController();
    const outcome = memory.open().take(500, stop.signal);
    stop.abort();
    expect(await outcome).toBe('aborted');
    expect(memory.waiting).toBe(0);
    expect(await memory.open().take(1, stop.signal)).toBe('aborted');
  });

  test('reports which accounts hold more than their share', () => {
    const memory = createDecodedBytes(limits);
    const [large, small] = [memory.open(), memory.open()];
    large.hold(251);
    small.hold(10);
    expect([large.isOver, small.isOver]).toEqual([true, false]);
    large.hold(1_000);
    expect([large.isOver, small.isOver]).toEqual([true, false]);
    large.release();
    expect([large.isOver, memory.held]).toEqual([false, 10]);
  });

  test('never exceeds the total by more than the reserves, and eventually answers every request', async () => {
    const steps = fc.array(fc.record({ account: fc.nat(9), bytes: fc.integer({ min: 1, max: 800 }) }), {
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (requests) => {
        const memory = createDecodedBytes(limits);
        const accounts = Array.from({ length: 10 }, () => memory.open());
        const outcomes: Promise<TakeOutcome>[] = [];
        for (const { account, bytes } of requests) {
          const taker = accounts[account] as ByteAccount;
          outcomes.push(taker.take(bytes, never));
          expect(memory.held).toBeLessThanOrEqual(limits.total + accounts.length * limits.reserve);
        }
        for (let round = 0; memory.held > 0; round += 1) {
          for (const account of accounts) {
            account.release();
            await settled();
            expect(memory.held).toBeLessThanOrEqual(limits.total + accounts.length * limits.reserve);
          }
          expect(round).toBeLessThan(100);
        }
        expect(memory.waiting).toBe(0);
        expect(await Promise.all(outcomes)).not.toContain('aborted');
      }),
      { numRuns: 100 },
    );
  });
});

test('an account that holds memory is limited to its part of the total, even if more memory is free', () => {
  const bytes = createDecodedBytes({ total: 100, reserve: 1, buffered: 0 });
  const account = bytes.open();
  expect([account.tryTake(20), account.tryTake(5), account.tryTake(1)]).toEqual([true, true, false]);
  expect(bytes.open().tryTake(25)).toBe(true);
  account.release();
  // An account that holds no memory may take more than its part of the total.
  expect(account.tryTake(60)).toBe(true);
});
