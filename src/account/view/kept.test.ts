import { expect, it } from 'vitest';
import { kept } from './kept.ts';

/**
 * Creates a cached read that takes `took` milliseconds and returns its argument with the number of reads so far, and a
 * function that sets the clock.
 */
function reading(took: number) {
  let now = 0;
  let times = 0;
  const ask = kept({ ms: 1_000, monotonic: () => now }, async (what: string) => {
    times += 1;
    await Promise.resolve();
    now += took;
    if (what === 'fail') throw new Error('failed');
    return `${what} ${times}`;
  });
  const at = (then: number): void => {
    now = then;
  };
  return { ask, at };
}

it('kept reads a value once for all requests during its lifetime', async () => {
  const { ask, at } = reading(3);
  expect(await Promise.all([ask('a'), ask('b')])).toEqual(['a 1', 'a 1']);
  at(999);
  expect(await ask('c')).toBe('a 1');
  at(1_000);
  expect(await ask('d')).toBe('d 2');
});

it('kept caches the result of a slow read longer than the result of a fast read, so that reads take at most one per cent of the time', async () => {
  const { ask, at } = reading(200);
  await ask('a');
  at(19_999);
  expect(await ask('b')).toBe('a 1');
  at(20_000);
  expect(await ask('c')).toBe('c 2');
});

it('kept does not cache a failure', async () => {
  const { ask } = reading(1);
  await expect(Promise.all([ask('fail'), ask('b')])).rejects.toThrow('failed');
  expect(await ask('c')).toBe('c 2');
});
