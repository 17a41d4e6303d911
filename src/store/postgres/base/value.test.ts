import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeText, encodeText, literal, parameter } from './value.ts';

const text = fc.string({ unit: fc.constantFrom('\0', '\u0001', '0', '1', 'a', '"', '\\', '{', ',', 'é') });

it('encoded strings contain no NUL, are decoded exactly, and stay distinct', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(encodeText(a)).not.toContain('\0');
      expect(decodeText(encodeText(a))).toBe(a);
      expect(encodeText(a) === encodeText(b)).toBe(a === b);
    }),
  );
});

it('parameter encodes arrays of numbers, booleans, strings, bytes and nulls as PostgreSQL arrays', () => {
  expect(parameter([1, null, true])).toBe('{1,NULL,true}');
  expect(parameter(['a"b', 'c\\d', '', 'NULL', '\0'])).toBe('{"a\\"b","c\\\\d","","NULL","\u00010"}');
  expect(parameter([Buffer.from([0, 255]), null])).toBe('{"\\\\x00ff",NULL}');
});

it('literal quotes texts, and escapes backslashes independently of the settings of the server', () => {
  expect(["it's", 'a\\b', ['"', null], Buffer.from([0, 255]), 1, null].map(literal)).toEqual([
    "'it''s'",
    " E'a\\\\b'",
    ` E'{"\\\\"",NULL}'`,
    " E'\\\\x00ff'",
    "'1'",
    'NULL',
  ]);
});
