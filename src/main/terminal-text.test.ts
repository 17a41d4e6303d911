import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aligned, terminalText, wrapped } from './terminal-text.ts';

describe('untrusted text on the terminal', () => {
  it('contains no control characters, line breaks or changes of text direction', () => {
    const units = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\u001b[31m', '\u009b2J', '\r\n', '\u202e', '\u2066', '\u200f', '\t'),
    );
    fc.assert(
      fc.property(
        fc.array(units).map((parts) => parts.join('')),
        (text) => {
          expect(terminalText(text)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]/u);
        },
      ),
    );
  });

  it('is unchanged if it is harmless, and marked if it is truncated', () => {
    expect(terminalText('Spam, “scam” & 広告')).toBe('Spam, “scam” & 広告');
    expect(terminalText('two\nlines')).toBe('two lines');
    expect(terminalText('abcdef', 3)).toBe('abc … (shortened)');
  });
});

describe('a wrapped line', () => {
  it('keeps all words and fits the width', () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,30}$/), { maxLength: 40 }),
        fc.integer({ min: 40, max: 120 }),
        (words, width) => {
          const rows = wrapped(words.join(' '), width, 4);
          expect(rows.join(' ').split(/\s+/).filter(Boolean)).toEqual(words);
          for (const row of rows) expect(row.length).toBeLessThanOrEqual(width);
        },
      ),
    );
  });

  it('splits a word that is longer than the width', () => {
    expect(wrapped('x'.repeat(100), 40)).toEqual(['x'.repeat(40), 'x'.repeat(40), 'x'.repeat(20)]);
  });
});

it('each aligned column except the last is padded to its longest cell', () => {
  expect(
    aligned(
      [
        ['a', '1', 'x'],
        ['long', '100', 'y'],
      ],
      new Set([1]),
    ),
  ).toEqual(['a       1  x', 'long  100  y']);
});
