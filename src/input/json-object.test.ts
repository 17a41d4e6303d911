import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isNestedDeeper } from './json-budget.ts';

test('isNestedDeeper returns true if and only if a leaf of the value is inside more containers than the limit', () => {
  const depth = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(8), (value, limit) => {
      expect(isNestedDeeper(value, limit)).toBe(depth(value) > limit);
    }),
  );
});

test('isNestedDeeper does not overflow the stack for a million levels', () => {
  let value: unknown = 1;
  for (let i = 0; i < 1_000_000; i += 1) value = [value];
  expect(isNestedDeeper(value, 32)).toBe(true);
});
