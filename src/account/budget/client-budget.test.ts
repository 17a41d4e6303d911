import { expect, it } from 'vitest';
import { createClientBudget } from './client-budget.ts';

const noon = Date.UTC(2026, 10, 20, 12);

it('a client may look up a limited number of distinct accounts per day, and may repeat each look-up', () => {
  const budget = createClientBudget(2);
  expect([budget.waitFor('a', 'x', noon), budget.waitFor('a', 'y', noon), budget.waitFor('a', 'x', noon)]).toEqual([
    null,
    null,
    null,
  ]);
  expect(budget.waitFor('a', 'z', noon)).toBe(12 * 3600);
  expect(budget.waitFor('a', 'y', noon)).toBeNull();
  expect(budget.waitFor('b', 'z', noon)).toBeNull();
});

it('the budget of a client is reset at the start of each UTC day', () => {
  const budget = createClientBudget(1);
  const midnight = Date.UTC(2026, 10, 21);
  expect(budget.waitFor('a', 'x', midnight - 1)).toBeNull();
  expect(budget.waitFor('a', 'y', midnight - 1)).toBe(1);
  expect(budget.waitFor('a', 'y', midnight)).toBeNull();
});

it('a client budget without a limit allows any number of accounts', () => {
  const budget = createClientBudget(null);
  for (let n = 0; n < 1_000; n++) expect(budget.waitFor('a', String(n), noon)).toBeNull();
});

it('the clients of one IPv6 site share a limit of four times the limit of one client', () => {
  const budget = createClientBudget(10);
  let granted = 0;
  // Each request comes from a different /64 network of the same site and looks up a new account.
  for (let n = 0; n < 256; n++) {
    const client = `2001:db8:1:${n.toString(16)}00::1`;
    if (budget.waitFor(client, `account ${n}`, noon) === null) granted += 1;
  }
  expect(granted).toBe(40);
  expect(budget.waitFor('2001:db8:2::1', 'account 300', noon)).toBeNull();
});

it('the clients of one IPv6 /56 network share a limit of twice the limit of one client', () => {
  const budget = createClientBudget(10);
  let granted = 0;
  for (let n = 0; n < 256; n++) {
    if (budget.waitFor(`2001:db8:1:${n.toString(16)}::1`, `account ${n}`, noon) === null) granted += 1;
  }
  expect(granted).toBe(20);
});
