import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SubjectKey, subjectKey } from '../base/row.ts';
import { filterBlocks, mayHold } from '../day/account-rows.ts';

const plc = fc
  .string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz234567'), minLength: 24, maxLength: 24 })
  .map((name) => subjectKey(`did:plc:${name}`));
const subject = fc.oneof(plc, fc.string({ maxLength: 80 }));

function filterOf(subjects: readonly SubjectKey[]) {
  const blocks = filterBlocks(subjects, subjects.length, true);
  const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
  return {
    bytes,
    holds: (one: SubjectKey) =>
      mayHold(one, { path: 'day', placed: true, count: blocks.length, read: (n) => blocks[n] }),
  };
}

test('a subject filter never rules out a subject that is present', () => {
  fc.assert(
    fc.property(fc.array(subject, { maxLength: 300 }), (subjects) => {
      const filter = filterOf(subjects);
      expect(subjects.filter((one) => !filter.holds(one))).toEqual([]);
    }),
  );
});

test('a subject filter with ten bits per subject has less than 1.5 % false positives', () => {
  const filter = filterOf(Array.from({ length: 20_000 }, (_, n) => `did:web:there-${n}.example`));
  const others = Array.from({ length: 20_000 }, (_, n) => `did:web:not-${n}.example`);
  expect(others.filter(filter.holds).length).toBeLessThan(300);
  expect(filter.bytes).toBeLessThan(26_000);
});

test('a subject filter without subjects rules out every subject', () => {
  expect(filterOf([]).holds('did:web:anyone.example')).toBe(false);
});

test('mayHold throws damaged if a bit of the filter is flipped', () => {
  const [block = Buffer.alloc(0)] = filterBlocks(['did:web:there.example'], 1, true);
  block[3] = (block[3] ?? 0) ^ 4;
  expect(() =>
    mayHold('did:web:there.example', { path: 'day', placed: true, count: 1, read: () => block }),
  ).toThrowError(expect.objectContaining({ name: 'StoreError', code: 'damaged' }));
});

test('mayHold throws damaged if it reads a block other than the requested one', () => {
  const subjects = Array.from({ length: 2_000 }, (_, n) => `did:web:there-${n}.example`);
  const blocks = filterBlocks(subjects, subjects.length, true);
  const filter = {
    path: 'day',
    placed: true,
    count: blocks.length,
    read: (n: number) => blocks[(n + 1) % blocks.length],
  };
  expect(() => mayHold('did:web:there-1.example', filter)).toThrowError(expect.objectContaining({ code: 'damaged' }));
});
