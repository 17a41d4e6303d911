import { expect, it } from 'vitest';
import { kept } from './kept.ts';

/** A reading whose nth answer is n and takes so long, with the clock that it is kept by. */
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

it('what is kept is read once for all who ask in its time', async () => {
  const { ask, at } = reading(3);
  expect(await Promise.all([ask('a'), ask('b')])).toEqual(['a 1', 'a 1']);
  at(999);
  expect(await ask('c')).toBe('a 1');
  at(1_000);
  expect(await ask('d')).toBe('d 2');
});

it('what takes long to read is kept longer, so that it takes one part of the time in a hundred', async () => {
  const { ask, at } = reading(200);
  await ask('a');
  at(19_999);
  expect(await ask('b')).toBe('a 1');
  at(20_000);
  expect(await ask('c')).toBe('c 2');
});

it('a failure is not kept', async () => {
  const { ask } = reading(1);
  await expect(Promise.all([ask('fail'), ask('b')])).rejects.toThrow('failed');
  expect(await ask('c')).toBe('c 2');
});
