import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatMicros,
  formatTimestamp,
  type Micros,
  microsFromMillis,
  parseInstant,
  parseTimestamp,
  secondsBetween,
} from './timestamp.ts';

describe('parseTimestamp', () => {
  it.each([
    ['2026-11-20T12:00:00Z', 1795176000000000],
    ['2026-11-20T12:00:00+00:00', 1795176000000000],
    ['2026-11-20T12:00:00.5Z', 1795176000500000],
    ['2026-09-11T14:03:22.481907Z', 1789135402481907],
    ['2026-11-20T12:00:00.123456789Z', 1795176000123456],
    ['2026-11-20T12:00:00.12345678901234567890Z', 1795176000123456],
    ['2024-02-29T00:00:00Z', 1709164800000000],
    ['1969-12-31T23:59:59.999999Z', -1],
    ['0001-01-01T00:00:00Z', -62135596800000000],
  ])('parses %s', (text, micros) => {
    expect(parseTimestamp(text)).toBe(micros);
  });

  it.each([
    ['an offset other than zero', '2026-11-20T12:00:00+01:00'],
    ['an unknown offset', '2026-11-20T12:00:00-00:00'],
    ['a time without a zone', '2026-11-20T12:00:00'],
    ['a date without a time', '2026-11-20'],
    ['a day that does not exist', '2026-02-29T00:00:00Z'],
    ['month 13', '2026-13-01T00:00:00Z'],
    ['month 0', '2026-00-10T00:00:00Z'],
    ['hour 24', '2026-11-20T24:00:00Z'],
    ['a leap second', '2026-12-31T23:59:60Z'],
    ['a space instead of T', '2026-11-20 12:00:00Z'],
    ['lower case', '2026-11-20t12:00:00z'],
    ['an empty fraction', '2026-11-20T12:00:00.Z'],
    ['surrounding spaces', ' 2026-11-20T12:00:00Z'],
    ['a dash', '—'],
    ['an empty string', ''],
    ['a number', 1795176000],
    ['null', null],
    ['undefined', undefined],
    ['a very long fraction', `2026-11-20T12:00:00.${'1'.repeat(500)}Z`],
  ])('rejects %s', (_what, text) => {
    expect(parseTimestamp(text)).toBeNull();
  });

  it('parses every timestamp that the service writes', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true }), (date) => {
        expect(parseTimestamp(formatTimestamp(date.getTime()))).toBe(date.getTime() * 1000);
      }),
    );
  });
});

describe('secondsBetween', () => {
  it('returns the exact difference to the microsecond, which is negative if the second instant is earlier than the first', () => {
    const now = microsFromMillis(1795176000123);
    const seen = parseTimestamp('2026-11-20T12:05:00.123456Z');
    expect(seen === null ? null : secondsBetween(seen, now)).toBe(-300.000456);
    expect(seen === null ? null : secondsBetween(now, seen)).toBe(300.000456);
  });
});

describe('an instant with microseconds', () => {
  it('is unchanged after formatting and parsing in any time zone', () => {
    const instants = fc.integer({ min: 0, max: 4_000_000_000_000_000 });
    fc.assert(
      fc.property(instants, fc.integer({ min: -1439, max: 1439 }), (instant, minutes) => {
        expect(parseTimestamp(formatMicros(instant as Micros))).toBe(instant);
        const size = Math.abs(minutes);
        const zone = `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        const local = formatMicros((instant + minutes * 60_000_000) as Micros).replace('Z', zone);
        if (instant + minutes * 60_000_000 >= 0) expect(parseInstant(local)).toBe(instant);
      }),
    );
  });

  it('is written with six decimals', () => {
    expect(formatMicros(1_795_176_000_000_007 as Micros)).toBe('2026-11-20T12:00:00.000007Z');
  });

  it('is rejected if its offset is missing or invalid', () => {
    expect(parseInstant('2026-11-20T12:00:00')).toBeNull();
    expect(parseInstant('2026-11-20T12:00:00+24:00')).toBeNull();
  });

  it('is ordered correctly even in years whose microseconds exceed the safe integer range', () => {
    const texts = ['1600-01-01T00:00:00Z', '1600-01-01T00:00:01Z', '2026-01-01T00:00:00Z', '2300-01-01T00:00:00Z'];
    const instants = texts.map((text) => parseInstant(text) ?? Number.NaN);
    expect(instants).toEqual(instants.toSorted((a, b) => a - b));
    expect(parseInstant('9999-12-31T23:59:59Z')).toBe(Date.UTC(9999, 11, 31, 23, 59, 59) * 1000);
  });

  it.each([
    ['9999-12-31T23:59:59-05:00', '9999-12-31T23:59:59.999960Z'],
    ['9999-12-31T23:59:59.9999999Z', '9999-12-31T23:59:59.999960Z'],
    ['0000-01-01T00:00:00+14:00', '0000-01-01T00:00:00.000000Z'],
  ])('is limited to the instants that a timestamp can state (%s)', (text, stated) => {
    const instant = parseInstant(text) ?? (Number.NaN as Micros);
    expect(formatMicros(instant)).toBe(stated);
    expect(parseInstant(stated)).toBe(instant);
  });

  it('is rounded up to the next microsecond if its fraction has more digits', () => {
    expect(parseInstant('2026-11-20T12:00:00.0000070Z')).toBe(1_795_176_000_000_007);
    expect(parseInstant('2026-11-20T12:00:00.0000070001Z')).toBe(1_795_176_000_000_008);
    expect(parseInstant('2026-11-20T13:00:00.0000079+01:00')).toBe(1_795_176_000_000_008);
  });
});

function two(number: number): string {
  return String(number).padStart(2, '0');
}
