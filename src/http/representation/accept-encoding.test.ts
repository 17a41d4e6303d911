import { expect, it } from 'vitest';
import { chooseCoding } from './negotiation.ts';

it.each([
  [undefined, 'identity'],
  ['', 'identity'],
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['BR', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.000', 'identity'],
  ['*', 'br'],
  ['*;q=0', 'identity'],
  ['identity', 'identity'],
  ['identity;q=1, gzip;q=0.5', 'identity'],
  ['identity;q=0, gzip;q=0.1', 'gzip'],
  ['identity;q=0', 'identity'],
  ['deflate', 'identity'],
  ['gzip ; q=0.8 , br ; Q=0.9', 'br'],
  ['gzip;q=2', 'identity'],
  ['gzip;;q=1', 'identity'],
  ['gz\u0000ip', 'identity'],
  [',,gzip,,', 'gzip'],
  [`gzip,${' '.repeat(2000)}br`, 'identity'],
])('the Accept-Encoding header %j selects the coding %s', (header, coding) => {
  expect(chooseCoding(header)).toBe(coding);
});
