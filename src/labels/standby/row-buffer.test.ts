import { expect, test } from 'vitest';
import { micros } from '../../store/time.ts';
import { RowBuffer } from './row-buffer.ts';

function row(at: number, val = 'spam') {
  const label = { src: 'did:plc:a', uri: 'did:plc:b', val, cts: '2026-11-22T00:00:00.000Z' };
  return { observation: { label, signature: 'verified' as const }, acceptedAt: micros(at) };
}

const generous = { rows: 100, bytes: 1_000_000, age: 1_000 };

test('a row that the store contains is no longer kept', () => {
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
  ['the number of rows', { ...generous, rows: 1 }],
  ['their bytes', { ...generous, bytes: 300 }],
  ['their age', { ...generous, age: 5 }],
])('the oldest rows are dropped beyond the bound on %s', (_, limits) => {
  const buffer = new RowBuffer(limits);
  buffer.add('a', row(1));
  buffer.add('b', row(10));
  expect(buffer.trim(micros(10)).map(({ acceptedAt }) => acceptedAt)).toEqual([1]);
  expect(buffer.drain()).toEqual([row(10)]);
  expect([buffer.size, buffer.bytes]).toEqual([0, 0]);
});

test('no row is dropped within the bounds', () => {
  const buffer = new RowBuffer(generous);
  buffer.add('a', row(1));
  expect(buffer.trim(micros(1_001))).toEqual([]);
});
