import { expect, it } from 'vitest';
import { createClientBudget } from './client-budget.ts';

const noon = Date.UTC(2026, 10, 20, 12);

it('a client may ask for so many distinct accounts a day, and again for each of them', () => {
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

it('the budget of a client is renewed each day', () => {
  const budget = createClientBudget(1);
  const midnight = Date.UTC(2026, 10, 21);
  expect(budget.waitFor('a', 'x', midnight - 1)).toBeNull();
  expect(budget.waitFor('a', 'y', midnight - 1)).toBe(1);
  expect(budget.waitFor('a', 'y', midnight)).toBeNull();
});

it('may be without a bound', () => {
  const budget = createClientBudget(null);
  for (let n = 0; n < 1_000; n++) expect(budget.waitFor('a', String(n), noon)).toBeNull();
});

it('adds up the accounts of all clients of an IPv6 site, against four times the allowance of one', () => {
  const budget = createClientBudget(10);
  let granted = 0;
  // Every network of 64 bits of one site, a new account each.
  for (let n = 0; n < 256; n++) {
    const client = `2001:db8:1:${n.toString(16)}00::1`;
    if (budget.waitFor(client, `account ${n}`, noon) === null) granted += 1;
  }
  expect(granted).toBe(40);
  expect(budget.waitFor('2001:db8:2::1', 'account 300', noon)).toBeNull();
});

it('adds up those of a network of 56 bits too, against twice the allowance', () => {
  const budget = createClientBudget(10);
  let granted = 0;
  for (let n = 0; n < 256; n++) {
    if (budget.waitFor(`2001:db8:1:${n.toString(16)}::1`, `account ${n}`, noon) === null) granted += 1;
  }
  expect(granted).toBe(20);
});
