import { expect, test } from 'vitest';
import { Turns } from './turns.ts';

test('a turn is over after two milliseconds, and the next turn begins after other work of the event loop', async () => {
  let now = 0;
  const turns = new Turns(() => now);
  now = 1;
  expect(turns.isOver).toBe(false);
  now = 2;
  expect(turns.isOver).toBe(true);
  let ran = false;
  setImmediate(() => {
    ran = true;
  });
  await turns.next();
  expect([ran, turns.isOver]).toEqual([true, false]);
});

test('work that takes longer than twenty seconds fails, so that the overview stops waiting for the labelers', async () => {
  let now = 0;
  const turns = new Turns(() => now);
  now = 19_999;
  await turns.next();
  now = 20_000;
  await expect(turns.next()).rejects.toThrow('longer than 20000 ms');
});
