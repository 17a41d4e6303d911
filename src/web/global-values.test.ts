import { describe, expect, it } from 'vitest';
import { globalMeaning, globalMeanings } from './global-values.ts';
import { languages } from './language.ts';

describe('the meaning of a global label value', () => {
  it('is a different sentence for each value and language', () => {
    const texts = languages.flatMap((language) => Object.values(globalMeanings[language]));
    expect(new Set(texts).size).toBe(9 * languages.length);
    expect(texts.filter((text) => !/^\p{L}.*[.。]$/u.test(text))).toEqual([]);
  });

  it('is null for a value that is not global, even if the value is the name of an object member', () => {
    for (const value of ['spam', '', '!HIDE', 'constructor', '__proto__'])
      expect(globalMeaning(value, 'en')).toBeNull();
  });
});
