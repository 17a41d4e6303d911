import { expect, it } from 'vitest';
import { createCostBudget } from './budgets.ts';
import { createLookUps } from './look-ups.ts';

const noon = Date.UTC(2026, 10, 20, 12);

/** Creates look-ups that never end, and the number of them that were begun. */
function endless() {
  const lookUp = createLookUps({ cost: createCostBudget(null), clock: () => noon, monotonic: () => 0 });
  let begun = 0;
  const from = (client: string): void => {
    const work = () => {
      begun += 1;
      return new Promise<never>(() => undefined);
    };
    lookUp({ client }, work).catch(() => undefined);
  };
  return { from, begun: () => begun };
}

it('a client has at most two concurrent look-ups, regardless of those of another client', () => {
  const { from, begun } = endless();
  for (let n = 0; n < 10; n++) from('192.0.2.1');
  expect(begun()).toBe(2);
  for (let n = 0; n < 10; n++) from('192.0.2.2');
  expect(begun()).toBe(4);
});

it('the clients of one IPv6 site have at most four concurrent look-ups', () => {
  const { from, begun } = endless();
  for (let n = 0; n < 64; n++) from(`2001:db8:1:${n.toString(16)}::1`);
  expect(begun()).toBe(4);
});

it('a client may look up again after a look-up has ended, even if it failed', async () => {
  const lookUp = createLookUps({ cost: createCostBudget(null), clock: () => noon, monotonic: () => 0 });
  const client = '192.0.2.1';
  for (let n = 0; n < 10; n++)
    await expect(lookUp({ client }, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await lookUp({ client }, () => Promise.resolve('found'))).toBe('found');
});

it('the duration of a look-up reduces the allowance of its client, and without an allowance it is not begun', async () => {
  const time = { now: 0 };
  const cost = createCostBudget(6_000);
  const lookUp = createLookUps({ cost, clock: () => noon, monotonic: () => time.now });
  const client = '192.0.2.1';
  let begun = 0;
  const work = () => {
    begun += 1;
    time.now += 10_000;
    return Promise.resolve();
  };
  for (let n = 0; n < 3; n++) await lookUp({ client }, work);
  await expect(lookUp({ client }, work)).rejects.toMatchObject({ name: 'BudgetSpent', retryAfterSeconds: 1 });
  expect(begun).toBe(3);
});
