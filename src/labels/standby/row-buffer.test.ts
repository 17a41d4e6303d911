import { expect, test } from 'vitest';
import { micros } from '../../store/time.ts';
import { RowBuffer } from './kept.ts';

function row(at: number, val = 'spam', src = 'did:plc:a') {
  const label = { src, uri: 'did:plc:b', val, cts: '2026-11-22T00:00:00.000Z' };
  return { observation: { label, signature: 'verified' as const }, acceptedAt: micros(at), emittedAfter: micros(0) };
}

const generous = { rows: 100, bytes: 1_000_000, age: 1_000 };

test('a row that the store contains is removed from the buffer', () => {
  const buffer = new RowBuffer(generous);
  buffer.add('a', row(1));
  buffer.add('b', row(2));
  buffer.delete('a');
  buffer.delete('unknown');
  expect([buffer.size, buffer.oldest, buffer.has('a'), buffer.has('b')]).toEqual([1, 2, false, true]);
  buffer.delete('b');
  expect([buffer.bytes, buffer.oldest]).toEqual([0, null]);
});

test.each([
  ['number of rows', { ...generous, rows: 1 }],
  ['size in bytes', { ...generous, bytes: 300 }],
  ['age', { ...generous, age: 5 }],
])('the oldest rows are dropped if the maximum %s is exceeded', (_, limits) => {
  const buffer = new RowBuffer(limits);
  buffer.add('a', row(1));
  buffer.add('b', row(10));
  expect(buffer.trim(micros(10)).map(({ acceptedAt }) => acceptedAt)).toEqual([1]);
  expect(buffer.drain()).toEqual([row(10)]);
  expect([buffer.size, buffer.bytes]).toEqual([0, 0]);
});

test('a buffer within its limits retains all rows', () => {
  const buffer = new RowBuffer(generous);
  buffer.add('a', row(1));
  expect(buffer.trim(micros(1_001))).toEqual([]);
});

test.each([
  ['number of rows', { ...generous, rows: 10 }],
  ['size in bytes', { ...generous, bytes: 2_600 }],
])('a source that floods the buffer beyond the maximum %s loses only its own oldest rows', (_, limits) => {
  const buffer = new RowBuffer(limits);
  buffer.add('honest 1', row(1, 'spam', 'did:plc:b'));
  buffer.add('honest 2', row(2, 'spam', 'did:plc:c'));
  for (let n = 0; n < 50; n += 1) {
    buffer.add(`flood ${n}`, row(10 + n));
    for (const { observation, acceptedAt } of buffer.trim(micros(10 + n))) {
      expect([observation.label.src, acceptedAt < 52]).toEqual(['did:plc:a', true]);
    }
  }
  buffer.add('honest 3', row(100, 'spam', 'did:plc:b'));
  expect(buffer.trim(micros(100)).map(({ observation }) => observation.label.src)).toEqual(['did:plc:a']);
  const kept = buffer.drain();
  expect(kept.map(({ acceptedAt }) => acceptedAt)).toEqual(
    kept.map(({ acceptedAt }) => acceptedAt).toSorted((a, b) => a - b),
  );
  expect(kept.filter(({ observation }) => observation.label.src !== 'did:plc:a')).toHaveLength(3);
  expect(buffer.size).toBe(0);
});

test('the sources with the most rows lose rows until they have equal shares', () => {
  const buffer = new RowBuffer({ ...generous, rows: 12 });
  const sources = { 'did:plc:a': 20, 'did:plc:b': 10, 'did:plc:c': 2 };
  for (const [src, count] of Object.entries(sources)) {
    for (let n = 0; n < count; n += 1) buffer.add(`${src} ${n}`, row(n, 'spam', src));
  }
  expect(buffer.trim(micros(100))).toHaveLength(20);
  const kept = Map.groupBy(buffer.drain(), ({ observation }) => observation.label.src);
  expect([...kept].map(([src, rows]) => [src, rows.length]).sort()).toEqual([
    ['did:plc:a', 5],
    ['did:plc:b', 5],
    ['did:plc:c', 2],
  ]);
});
