import { expect, it } from 'vitest';
import { createClientBudget, createCostBudget } from './budgets.ts';

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

it("a client may use five minutes' worth of its allowance at once, and afterwards only the refilled amount", () => {
  const budget = createCostBudget(6_000);
  budget.charge('192.0.2.1', { readMs: 29_999 }, noon);
  expect(budget.waitFor('192.0.2.1', noon)).toBeNull();
  budget.charge('192.0.2.1', { readMs: 1_001 }, noon);
  expect(budget.waitFor('192.0.2.1', noon)).toBe(11);
  expect(budget.waitFor('192.0.2.2', noon)).toBeNull();
  expect(budget.waitFor('192.0.2.1', noon + 9_000)).toBe(2);
  expect(budget.waitFor('192.0.2.1', noon + 11_000)).toBeNull();
});

it('an allowance is not reduced if the clock steps back', () => {
  const budget = createCostBudget(6_000);
  budget.charge('192.0.2.1', { readMs: 1 }, noon);
  expect(budget.waitFor('192.0.2.1', noon - 3_600_000)).toBeNull();
});

it('sent bytes reduce the allowance of a client', () => {
  const budget = createCostBudget(6_000);
  budget.charge('192.0.2.1', { bytes: 1_500_000_000 }, noon);
  expect(budget.waitFor('192.0.2.1', noon)).toBe(1);
});

it('an IPv6 site has four times the allowance of one client, regardless of the number of its networks', () => {
  const budget = createCostBudget(6_000);
  let charged = 0;
  for (let n = 0; n < 64; n++) {
    const client = `2001:db8:1:${(n * 256).toString(16)}::1`;
    if (budget.waitFor(client, noon) !== null) continue;
    budget.charge(client, { readMs: 10_000 }, noon);
    charged += 1;
  }
  expect(charged).toBe(12);
  expect(budget.waitFor('2001:db8:2::1', noon)).toBeNull();
});

it('a cost budget is reset at the start of each UTC day, and a cost budget without a limit never causes a wait', () => {
  const budget = createCostBudget(1);
  const midnight = Date.UTC(2026, 10, 21);
  budget.charge('192.0.2.1', { readMs: 1_000_000 }, midnight - 1);
  expect(budget.waitFor('192.0.2.1', midnight - 1)).toBeGreaterThan(1_000);
  expect(budget.waitFor('192.0.2.1', midnight)).toBeNull();
  const unbounded = createCostBudget(null);
  unbounded.charge('192.0.2.1', { readMs: 1e12 }, noon);
  expect(unbounded.waitFor('192.0.2.1', noon)).toBeNull();
});
