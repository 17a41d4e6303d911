import { describe, expect, it } from 'vitest';
import { day, hour, micros, minute } from '../../store/time.ts';
import { counted, describeState, formatDuration, formatMinute, formatMissedTime } from './words.ts';

describe('texts of the pages', () => {
  it('describe a duration in its two largest units', () => {
    expect(formatDuration(3 * day + 4 * hour + minute)).toBe('3\u00a0d\u00a04\u00a0h');
  });

  it('round missed time up', () => {
    expect(formatMissedTime(6 * day + 22 * hour + 58 * minute)).toBe('6\u00a0d\u00a023\u00a0h');
  });

  it('format an instant to the minute, in UTC', () => {
    expect(formatMinute(micros(1_795_176_059_999_999))).toBe('20 Nov 2026, 12:00 UTC');
  });

  it('use singular and plural', () => {
    expect([counted(1, 'row'), counted(165_000, 'row')]).toEqual(['1 row', '165,000 rows']);
  });

  it('describe a state that does not exist as unknown', () => {
    expect(describeState('sideways', 2)).toBe('in an unknown state');
  });

  it('describe how one labeler and several labelers are read', () => {
    expect([describeState('unavailable', 1), describeState('unavailable', 2), describeState('probing', 2)]).toEqual([
      'does not answer',
      'do not answer',
      'being tried',
    ]);
  });

  it('describe in the past tense how labelers were read', () => {
    const states = ['unavailable', 'refused', 'undated_only', 'probing', 'sideways'];
    expect(states.map((state) => describeState(state, 2, true))).toEqual([
      'did not answer',
      'refused to be read',
      'gave only labels without a date',
      'being tried',
      'in an unknown state',
    ]);
  });
});
