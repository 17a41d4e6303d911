import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { micros } from '../../store/time.ts';
import { DefinitionCache, parseDefinitions } from './definitions.ts';

function content(definitions: unknown): string {
  return JSON.stringify({ labelValues: [], labelValueDefinitions: definitions });
}

const locale = (lang: unknown, name: unknown = `name ${lang}`) => ({ lang, name, description: `description ${lang}` });

function chosen(...locales: unknown[]) {
  return parseDefinitions(content([{ identifier: 'spam', locales }])).get('spam');
}

describe('parseDefinitions', () => {
  it("selects the text in the page's language, then a text in a variety of that language, then the first text", () => {
    expect(chosen(locale('de'), locale('en-GB'), locale('en'))).toEqual({
      name: 'name en',
      description: 'description en',
      lang: 'en',
    });
    expect(chosen(locale('de'), locale('en-GB'))?.lang).toBe('en-GB');
    expect(chosen(locale('pt-BR'), locale('de'))?.lang).toBe('pt-BR');
  });

  it('returns no language for an invalid tag', () => {
    expect(chosen(locale('"><script>'))).toMatchObject({ name: 'name "><script>', lang: null });
  });

  it('omits definitions of the wrong shape and uses the first of duplicates', () => {
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
    ]).toEqual([['twice', { name: 'first', description: 'description en', lang: 'en' }]]);
  });

  it('never throws, for any JSON and any text', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void parseDefinitions(JSON.stringify(value))));
    fc.assert(fc.property(fc.jsonValue(), (value) => void parseDefinitions(content(value))));
    expect(parseDefinitions('{').size).toBe(0);
  });

  it('runs once per minute for cached definitions, even if a labeler has no definitions', async () => {
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
    const first = await cache.of(store, labels);
    // The cache returns definitions only for the requested values.
    expect([...first].map(([did, { byValue }]) => [did, [...byValue.keys()]])).toEqual([['did:a', ['x']]]);
    now = 59_999;
    expect((await cache.of(store, [{ src: 'did:a', val: 'y' }])).get('did:a')?.byValue.size).toBe(0);
    await cache.of(store, labels);
    expect(asked).toEqual(['did:a', 'did:b']);
    now = 60_000;
    await cache.of(store, [{ src: 'did:a', val: 'x' }]);
    expect(asked).toEqual(['did:a', 'did:b', 'did:a']);
  });
});
