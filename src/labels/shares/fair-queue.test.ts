import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PriorityClass } from '../state/reading-state.ts';
import { FairQueue, priorityWeights, type ShareKey } from './fair-queue.ts';

const key = (source: string, domain = source, priority: PriorityClass = 'new'): ShareKey => ({
  priority,
  domain,
  source,
});

/**
 * Simulates readers that keep one item of every source in the queue; returns the total cost that was served for each
 * source.
 */
function serve(costs: ReadonlyMap<ShareKey, number>, rounds: number): Map<string, number> {
  const queue = new FairQueue<ShareKey>(priorityWeights);
  const served = new Map<string, number>();
  for (const [share, cost] of costs) queue.push(share, share, cost);
  for (let i = 0; i < rounds; i += 1) {
    const share = queue.shift();
    if (!share) throw new Error('the queue is empty');
    const cost = costs.get(share) ?? 0;
    served.set(share.source, (served.get(share.source) ?? 0) + cost);
    queue.push(share, share, cost);
  }
  return served;
}

test('sources with large items and sources with small items are served at the same total cost', () => {
  const served = serve(
    new Map([
      [key('large'), 1_000],
      [key('small'), 10],
    ]),
    1_000,
  );
  expect(Math.abs((served.get('large') ?? 0) - (served.get('small') ?? 0))).toBeLessThanOrEqual(1_000);
});

test('a hundred sources of one domain together are served at the same total cost as one source of a different domain', () => {
  const crowd = Array.from({ length: 100 }, (_, i): [ShareKey, number] => [key(`crowd${i}`, 'crowd.test'), 1]);
  const served = serve(new Map([...crowd, [key('alone'), 1]]), 2_000);
  expect(served.get('alone')).toBeGreaterThanOrEqual(999);
});

test('the seeded class is served in proportion to its weight, even if another class has a thousand sources', () => {
  const crowd = Array.from({ length: 1_000 }, (_, i): [ShareKey, number] => [key(`new${i}`), 1]);
  const served = serve(new Map([...crowd, [key('seed', 'seed', 'seeded'), 1]]), 9_000);
  expect(served.get('seed')).toBeGreaterThanOrEqual(7_990);
});

test('an item of an idle source is among the next two items, even if hundreds of items wait', () => {
  const queue = new FairQueue<string>(priorityWeights);
  for (let i = 0; i < 1_000; i += 1) queue.push(key('flood'), `flood${i}`, 1);
  for (let i = 0; i < 100; i += 1) queue.shift();
  queue.push(key('calm'), 'calm', 1);
  expect([queue.shift(), queue.shift()]).toContain('calm');
});

test('a small item in the fair queue does not wait for the large items of many sources', () => {
  const queue = new FairQueue<string>(priorityWeights);
  for (let i = 0; i < 100; i += 1) queue.push(key(`flood${i}`), 'large', 50);
  const order: (string | undefined)[] = [];
  for (let i = 0; i < 20; i += 1) {
    queue.push(key('calm'), 'small', 1);
    order.push(queue.shift(), queue.shift());
  }
  // The small source alternates with the others, although it has no waiting item while a large item is served.
  expect(order.filter((item) => item === 'small')).toHaveLength(20);
});

test('an idle source keeps its debt in the fair queue', () => {
  const queue = new FairQueue<string>(priorityWeights);
  queue.push(key('a'), 'first', 1_000);
  queue.push(key('b'), 'b0', 1);
  expect([queue.shift(), queue.shift()].sort()).toEqual(['b0', 'first']);
  queue.push(key('a'), 'second', 1);
  for (let i = 1; i < 500; i += 1) queue.push(key('b'), `b${i}`, 1);
  const order = Array.from({ length: 499 }, () => queue.shift());
  expect(order).not.toContain('second');
});

test('the fair queue returns every item once, and the items of a source in order, even after removals', () => {
  const item = fc.record({
    priority: fc.constantFrom<PriorityClass>('seeded', 'established', 'new'),
    domain: fc.constantFrom('a', 'b'),
    source: fc.constantFrom('1', '2', '3'),
    cost: fc.integer({ min: 0, max: 100 }),
    gone: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const queue = new FairQueue<number>(priorityWeights);
      for (const [i, { cost, ...share }] of items.entries()) queue.push(share, i, cost);
      const removed = queue.remove((i) => items[i]?.gone === true).sort((a, b) => a - b);
      expect(removed).toEqual(items.flatMap(({ gone }, i) => (gone ? [i] : [])));
      expect(queue.size).toBe(items.length - removed.length);
      const left: number[] = [];
      while (queue.size > 0) {
        const next = queue.peek();
        expect(queue.shift()).toBe(next);
        if (next !== undefined) left.push(next);
      }
      expect(left.toSorted((a, b) => a - b)).toEqual(items.flatMap(({ gone }, i) => (gone ? [] : [i])));
      const bySource = Map.groupBy(left, (i) =>
        JSON.stringify([items[i]?.priority, items[i]?.domain, items[i]?.source]),
      );
      for (const order of bySource.values()) expect(order).toEqual(order.toSorted((a, b) => a - b));
    }),
  );
});

test('an idle source earns no credit in the fair queue', () => {
  const queue = new FairQueue<string>(priorityWeights);
  const served: string[] = [];
  const next = (): void => void served.push(queue.shift() ?? '');
  queue.push(key('idle'), 'idle', 1);
  next();
  for (let i = 0; i < 100; i += 1) {
    queue.push(key('steady'), 'steady', 1);
    next();
  }
  for (let i = 0; i < 10; i += 1) {
    queue.push(key('idle'), 'idle', 1);
    queue.push(key('steady'), 'steady', 1);
  }
  for (let i = 0; i < 6; i += 1) next();
  expect(served.slice(-6).filter((one) => one === 'steady').length).toBeGreaterThanOrEqual(2);
});
