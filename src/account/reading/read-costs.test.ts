import { expect, it } from 'vitest';
import { ReadCosts } from './read-costs.ts';

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
