import { encode } from '@atcute/cbor';
import { expect, test } from 'vitest';
import { createDecodedBytes } from '../../input/decoded-bytes.ts';
import { FrameQueue, maxWaitingBytes } from './frame-queue.ts';

function frame(seq: number, bytes: number): Uint8Array {
  const label = { val: 'x'.repeat(bytes) };
  return Buffer.concat([encode({ op: 1, t: '#labels' }), encode({ seq, labels: [label] })]);
}

const generous = { total: 1_000_000_000, reserve: 0, buffered: 0 };
const queue = (memory = createDecodedBytes(generous)) => new FrameQueue(memory.open());

/** Takes and returns all waiting frames of a queue. */
function takeAll(frames: FrameQueue) {
  const taken = [];
  for (let next = frames.next(); next !== null; next = frames.next()) taken.push(...frames.take(next));
  return taken;
}

/** Returns the number of frames that a queue accepts until reading should pause. */
function taken(queue: FrameQueue, bytes: number): number {
  for (let seq = 1; seq <= 1_000; seq += 1) if (queue.push(frame(seq, bytes))) return seq;
  return Number.POSITIVE_INFINITY;
}

test('the connection of a frame queue is paused when 256 frames or 16 MiB wait', () => {
  expect(taken(queue(), 100)).toBe(256);
  expect(taken(queue(), maxWaitingBytes / 16)).toBe(16);
  expect(taken(queue(), maxWaitingBytes)).toBe(1);
});

test('frames are taken in order and removed from the queue', () => {
  const memory = createDecodedBytes(generous);
  const frames = queue(memory);
  taken(frames, maxWaitingBytes / 4);
  expect(memory.held).toBeGreaterThan(maxWaitingBytes);
  expect(takeAll(frames)).toMatchObject([1, 2, 3, 4].map((seq) => ({ kind: 'labels', seq })));
  expect([frames.next(), frames.isFull, memory.held]).toEqual([null, false, 0]);
  expect(taken(frames, maxWaitingBytes / 4)).toBe(4);
  frames.clear();
  expect([frames.next(), memory.held]).toEqual([null, 0]);
});

test('frames are decoded together only within a small memory budget', () => {
  const frames = queue();
  for (let seq = 1; seq <= 5; seq += 1) frames.push(frame(seq, 400_000));
  expect(frames.next()).toMatchObject({ count: 2 });
  expect(frames.take({ count: 2 })).toHaveLength(2);
  expect(frames.next()).toMatchObject({ count: 2 });
  const large = queue();
  large.push(frame(1, 5_000_000));
  expect(large.next()).toMatchObject({ count: 1 });
  const small = queue();
  for (let seq = 1; seq <= 50; seq += 1) small.push(frame(seq, 100));
  expect(small.next()).toMatchObject({ count: 50 });
  expect(small.next(10_000)?.count).toBeLessThan(10);
});

test('a refused frame occupies no memory, and keeps its position in the queue', () => {
  const memory = createDecodedBytes(generous);
  const frames = queue(memory);
  frames.push(frame(1, 10));
  const held = memory.held;
  const body = Buffer.concat([encode({ op: 1, t: '#labels' }), Buffer.alloc(1_000_000, 0x81)]);
  for (const bytes of [body, Buffer.from('hello')]) frames.push(bytes);
  expect(memory.held).toBe(held);
  frames.push(frame(2, 10));
  expect(takeAll(frames).map(({ kind }) => kind)).toEqual(['labels', 'over_budget', 'malformed', 'labels']);
});

test('the connection of a frame queue is paused while it holds more than its share of the memory', () => {
  const memory = createDecodedBytes({ total: 1_000_000, reserve: 1_000, buffered: 0 });
  const [hostile, honest] = [queue(memory), queue(memory)];
  expect(taken(hostile, 50_000)).toBe(5);
  memory.open().hold(1_000_000);
  expect([taken(hostile, 50_000), taken(honest, 100)]).toEqual([1, 8]);
  takeAll(honest);
  expect([hostile.isFull, honest.isFull]).toEqual([true, false]);
});
