import { expect, test } from 'vitest';
import { parseAuthored } from './label-fields.ts';

const micros = (text: string, fraction = 0) => Date.parse(text) * 1000 + fraction;

test.each<[string, unknown, number | null]>([
  ['a time in UTC', '2026-07-10T12:00:00Z', micros('2026-07-10T12:00:00Z')],
  ['a time with microseconds', '2026-07-10T12:00:00.123456Z', micros('2026-07-10T12:00:00Z', 123_456)],
  ['nanoseconds, which are truncated', '2026-07-10T12:00:00.123456789Z', micros('2026-07-10T12:00:00Z', 123_456)],
  ['UTC as an offset', '2026-07-10T12:00:00+00:00', micros('2026-07-10T12:00:00Z')],
  ['UTC as a negative offset', '2026-07-10T12:00:00-00:00', micros('2026-07-10T12:00:00Z')],
  ['an offset east of UTC', '2026-07-10T12:00:00.5+05:45', micros('2026-07-10T06:15:00.500Z')],
  ['an offset west of UTC, across midnight', '2026-07-10T20:00:00-08:00', micros('2026-07-11T04:00:00Z')],
  ['a time without a zone', '2026-07-10T12:00:00', null],
  ['an offset of 24 hours', '2026-07-10T12:00:00+24:00', null],
  ['a date without a time', '2026-07-10', null],
  ['a space instead of T', '2026-07-10 12:00:00Z', null],
  ['a day that does not exist', '2026-02-30T12:00:00Z', null],
  ['an empty string', '', null],
  ['a number', 1_780_000_000, null],
  ['a very long fraction', `2026-07-10T12:00:00.${'1'.repeat(100)}Z`, null],
])('an authored time is parsed with its offset, or as null if it is invalid (%s)', (_, text, expected) => {
  expect(parseAuthored(text)).toBe(expected);
});
