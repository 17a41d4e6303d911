import { expect, test } from 'vitest';
import { ResolutionQueue } from './resolution-queue.ts';

const plain = { fresh: false, privileged: false };
const dids = (taken: readonly { readonly did: string }[]) => taken.map(({ did }) => did);

test('due documents are taken in the order of the queue, and not again while their resolution is in progress', () => {
  const queue = new ResolutionQueue();
  queue.set('did:plc:b', 10, plain);
  queue.set('did:plc:a', 0, { fresh: true, privileged: false });
  queue.set('did:plc:later', 11, plain);
  expect(queue.take(10)).toEqual([
    { did: 'did:plc:b', fresh: false, privileged: false },
    { did: 'did:plc:a', fresh: true, privileged: false },
  ]);
  queue.set('did:plc:a', 0, plain);
  expect(queue.take(10)).toEqual([]);
  queue.done('did:plc:a');
  expect([dids(queue.take(10)), dids(queue.take(11))]).toEqual([['did:plc:a'], ['did:plc:later']]);
});

test('a document that is due later than the longest wait is taken now, because the clock was ahead', () => {
  const queue = new ResolutionQueue(1_000);
  queue.set('did:plc:a', 2_000, plain);
  queue.set('did:plc:b', 2_001, plain);
  expect([dids(queue.take(1_000)), dids(queue.take(2_000))]).toEqual([['did:plc:b'], ['did:plc:a']]);
});

test('hanging hosts of did:web delay neither the directory nor privileged hosts', () => {
  const queue = new ResolutionQueue();
  for (let i = 0; i < 500; i++) queue.set(`did:web:l${i}.hostile${i}.example`, 0, plain);
  for (let i = 0; i < 500; i++) queue.set(`did:plc:stranger${i}`, 0, plain);
  expect(queue.take(0)).toHaveLength(32);
  expect(queue.take(0)).toEqual([]);
  queue.set('did:plc:seed', 0, { fresh: true, privileged: true });
  queue.set('did:web:seed.example', 0, { fresh: true, privileged: true });
  expect(dids(queue.take(0))).toEqual(['did:plc:seed', 'did:web:seed.example']);
});

test('one registrable domain gets at most its share of the concurrent resolutions of did:web', () => {
  const queue = new ResolutionQueue();
  for (let i = 0; i < 100; i++) queue.set(`did:web:l${i}.crowd.example`, 0, plain);
  queue.set('did:web:other.example', 0, plain);
  expect(dids(queue.take(0))).toEqual([
    'did:web:l0.crowd.example',
    'did:web:l1.crowd.example',
    'did:web:other.example',
  ]);
});

test('a document that is queued again moves to the queue of its priority', () => {
  const queue = new ResolutionQueue();
  queue.set('did:plc:a', 0, plain);
  queue.set('did:plc:a', 5, { fresh: true, privileged: true });
  expect([queue.get('did:plc:a'), queue.take(5)]).toEqual([
    expect.objectContaining({ at: 5, fresh: true }),
    [{ did: 'did:plc:a', fresh: true, privileged: true }],
  ]);
  queue.set('did:plc:b', 0, plain);
  queue.delete('did:plc:b');
  expect([queue.get('did:plc:b'), queue.take(5)]).toEqual([null, []]);
});
