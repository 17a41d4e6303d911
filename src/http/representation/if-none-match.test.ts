import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchesEntityTag } from './negotiation.ts';

const etag = 'W/"abc_-9"';

it.each([
  [undefined, false],
  ['', false],
  [etag, true],
  ['"abc_-9"', true],
  ['*', true],
  [' * ', true],
  ['"other"', false],
  ['"other", W/"abc_-9"', true],
  ['W/"abc_-9" , "other"', true],
  [',, W/"abc_-9" ,', true],
  ['"a,b", "abc_-9"', true],
  ['"a, W/"abc_-9"', true],
  ['abc_-9', false],
  ['w/"abc_-9"', false],
  ['W/ "abc_-9"', false],
  ['"abc_-9', false],
  ['abc_-9"', false],
  ['garbage, W/"abc_-9"', true],
  ['x"abc_-9"', false],
  ['"abc_-9"x', false],
  ['*, "other"', false],
  ['"ABC_-9"', false],
])('matchesEntityTag, given the header %j, returns %s', (header, matches) => {
  expect(matchesEntityTag(header, etag)).toBe(matches);
});

it('a list of well-formed tags matches exactly the tags that it contains', () => {
  const tag = fc
    .tuple(fc.constantFrom('', 'W/'), fc.stringMatching(/^[!#-~]{0,12}$/))
    .map(([weak, text]) => `${weak}"${text}"`);
  fc.assert(
    fc.property(fc.array(tag, { minLength: 1, maxLength: 8 }), tag, (list, wanted) => {
      const bare = (text: string): string => text.replace(/^W\//, '');
      expect(matchesEntityTag(list.join(', '), wanted)).toBe(list.map(bare).includes(bare(wanted)));
    }),
  );
});

it('a hostile If-None-Match header is parsed in linear time', () => {
  // A pattern with backtracking would take practically forever for this header.
  expect(matchesEntityTag('"'.repeat(100_000), etag)).toBe(false);
  expect(matchesEntityTag(`${' '.repeat(50_000)}x,${'\t'.repeat(50_000)}`, etag)).toBe(false);
});
