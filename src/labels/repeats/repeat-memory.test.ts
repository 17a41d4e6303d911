import { expect, test } from 'vitest';
import { micros, minute } from '../../store/time.ts';
import { RepeatMemory } from './repeat-memory.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const at = 29_600_000;

function memoryOf(counts: number[], privileged: ReadonlySet<string> = new Set()) {
  let now = at;
  const memory = new RepeatMemory(
    { count: async () => counts.shift() ?? 0 },
    () => micros(now * minute + 5),
    (source) => privileged.has(source),
  );
  const next = (): void => {
    now += 1;
  };
  return { memory, next };
}

test('repeats are recorded only after their rows are durable', async () => {
  const { memory, next } = memoryOf([3, 4, 5]);
  const lost = await memory.find(did, []);
  expect(lost.changes).toEqual([{ source: did, endpoint: 'repeats', value: `${at.toString(36)}.3` }]);
  const kept = await memory.find(did, []);
  expect(kept.changes[0]?.value).toBe(`${at.toString(36)}.4`);
  kept.committed();
  next();
  expect((await memory.find(did, [])).changes[0]?.value).toBe(`${at.toString(36)}.4 1.5`);
});

test('the record of repeats continues from the stored state, and a page without repeats does not change it', async () => {
  const { memory } = memoryOf([0, 2]);
  expect(memory.load(did, 'wss://endpoint', '1')).toBe(false);
  expect(memory.load(did, 'repeats', `${at.toString(36)}.7`)).toBe(true);
  expect((await memory.find(did, [])).changes).toEqual([]);
  expect((await memory.find(did, [])).changes[0]?.value).toBe(`${at.toString(36)}.9`);
});

const text = (minuteOfText: number, count: number): string => `${minuteOfText.toString(36)}.${count.toString(36)}`;

test('if there are too many sources, the source whose newest repeat is the oldest is dropped', async () => {
  const { memory } = memoryOf([1, 1, 1, 1]);
  const source = (n: number): string => `did:web:${n}.example`;
  for (let n = 0; n < 2_000; n += 1) memory.load(source(n), 'repeats', text(n === 7 ? at - 9 : at - 1, 5));
  const page = await memory.find(did, []);
  expect(page.changes[0]?.value).toBe(text(at, 1));
  page.committed();
  expect((await memory.find(did, [])).changes[0]?.value).toBe(text(at, 2));
  expect((await memory.find(source(7), [])).changes[0]?.value).toBe(text(at, 1));
  expect((await memory.find(source(8), [])).changes[0]?.value).toBe(`${text(at - 1, 5)} 1.1`);
});

test('repeats of many new sources do not evict a privileged source', async () => {
  const { memory, next } = memoryOf([100, 7], new Set([did]));
  (await memory.find(did, [])).committed();
  next();
  for (let n = 0; n < 5_000; n += 1) memory.load(`did:web:${n}.example`, 'repeats', text(at + 1, 1));
  expect(memory.size).toBe(2_000);
  expect((await memory.find(did, [])).changes[0]?.value).toBe(`${text(at, 100)} 1.7`);
});

test('a source is dropped when no published window includes its repeats', async () => {
  const { memory, next } = memoryOf([1]);
  const old = 'did:web:old.example';
  memory.load(old, 'repeats', text(at - 31 * 1440, 5));
  memory.load('did:web:garbage.example', 'repeats', '!');
  expect(memory.size).toBe(0);
  memory.load(old, 'repeats', text(at - 31 * 1440 + 1, 5));
  expect(memory.size).toBe(1);
  next();
  (await memory.find(did, [])).committed();
  expect(memory.size).toBe(1);
});
