import { expect, it } from 'vitest';
import { readingOf } from './read-values.ts';

it('a reading states the time, the value, the usual range and the observed share with its reason', () => {
  expect(
    readingOf(
      ['UTC', 'Events per second', 'Usual', 'Observed, if not all'],
      ['27 Nov 14:00', '59.5', '50 to 70', '50 %: nothing arrived from the host'],
    ),
  ).toBe('27 Nov 14:00 UTC: Events per second 59.5; Usual 50 to 70; Observed 50 %: nothing arrived from the host');
  expect(readingOf(['UTC', 'Applied', 'Observed, if not all'], ['27 Nov 15:00', '–', ''])).toBe(
    '27 Nov 15:00 UTC: Applied –; Observed all',
  );
});
