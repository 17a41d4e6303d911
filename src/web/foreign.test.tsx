import fc from 'fast-check';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { renderPage } from './document.tsx';
import { Foreign, isPlain, visible, withoutControls } from './foreign.tsx';

describe('an untrusted text', () => {
  it('is isolated and escaped', () => {
    expect(renderToString(<Foreign text={'<script>"&\'</script>'} />)).toBe(
      '<bdi class="foreign">&lt;script>&quot;&amp;\'&lt;/script></bdi>',
    );
  });

  it('contains no control characters and no marks that change the direction of the surrounding text', () => {
    expect(visible('a\u202Eb\u2066c\u0000d', 10)).toEqual({ text: 'a\uFFFDb\uFFFDc\uFFFDd', cut: false });
  });

  it('is never truncated in the middle of an emoji', () => {
    expect(visible('🧪🧪🧪', 2)).toEqual({ text: '🧪🧪', cut: true });
    expect(visible('🧪🧪🧪', 3)).toEqual({ text: '🧪🧪🧪', cut: false });
  });

  it('is truncated to the maximum length and then marked', () => {
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
