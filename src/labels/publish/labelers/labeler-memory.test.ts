import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { micros, minute } from '../../../store/time.ts';
import type { DayCount, DayCounts } from '../window/day-counts.ts';
import { LabelerMemory } from './labeler-memory.ts';
import type { UnreadGap } from './unread-time.ts';

const reasons = ['source_unavailable', 'not_observed', 'unknown'] as const;

/** Disjoint gaps, in order. */
const gaps = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 }), fc.constantFrom(...reasons)), {
    maxLength: 20,
  })
  .map((steps) => {
    let at = 0;
    return steps.map(([pause, length, reason]): UnreadGap => {
      const start = micros((at + pause) * minute);
      at += pause + length;
      return { start, end: micros(at * minute), reason };
    });
  });

test('gaps are written identically with a fresh and a used cache', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(gaps, fc.integer({ min: 0, max: 1_500 })), { maxLength: 6 }), (publications) => {
      const memory = new LabelerMemory();
      for (const [unread, room] of publications) {
        const written = memory.gaps.within(unread, room, room);
        expect(written).toEqual(new LabelerMemory().gaps.within(unread, room, room));
        expect(written.bytes).toBe(written.text === '[]' ? 0 : written.text.length);
      }
    }),
  );
});

test('a timestamp is formatted correctly, no matter which timestamp was cached before', () => {
  const memory = new LabelerMemory();
  for (const at of [0, minute, minute, 0]) {
    expect(memory.stamp('last_row', micros(at))).toBe(new Date(at / 1000).toISOString());
  }
});

test('the counts of a day are looked up again only if the day changed or moved to a different place in the list', () => {
  const memory = new LabelerMemory();
  const count: DayCount = { applied: 1, removed: 2, repeats: 0, hours: 1 };
  const first: DayCounts = new Map([['did:web:a', count]]);
  const second: DayCounts = new Map();
  const changed: DayCounts = new Map([['did:web:a', { ...count, applied: 5 }]]);
  const spies = [first, second, changed].map((counts) => vi.spyOn(counts, 'get'));
  const lookUps = (): number[] => spies.map(({ mock }) => mock.calls.length);
  expect(memory.countsOf('did:web:a', [first, second])).toEqual([count, undefined]);
  expect(lookUps()).toEqual([1, 1, 0]);
  expect(memory.countsOf('did:web:a', [first, second])).toEqual([count, undefined]);
  expect(lookUps()).toEqual([1, 1, 0]);
  expect(memory.countsOf('did:web:a', [first, changed])).toEqual([count, { ...count, applied: 5 }]);
  expect(lookUps()).toEqual([1, 1, 1]);
  expect(memory.countsOf('did:web:a', [changed])).toEqual([{ ...count, applied: 5 }]);
  expect(lookUps()).toEqual([1, 1, 2]);
});
