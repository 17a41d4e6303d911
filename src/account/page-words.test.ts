import { describe, expect, it } from 'vitest';
import { day, hour, micros, minute, second } from '../store/time.ts';
import { counted, durationWords, instantWords, stateWords } from './page-words.ts';

describe('words', () => {
  it.each([
    [0, 'less than 1 s'],
    [second, '1 s'],
    [61 * second, '1 min 1 s'],
    [hour, '1 h'],
    [hour + 5 * second, '1 h'],
    [25 * hour + 5 * minute, '1 day 1 h'],
    [3 * day + 4 * hour + minute, '3 days 4 h'],
  ])('of %i µs are %s', (length, words) => {
    expect(durationWords(length)).toBe(words);
  });

  it('tell an instant to the second, in UTC', () => {
    expect(instantWords(micros(1_795_176_000_999_999))).toBe('2026-11-20 12:00:00 UTC');
  });

  it('count in singular and plural', () => {
    expect([counted(1, 'row'), counted(165_000, 'row')]).toEqual(['1 row', '165,000 rows']);
  });

  it('know no state that the instrument does not have', () => {
    expect(stateWords('sideways')).toBe('in an unknown state');
  });
});
