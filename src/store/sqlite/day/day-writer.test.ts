import { expect, test } from 'vitest';
import { RememberedNames } from './day-writer.ts';

test('RememberedNames distinguishes equal names of different tables, and stays within its byte limit for long names', () => {
  const names = new RememberedNames();
  names.set('val', 'a', 1);
  names.set('source', 'a', 2);
  expect([names.get('val', 'a'), names.get('source', 'a'), names.get('collection', 'a')]).toEqual([1, 2, undefined]);
  for (let i = 0; i < 3_000; i++) {
    names.set('source', String(i).padStart(10_000, 'a'), i);
    expect(names.bytes).toBeLessThanOrEqual(16 * 1024 * 1024);
  }
  expect(names.get('source', '2999'.padStart(10_000, 'a'))).toBe(2_999);
  names.clear();
  expect([names.get('source', '2999'.padStart(10_000, 'a')), names.bytes]).toEqual([undefined, 0]);
});
