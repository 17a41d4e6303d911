import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RangeSet } from './ranges.ts';

const ranges = fc.array(
  fc.tuple(fc.nat(60), fc.nat(12)).map(([from, length]) => ({ from, to: from + length })),
  { maxLength: 30 },
);

it('a range set keeps its ranges sorted, and merges ranges that touch or overlap', () => {
  fc.assert(
    fc.property(ranges, (added) => {
      const set = new RangeSet();
      const members = new Set<number>();
      for (const range of added) {
        set.add(range);
        for (let at = range.from; at < range.to; at++) members.add(at);
      }
      expect(Array.from({ length: 80 }, (_, at) => set.has(at))).toEqual(
        Array.from({ length: 80 }, (_, at) => members.has(at)),
      );
      expect(set.size).toBe(members.size);
      const { list } = set;
      expect(list.every(({ from }, at) => at === 0 || from > (list[at - 1]?.to ?? 0))).toBe(true);
    }),
  );
});

it('a range set finds the range that contains or follows a number', () => {
  const set = new RangeSet();
  set.add({ from: 10, to: 20 });
  set.add({ from: 30, to: 40 });
  expect([5, 10, 19, 20, 39, 40].map((number) => set.at(number))).toEqual([
    { from: 10, to: 20 },
    { from: 10, to: 20 },
    { from: 10, to: 20 },
    { from: 30, to: 40 },
    { from: 30, to: 40 },
    null,
  ]);
});
