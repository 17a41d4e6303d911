import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { languages } from '../../web/language.ts';
import { languageNames, languageOf, negotiateLanguage } from './choose-language.ts';

describe('negotiateLanguage', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['pt-BR,pt;q=0.9,en;q=0.8', 'pt'],
    ['es-419', 'es'],
    ['JA-jp', 'ja'],
    ['zh-Hant-TW, ja;q=0.3, en;q=0.2', 'ja'],
    ['fr, it', 'en'],
    ['fr, *;q=0.5', 'en'],
    ['*, de', 'en'],
    ['en;q=0.2, de;q=0.7', 'de'],
    ['de;q=0.5, es;q=0.5', 'de'],
    ['de;q=0', 'en'],
    ['de;q=2, es;q=0.1', 'es'],
    ['de;;q=1, ja', 'ja'],
    [`de,${'x'.repeat(2_000)}`, 'en'],
  ])('given the header %j, selects the language %s', (header, language) => {
    expect(negotiateLanguage(header)).toBe(language);
  });

  it('selects an available language for any header', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (header) => {
        expect(languages).toContain(negotiateLanguage(header));
      }),
    );
  });
});

describe('the languages of the pages', () => {
  it('are accepted by languageOf only as exact tags', () => {
    expect([languageOf('de'), languageOf('DE'), languageOf('fr'), languageOf(null), languageOf('toString')]).toEqual([
      'de',
      null,
      null,
      null,
      null,
    ]);
  });

  it('are named in languageNames, each in the language itself', () => {
    const own = languages.map((language) => new Intl.DisplayNames(language, { type: 'language' }).of(language));
    expect(own.map((name) => name?.toLowerCase())).toEqual(Object.values(languageNames).map((n) => n.toLowerCase()));
  });
});
