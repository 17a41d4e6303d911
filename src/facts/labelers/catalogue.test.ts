import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indexTexts } from './catalogue.ts';

const line = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '.', ' '), maxLength: 6 });

test('a search finds exactly the texts with a line that contains the search text', () => {
  fc.assert(
    fc.property(fc.array(fc.array(line, { minLength: 1, maxLength: 2 }), { maxLength: 20 }), line, (texts, wanted) => {
      const found = indexTexts(texts.map((lines) => lines.join('\n'))).matches(wanted);
      expect([...found]).toEqual(texts.map((lines) => (lines.some((one) => one.includes(wanted)) ? 1 : 0)));
    }),
  );
});

test('no match spans two texts, even if the search text contains a line feed', () => {
  const index = indexTexts(['ab', 'cd']);
  expect([...index.matches('bc')]).toEqual([0, 0]);
  expect([...index.matches('b\nc')]).toEqual([0, 0]);
  expect([...index.matches('\n')]).toEqual([0, 0]);
});
