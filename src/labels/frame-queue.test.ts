import { encode } from '@atcute/cbor';
import { expect, test } from 'vitest';
import { FrameQueue, mostWaitingBytes } from './frame-queue.ts';

function frame(seq: number, bytes: number): Uint8Array {
  const label = { val: 'x'.repeat(bytes) };
  return Buffer.concat([encode({ op: 1, t: '#labels' }), encode({ seq, labels: [label] })]);
}

/** How many frames are taken until no more should be read. */
function taken(queue: FrameQueue, bytes: number): number {
  for (let seq = 1; seq <= 1_000; seq += 1) if (queue.push(frame(seq, bytes))) return seq;
  return Number.POSITIVE_INFINITY;
}

test('a connection is read no further once 256 frames wait, or 16 MiB of them', () => {
  expect(taken(new FrameQueue(), 100)).toBe(256);
  expect(taken(new FrameQueue(), mostWaitingBytes / 16)).toBe(16);
  expect(taken(new FrameQueue(), mostWaitingBytes)).toBe(1);
});

test('what was taken waits no more, and comes in its order', () => {
  const queue = new FrameQueue();
  taken(queue, mostWaitingBytes / 4);
  expect(queue.take()).toMatchObject([1, 2, 3, 4].map((seq) => ({ kind: 'labels', seq })));
  expect(queue.take()).toEqual([]);
  expect(taken(queue, mostWaitingBytes / 4)).toBe(4);
});
