import { expect, test } from 'vitest';
import { micros, minute } from '../../store/time.ts';
import { RepeatMemory } from './repeat-memory.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const at = 29_600_000;

function memoryOf(counts: number[]) {
  let now = at;
  const memory = new RepeatMemory({ count: async () => counts.shift() ?? 0 }, () => micros(now * minute + 5));
  const next = (): void => {
    now += 1;
  };
  return { memory, next };
}

test('repeats are remembered once their rows are durable, and not earlier', async () => {
  const { memory, next } = memoryOf([3, 4, 5]);
  const lost = await memory.find(did, []);
  expect(lost.changes).toEqual([{ source: did, endpoint: 'repeats', value: `${at.toString(36)}.3` }]);
  const kept = await memory.find(did, []);
  expect(kept.changes[0]?.value).toBe(`${at.toString(36)}.4`);
  kept.committed();
  next();
  expect((await memory.find(did, [])).changes[0]?.value).toBe(`${at.toString(36)}.4 1.5`);
});

test('a memory of repeats continues from the stored state, and a page without repeats does not change it', async () => {
  const { memory } = memoryOf([0, 2]);
  expect(memory.load(did, 'wss://endpoint', '1')).toBe(false);
  expect(memory.load(did, 'repeats', `${at.toString(36)}.7`)).toBe(true);
  expect((await memory.find(did, [])).changes).toEqual([]);
  expect((await memory.find(did, [])).changes[0]?.value).toBe(`${at.toString(36)}.9`);
});

test('sources beyond the bound are not remembered, and their repeats count as new events', async () => {
  const { memory } = memoryOf([1, 1]);
  for (let n = 0; n < 2_000; n += 1) memory.load(`did:web:${n}.example`, 'repeats', '1.1');
  expect((await memory.find(did, [])).changes).toEqual([]);
  expect((await memory.find('did:web:1.example', [])).changes).toHaveLength(1);
});
