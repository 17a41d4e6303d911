import fc from 'fast-check';
import { expect, test } from 'vitest';
import { subjectKey } from './row.ts';
import { filterBits, SubjectFilter } from './subject-filter.ts';

const plc = fc
  .string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz234567'), minLength: 24, maxLength: 24 })
  .map((name) => subjectKey(`did:plc:${name}`));
const subject = fc.oneof(plc, fc.string({ maxLength: 80 }));

test('rules out no subject that is there', () => {
  fc.assert(
    fc.property(fc.array(subject, { maxLength: 300 }), (subjects) => {
      const filter = new SubjectFilter(filterBits(subjects));
      expect(subjects.filter((one) => !filter.mayHold(one))).toEqual([]);
    }),
  );
});

test('rules out all but one in a hundred of those that are not, in ten bits for each that is', () => {
  const there = Array.from({ length: 20_000 }, (_, n) => `did:web:there-${n}.example`);
  const bits = filterBits(there);
  const filter = new SubjectFilter(bits);
  const passed = Array.from({ length: 20_000 }, (_, n) => `did:web:not-${n}.example`).filter((one) =>
    filter.mayHold(one),
  );
  expect(passed.length).toBeLessThan(300);
  expect(bits.length).toBe(25_000);
});

test('of no subject rules out every one', () => {
  expect(new SubjectFilter(filterBits([])).mayHold('did:web:anyone.example')).toBe(false);
});
