import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase32, encodeBase32, exactMillis } from './compact.ts';

describe('base32', () => {
  it('decodes its own encoding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(decodeBase32(encodeBase32(bytes), 0)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('accepts only the canonical encoding', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab267zA1'), maxLength: 12 }), (text) => {
        const bytes = decodeBase32(text, 0);
        if (bytes) expect(encodeBase32(bytes)).toBe(text);
      }),
    );
  });
});

describe('a time in milliseconds', () => {
  const time = (numbers: readonly number[]): string => {
    const [year = 0, month, day, hour, minute, second, ms] = numbers;
    const two = (value = 0): string => String(value).padStart(2, '0');
    const rest = `${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}.${String(ms).padStart(3, '0')}Z`;
    return `${String(year).padStart(4, '0')}-${rest}`;
  };
  const numbers = fc.tuple(...([9999, 13, 32, 25, 60, 60, 999] as const).map((max) => fc.integer({ min: 0, max })));

  it('is found if and only if formatting it restores the text', () => {
    fc.assert(
      fc.property(fc.oneof(numbers.map(time), fc.string({ maxLength: 26 })), (text) => {
        const value = Date.parse(text);
        const isExact =
          text.length === 24 && !Number.isNaN(value) && new Date(value).toISOString() === text && text >= '1000';
        expect(exactMillis(text)).toBe(isExact ? value : null);
      }),
      { numRuns: 3_000 },
    );
  });

  it.each([
    ['2024-02-29T23:59:59.999Z', true],
    ['2023-02-29T00:00:00.000Z', false],
    ['2000-02-29T00:00:00.000Z', true],
    ['1900-02-29T00:00:00.000Z', false],
    ['2026-04-31T00:00:00.000Z', false],
    ['2026-01-01T24:00:00.000Z', false],
    ['0999-12-31T23:59:59.999Z', false],
    ['2026-01-01T00:00:00.0000', false],
  ])('%s: %s', (text, isExact) => {
    expect(exactMillis(text) !== null).toBe(isExact);
  });
});
