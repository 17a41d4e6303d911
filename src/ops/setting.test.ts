import { expect, test } from 'vitest';
import { number } from './setting.ts';

const setting = number('label-rate', 'N', 20, { min: 0, max: 10_000 }, 'a rate');

test('a number setting accepts at most six decimals', () => {
  expect(setting.parse(['0.123456'])).toBe(0.123456);
});

test.each([
  ['is too high', '10000.5', 'requires a number from 0 to 10000'],
  ['is not a number', 'many', 'requires a number from 0 to 10000'],
  ['has seven decimals', '0.1234567', 'requires a number from 0 to 10000 with at most six decimals'],
])('the error for a number that %s states what the setting requires', (_, text, message) => {
  expect(() => setting.parse([text])).toThrow(new Error(message));
});
