import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { micros } from '../../store/time.ts';
import type { Language } from '../../web/language.ts';
import { choose, DefinitionCache, parseDefinitions } from './definitions.ts';

function content(definitions: unknown): string {
  return JSON.stringify({ labelValues: [], labelValueDefinitions: definitions });
}

const locale = (lang: unknown, name: unknown = `name ${lang}`) => ({ lang, name, description: `description ${lang}` });

function chosen(language: Language, ...locales: unknown[]) {
  const found = parseDefinitions(content([{ identifier: 'spam', locales }])).get('spam');
  return found && choose(found, language);
}

describe('the definitions module', () => {
  it("selects the text in the page's language, else in a variety of that language, else in English, else the first text", () => {
    const locales = [locale('fr'), locale('de'), locale('pt-BR'), locale('en-GB'), locale('en')];
    expect(chosen('en', ...locales)).toEqual({ name: 'name en', description: 'description en', lang: 'en' });
    expect(chosen('de', ...locales)?.lang).toBe('de');
    expect(chosen('pt', ...locales)?.lang).toBe('pt-BR');
    expect(chosen('ja', ...locales)?.lang).toBe('en');
    expect(chosen('ja', locale('de'), locale('en-GB'))?.lang).toBe('en-GB');
    expect(chosen('ja', locale('pt-BR'), locale('de'))?.lang).toBe('pt-BR');
  });

  it('keeps only the first text and the texts that a page can show', () => {
    const locales = Array.from({ length: 50 }, (_, i) => locale(`x${String.fromCharCode(97 + (i % 26))}-${i}`));
    const found = parseDefinitions(content([{ identifier: 'spam', locales: [...locales, locale('ja')] }])).get('spam');
    expect(found?.map(({ lang }) => lang)).toEqual(['xa-0', 'ja']);
  });

  it('returns no language for an invalid tag', () => {
    expect(chosen('en', locale('"><script>'))).toMatchObject({ name: 'name "><script>', lang: null });
  });

  it('omits definitions with an invalid structure, and uses the first of duplicate definitions', () => {
    expect([
      ...parseDefinitions(
        content([
          null,
          { identifier: 7, locales: [locale('en')] },
          { identifier: 'none', locales: [] },
          { identifier: 'no name', locales: [{ lang: 'en', description: 'x' }] },
          { identifier: 'twice', locales: [locale('en', 'first')] },
          { identifier: 'twice', locales: [locale('en', 'second')] },
        ]),
      ).entries(),
    ]).toEqual([['twice', [{ name: 'first', description: 'description en', lang: 'en' }]]]);
  });

  it('never throws, whatever it parses', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void parseDefinitions(JSON.stringify(value))));
    fc.assert(fc.property(fc.jsonValue(), (value) => void parseDefinitions(content(value))));
    expect(parseDefinitions('{').size).toBe(0);
  });

  it('has a cache that reads the store at most once per minute and labeler, even for a labeler without definitions', async () => {
    let now = 0;
    const asked: string[] = [];
    const store = {
      definitions: (did: string) => {
        asked.push(did);
        const seenAt = micros(1);
        return Promise.resolve(
          did === 'did:a'
            ? [
                {
                  did,
                  seenAt,
                  content: content([
                    { identifier: 'x', locales: [locale('en')] },
                    { identifier: 'z', locales: [locale('en')] },
                  ]),
                },
              ]
            : [],
        );
      },
    };
    const cache = new DefinitionCache(() => now);
    const labels = ['x', 'x', 'y'].flatMap((val) => ['did:a', 'did:b'].map((src) => ({ src, val })));
    const first = await cache.of(store, labels, 'en');
    // The cache returns only the definitions of the requested values.
    expect([...first].map(([did, byValue]) => [did, [...byValue.keys()]])).toEqual([['did:a', ['x']]]);
    now = 59_999;
    expect((await cache.of(store, [{ src: 'did:a', val: 'y' }], 'en')).get('did:a')?.size).toBe(0);
    await cache.of(store, labels, 'en');
    expect(asked).toEqual(['did:a', 'did:b']);
    now = 60_000;
    await cache.of(store, [{ src: 'did:a', val: 'x' }], 'en');
    expect(asked).toEqual(['did:a', 'did:b', 'did:a']);
  });
});
