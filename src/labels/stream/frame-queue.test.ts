import { encode } from '@atcute/cbor';
import { expect, test } from 'vitest';
import { createDecodedBytes } from '../../input/decoded-bytes.ts';
import { micros, second } from '../../store/time.ts';
import { FrameQueue, maxWaitingBytes } from './frame-queue.ts';

function frame(seq: number, bytes: number): Uint8Array {
  const label = { val: 'x'.repeat(bytes) };
  return Buffer.concat([encode({ op: 1, t: '#labels' }), encode({ seq, labels: [label] })]);
}

const generous = { total: 1_000_000_000, reserve: 0, buffered: 0 };
const queue = (memory = createDecodedBytes(generous), clock = () => micros(0)) => new FrameQueue(memory.open(), clock);

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

test('refused frames keep their positions in the queue, but not their bytes', () => {
  const memory = createDecodedBytes(generous);
  const frames = queue(memory);
  frames.push(frame(1, 10));
  const held = memory.held;
  const body = Buffer.concat([encode({ op: 1, t: '#labels' }), Buffer.alloc(1_000_000, 0x81)]);
  for (const bytes of [body, Buffer.from('hello')]) frames.push(bytes);
  // Each frame has an entry of its own, because the frames were refused for different reasons.
  expect(memory.held - held).toBe(2 * 256);
  frames.push(frame(2, 10));
  expect(takeAll(frames).map(({ kind }) => kind)).toEqual(['labels', 'over_budget', 'malformed', 'labels']);
});

test('tens of thousands of consecutive empty frames occupy one entry', () => {
  const memory = createDecodedBytes(generous);
  const frames = queue(memory);
  for (let frame = 0; frame < 32_768; frame += 1) frames.push(Buffer.alloc(0));
  expect([memory.held, frames.isFull]).toEqual([256, false]);
  expect(takeAll(frames)).toEqual(Array.from({ length: 32_768 }, () => ({ kind: 'malformed' })));
  expect(memory.held).toBe(0);
});

test('a small frame is charged for the memory of its entry', () => {
  const memory = createDecodedBytes(generous);
  const frames = queue(memory);
  const small = frame(1, 0);
  for (let count = 0; count < 1_000; count += 1) frames.push(small);
  expect(memory.held).toBe(1_000 * (small.byteLength + 256));
  takeAll(frames);
  expect(memory.held).toBe(0);
});

test('a waiting frame keeps only its own bytes in memory, not the bytes that arrived with it', () => {
  const frames = queue();
  const sent = frame(7, 10);
  const read = Buffer.alloc(65_536);
  read.set(sent, 100);
  frames.push(read.subarray(100, 100 + sent.length));
  // If the frame shared the memory of the read, this call would destroy the frame.
  read.fill(0);
  expect(takeAll(frames)).toMatchObject([{ kind: 'labels', seq: 7 }]);
});

test('the connection of a frame queue is paused while the queue holds more than its share of the memory', () => {
  const memory = createDecodedBytes({ total: 1_000_000, reserve: 1_000, buffered: 0 });
  const [hostile, honest] = [queue(memory), queue(memory)];
  expect(taken(hostile, 50_000)).toBe(5);
  memory.open().hold(1_000_000);
  expect([taken(hostile, 50_000), taken(honest, 100)]).toEqual([1, 3]);
  takeAll(honest);
  expect([hostile.isFull, honest.isFull]).toEqual([true, false]);
});

test('what arrived is taken up to the oldest message that waits, and up to a pause until the labeler has sent what waited there', () => {
  let now = 0;
  const since: number[] = [];
  const frames = queue(undefined, () => micros(now));
  const arrives = (at: number, bytes = frame(1, 10)): void => {
    now = at;
    frames.push(bytes);
  };
  const takes = (at: number, count: number): number => {
    now = at;
    frames.take({ count });
    since.push(frames.takenSince);
    return frames.takenThrough;
  };
  arrives(10);
  arrives(20, new Uint8Array([0]));
  arrives(30);
  expect([takes(40, 1), takes(50, 1), takes(60, 1)]).toEqual([20, 30, 60]);
  arrives(70);
  frames.pause();
  arrives(80);
  now = 90;
  frames.pause();
  expect([takes(100, 1), takes(110, 1)]).toEqual([70, 70]);
  // The connection is read again, and delivers what waited at the labeler.
  arrives(120);
  expect(takes(130, 1)).toBe(130);
  arrives(140);
  expect(takes(150, 1)).toBe(150);
  frames.pause();
  arrives(160);
  expect(takes(170, 1)).toBe(150);
  // What waited at the labeler has arrived long before.
  arrives(170 + 91 * second);
  expect(takes(170 + 91 * second, 1)).toBe(170 + 91 * second);
  expect(since).toEqual([10, 20, 30, 70, 70, 70, 140, 150, 170 + 91 * second]);
});
