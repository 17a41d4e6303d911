import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { hour, micros } from '../../store/time.ts';
import { LookUps, maxLookUps } from './look-ups.ts';

/** Simulates look-ups of one millisecond each. `charged` contains the charges of each source. */
function lookUps() {
  const state = { cpu: 0, now: 5 * hour };
  const charged = new Map<string, number>();
  const all = new LookUps({
    clock: () => micros(state.now),
    charge: (source, cpuMs) => void charged.set(source, (charged.get(source) ?? 0) + cpuMs),
    cpuMs: () => state.cpu,
  });
  const run = (source: string, done: () => void = () => undefined) =>
    all.run(source, async () => {
      state.cpu += 1;
      done();
      return true;
    });
  return { state, charged, all, run };
}

test('the processor time of a look-up is charged to its source, even if the look-up fails', async () => {
  const { state, charged, all, run } = lookUps();
  await Promise.all([run('a'), run('b'), run('a')]);
  const failing = all.run('b', () => {
    state.cpu += 5;
    return Promise.reject(new Error('expired'));
  });
  await expect(failing).rejects.toThrow('expired');
  expect(await run('c')).toBe(true);
  expect([...charged]).toEqual([
    ['a', 2],
    ['b', 6],
    ['c', 1],
  ]);
});

test('the queue of look-ups yields to the event loop after each slice of processor time', async () => {
  const { run } = lookUps();
  let turn = 0;
  let ended = false;
  const inTurn = new Map<number, number>();
  const turns = (async () => {
    for (; !ended; turn += 1) await nextTurn();
  })();
  const source = async (name: string) => {
    for (let i = 0; i < 10; i += 1) await run(name, () => inTurn.set(turn, (inTurn.get(turn) ?? 0) + 1));
  };
  await Promise.all(Array.from({ length: 20 }, (_, i) => source(`did:web:${i}.example`)));
  ended = true;
  await turns;
  expect([...inTurn.values()].reduce((sum, count) => sum + count, 0)).toBe(200);
  expect(Math.max(...inTurn.values())).toBeLessThanOrEqual(4);
});

test(`a source can make ${maxLookUps} look-ups an hour, independently of other sources`, async () => {
  const { state, charged, run } = lookUps();
  const results = await Promise.all(Array.from({ length: maxLookUps + 1 }, () => run('a')));
  expect([results.at(-2), results.at(-1), await run('b')]).toEqual([true, null, true]);
  expect(charged.get('a')).toBe(maxLookUps);
  state.now += hour;
  expect(await run('a')).toBe(true);
});
