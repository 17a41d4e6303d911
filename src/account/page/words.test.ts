import { describe, expect, it } from 'vitest';
import { day, hour, micros, minute } from '../../store/time.ts';
import { counted, durationWords, minuteWords, missedWords, stateWords } from './words.ts';

describe('words', () => {
  it('tell a length of time in its two largest units', () => {
    expect(durationWords(3 * day + 4 * hour + minute)).toBe('3\u00a0d\u00a04\u00a0h');
  });

  it('tell what was missed rounded up', () => {
    expect(missedWords(6 * day + 22 * hour + 58 * minute)).toBe('6\u00a0d\u00a023\u00a0h');
  });

  it('tell an instant to the minute, in UTC', () => {
    expect(minuteWords(micros(1_795_176_059_999_999))).toBe('20 Nov 2026, 12:00 UTC');
  });

  it('count in singular and plural', () => {
    expect([counted(1, 'row'), counted(165_000, 'row')]).toEqual(['1 row', '165,000 rows']);
  });

  it('know no state that the instrument does not have', () => {
    expect(stateWords('sideways', 2)).toBe('in an unknown state');
  });

  it('say of one labeler and of several how they are read', () => {
    expect([stateWords('unavailable', 1), stateWords('unavailable', 2), stateWords('probing', 2)]).toEqual([
      'does not answer',
      'do not answer',
      'being tried',
    ]);
  });

  it('say in the past tense how they were read', () => {
    const states = ['unavailable', 'refused', 'undated_only', 'probing', 'sideways'];
    expect(states.map((state) => stateWords(state, 2, true))).toEqual([
      'did not answer',
      'refused to be read',
      'gave only labels without a date',
      'being tried',
      'in an unknown state',
    ]);
  });
});
