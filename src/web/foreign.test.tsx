import fc from 'fast-check';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { Foreign, visible } from './foreign.tsx';

describe('a foreign text on a page', () => {
  it('is isolated and escaped', () => {
    expect(renderToString(<Foreign text={'<script>"&\'</script>'} />)).toBe(
      '<bdi class="foreign">&lt;script>&quot;&amp;\'&lt;/script></bdi>',
    );
  });

  it('loses what would turn the text around it, and its controls', () => {
    expect(visible('a\u202Eb\u2066c\u0000d', 10)).toEqual({ text: 'a\uFFFDb\uFFFDc\uFFFDd', cut: false });
  });

  it('keeps emoji whole where it is cut', () => {
    expect(visible('🧪🧪🧪', 2)).toEqual({ text: '🧪🧪', cut: true });
    expect(visible('🧪🧪🧪', 3)).toEqual({ text: '🧪🧪🧪', cut: false });
  });

  it('never shows more than was asked for, and says when it was cut', () => {
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
