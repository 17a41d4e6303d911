import fc from 'fast-check';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { renderPage } from './document.tsx';
import { Foreign, isPlain, visible, withoutControls } from './foreign.tsx';

/** Texts whose invisible characters are ordinary. */
const ordinary = [
  ...['👩‍👩‍👧', '👩🏽‍🤝‍👨🏿', '🏳️‍🌈', '🏴‍☠️', '❤️‍🔥', '🐈‍⬛', '🏃‍♀️‍➡️', '👁️‍🗨️', '☎︎', '©️', '1️⃣', '#️⃣', '🇩🇪'],
  ...['gbeng', 'gbsct', 'gbwls'].map((region) => `🏴${tags(region)}\u{E007F}`),
  ...['می\u200Cخواهم', 'क्\u200Dष', 'क्\u200Cष', 'ന്\u200D', 'ශ්\u200Dරී', 'ᠠ\u180B', 'ᠨ\u180Eᠠ'],
];

function tags(region: string): string {
  return [...region].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join('');
}

describe('untrusted text', () => {
  it('is isolated and escaped', () => {
    expect(renderToString(<Foreign text={'<script>"&\'</script>'} />)).toBe(
      "<bdi>&lt;script>&quot;&amp;'&lt;/script></bdi>",
    );
  });

  it('contains no control characters and no marks that change the direction of the surrounding text', () => {
    expect(visible('a\u202Eb\u2066c\u0000d', 10)).toEqual({ text: 'a\uFFFDb\uFFFDc\uFFFDd', cut: false });
  });

  it('shows every invisible character as U+FFFD, regardless of its position between other characters', () => {
    const unseen = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
    // The signs that stand before Arabic, Syriac and Kaithi numbers are visible.
    const numberSigns = /[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]/u;
    const wrong: string[] = [];
    for (let point = 0; point <= 0x10ffff; point += 1) {
      const character = String.fromCodePoint(point);
      if (!unseen.test(character)) continue;
      const shown = numberSigns.test(character) ? character : '\uFFFD';
      const isRight = isPlain(`a${character}b`) === (shown === character);
      if (visible(`a${character}b`, 10).text !== `a${shown}b` || !isRight) wrong.push(point.toString(16));
    }
    expect(wrong).toEqual([]);
  });

  it('keeps emoji, and the joiners of the scripts that need them', () => {
    for (const text of ordinary) expect(visible(text, 30)).toEqual({ text, cut: false });
    for (const text of ordinary) expect([text, isPlain(text)]).toEqual([text, true]);
  });

  it.each([
    ['a joiner next to a letter', 'a\u200D👩', 'a\uFFFD👩'],
    ['two joiners between emoji', '👩\u200D\u200D👧', '👩\uFFFD\uFFFD👧'],
    ['a joiner between Latin letters', 'sp\u200Cam', 'sp\uFFFDam'],
    ['two joiners between Persian letters', 'می\u200C\u200Cخواهم', 'می\uFFFD\uFFFDخواهم'],
    ['a second variation selector', '❤\uFE0F\uFE0F', '❤\uFE0F\uFFFD'],
    ['a variation selector after a letter or digit', 'a\uFE0F1\uFE0F', 'a\uFFFD1\uFFFD'],
    ['tags after an emoji that is not a flag', '👍\u{E0067}\u{E007F}', '👍\uFFFD\uFFFD'],
    ['invalid tags after a flag', '🏴\u{E0061}\u{E007F}', '🏴\uFFFD\uFFFD'],
    ['filler characters', 'a\u3164\u115F\uFFA0', 'a\uFFFD\uFFFD\uFFFD'],
  ])('shows %s as U+FFFD', (_, text, shown) => {
    expect(visible(text, 30).text).toBe(shown);
    expect(isPlain(text)).toBe(false);
  });

  it('ends before a joiner whose next character is cut off', () => {
    expect(visible('👩\u200D👧', 2)).toEqual({ text: '👩', cut: true });
    expect(visible(`${'a\u200B'.repeat(20)}`, 3)).toEqual({ text: 'a\uFFFDa', cut: true });
  });

  it('is truncated between two code points, not within a surrogate pair', () => {
    expect(visible('🧪🧪🧪', 2)).toEqual({ text: '🧪🧪', cut: true });
    expect(visible('🧪🧪🧪', 3)).toEqual({ text: '🧪🧪🧪', cut: false });
  });

  it('is truncated to the maximum length, and the truncation is reported', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 0, max: 20 }), (text, max) => {
        const shown = visible(text, max);
        expect([...shown.text].length).toBeLessThanOrEqual(max);
        expect(shown.cut).toBe([...text].length > max);
        expect(shown.text.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('a page', () => {
  const html = (text: string): string =>
    renderPage({
      title: text,
      base: '',
      indexed: false,
      navigation: [],
      children: <input value={text} title={text} />,
    });

  it('contains no raw control characters and no lone surrogates, even in titles and attributes', () => {
    const anything = fc.string({
      unit: fc.constantFrom('\u0000', '\u0007', '\u001B', '\u0085', '\u009F', '\uD800', 'a', '\t'),
    });
    fc.assert(
      fc.property(anything, (text) => {
        const page = html(text);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match control characters.
        expect(page).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/);
        expect(page.isWellFormed()).toBe(true);
      }),
    );
  });

  it('preserves text that has no control characters and no lone surrogates', () => {
    expect(withoutControls('a\tb\nc 🧪 \u202E')).toBe('a\tb\nc 🧪 \u202E');
  });
});

it.each([
  ['spam', true],
  ['👩‍👩‍👧', true],
  ['a\u202Eb', false],
  ['a\u061Cb', false],
  ['a\u2028b', false],
  ['a\u0000', false],
  ['\uD800', false],
])('isPlain(%j) returns %s', (text, plain) => {
  expect(isPlain(text)).toBe(plain);
});
