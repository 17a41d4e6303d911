import { expect, it } from 'vitest';
import { clientKey, createClientBudget } from './client-budget.ts';

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

it('begins anew with each day', () => {
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

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '8193:3512:1:2'],
  ['2001:db8:1:2::1', '8193:3512:1:2'],
  ['unknown', 'unknown'],
])('the client of %s is %s', (address, key) => {
  expect(clientKey(address)).toBe(key);
});
