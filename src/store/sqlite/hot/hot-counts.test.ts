import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Group, packGroups, unpackGroups } from './hot-counts.ts';

const number = (max: number) => fc.oneof(fc.nat({ max: 300 }), fc.nat({ max }));
const groups = fc
  .array(fc.tuple(number(2 ** 20), number(2 ** 29), fc.nat({ max: 2 }), number(2 ** 31 - 1), number(2 ** 31 - 1)))
  .map((all): Group[] => all.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]));

it('unpackGroups restores packed groups', () => {
  fc.assert(
    fc.property(groups, (all) => {
      expect(unpackGroups(packGroups(all), 'day')).toEqual(all);
    }),
  );
});

it('unpackGroups throws damaged for packed groups that were truncated or have a flipped bit', () => {
  const bit = fc.tuple(groups, fc.nat(), fc.nat({ max: 7 }));
  fc.assert(
    fc.property(bit, ([all, at, shift]) => {
      const packed = packGroups(all);
      const changed = Buffer.from(packed);
      changed[at % packed.length] = (changed[at % packed.length] ?? 0) ^ (1 << shift);
      expect(() => unpackGroups(changed, 'day')).toThrowError(expect.objectContaining({ code: 'damaged' }));
      expect(() => unpackGroups(packed.subarray(0, at % packed.length), 'day')).toThrowError(
        expect.objectContaining({ code: 'damaged' }),
      );
    }),
  );
});
