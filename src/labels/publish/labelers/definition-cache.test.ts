import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkLabelerDefinitions, labelersLimits } from '../../../artifact/labelers.ts';
import type { Definitions } from '../../../store/roster.ts';
import { day, micros } from '../../../store/time.ts';
import { DefinitionCache } from './definition-cache.ts';
import { maxLineFor } from './labelers-artifact.ts';

const did = 'did:plc:ar7c4by46qjdydhdevvrndac';
const other = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';

/** Returns a stored revision. `days` is the time at which it was seen, in days since 1970. */
function revision(days: number, content: unknown): Definitions {
  return { did, seenAt: micros(days * day), content: JSON.stringify(content) };
}

/** Returns content that defines values with texts. */
function defining(values: readonly string[], description = 'Posts about spiders.') {
  const labelValueDefinitions = values.map((identifier) => ({
    ...{ identifier, severity: 'inform', blurs: 'none', defaultSetting: 'warn', adultOnly: false },
    locales: [{ lang: 'en', name: identifier, description }],
  }));
  return { labelValues: values, labelValueDefinitions };
}

const read = (revisions: readonly Definitions[], maxLine = 64 * 1024) =>
  new DefinitionCache({ definitions: async () => [...revisions] }).of(did, maxLine);

describe('declared values', () => {
  test('have the days of the first revision that declares them and of the revision that removes them', async () => {
    const { values, omitted } = await read([
      revision(30, defining(['spam', 'rude'])),
      revision(20, defining(['spam', 'bot'])),
      revision(10, defining(['bot'])),
    ]);
    expect(omitted).toBe(0);
    expect(values).toEqual([
      { value: 'spam', first_defined: '1970-01-21', last_defined: null },
      { value: 'rude', first_defined: '1970-01-31', last_defined: null },
      { value: 'bot', first_defined: '1970-01-11', last_defined: '1970-01-31' },
    ]);
  });

  test('are counted as omitted if their syntax is invalid or they look like a handle or a DID', async () => {
    const names = ['spam', 'joined-2023', 'alice-bsky-social', 'alice.bsky.social', did];
    const { values, omitted, line } = await read([revision(1, { labelValues: names })]);
    expect(values.map(({ value }) => value)).toEqual(['spam']);
    expect(omitted).toBe(4);
    expect(line).not.toContain('alice');
  });
});

test('a locale whose language tag is longer than readers accept is omitted', async () => {
  const long = `aaa${'-aaaaaaaa'.repeat(7)}`;
  const locales = [long, 'de'].map((lang) => ({ lang, name: `name ${lang}`, description: '' }));
  const { line } = await read([revision(1, { labelValueDefinitions: [{ identifier: 'spam', locales }] })]);
  const definitions = checkLabelerDefinitions(JSON.parse(line ?? ''));
  expect(definitions).toMatchObject({ ok: true, value: { values: [{ value: 'spam', locales: [{ lang: 'de' }] }] } });
});

/** Spellings of a handle and of a DID that must not be published. */
const spellings = [
  'alice.bsky.social',
  '@alice.bsky.social',
  'ALICE.BSKY.SOCIAL',
  'alice%2Ebsky%2Esocial',
  'alice%252Ebsky%252Esocial',
  'alice&#46;bsky&#46;social',
  'alice&period;bsky&period;social',
  'alice&amp;period;bsky&amp;period;social',
  'alice\\u002ebsky\\u002esocial',
  'alice\\x2ebsky\\x2esocial',
  'ａｌｉｃｅ．ｂｓｋｙ．ｓｏｃｉａｌ',
  'ali\u200bce.bs\u200dky.soc\u2060ial',
  'alice\u200b.\u200bbsky\u200b.\u200bsocial',
  'alice.\u202ebsky\u202c.social',
  'alice\ufe0f.bsky.social',
  'al\u00adice.bsky.social',
  other,
  'ｄｉｄ：ｐｌｃ：ｅｗｖｉ７ｎｘｚ',
  'did%3Aplc%3Aewvi7nxzyoun6zhxrhs64oiz',
  'd\u200bid:plc:ewvi7nxzyoun6zhxrhs64oiz',
  'at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3k',
];

describe('the texts of definitions', () => {
  test.each(spellings)(
    'are withheld if they contain %j, and other texts of the value are published',
    async (spelling) => {
      const content = defining(['spam', 'rude']);
      const [spam] = content.labelValueDefinitions;
      if (!spam) throw new Error('a definition was expected');
      spam.locales.push({ lang: 'de', name: `Spam von ${spelling}`, description: 'Werbung' });
      spam.locales.push({ lang: 'fr', name: spelling, description: `de ${spelling}` });
      const { line } = await read([revision(1, content)]);
      const { values } = JSON.parse(line ?? '') as { values: { locales: unknown[]; withheld?: string }[] };
      expect(values.map(({ withheld }) => withheld)).toEqual(['privacy', undefined]);
      expect(values[0]?.locales).toEqual([
        { lang: 'en', name: 'spam', description: 'Posts about spiders.' },
        { lang: 'de', name: '', description: 'Werbung' },
      ]);
      expect(line).not.toContain(JSON.stringify(spelling).slice(1, -1));
    },
  );

  test('stay within the maximum size of the line, and omitted values are counted', async () => {
    const values = Array.from({ length: 50 }, (_, i) => `value-${'abcdefghij'[i % 10]}${'klmnop'[Math.floor(i / 10)]}`);
    const { line } = await read([revision(1, defining(values, 'ü'.repeat(300)))], 8_192);
    const made = JSON.parse(line ?? '') as { values: unknown[]; values_omitted: number };
    expect(Buffer.byteLength(line ?? '')).toBeLessThanOrEqual(8_192);
    expect(made.values.length).toBeGreaterThan(5);
    expect(made.values.length + made.values_omitted).toBe(50);
  });
});

test('definitions of any shape give a line that matches the schema', async () => {
  const word = fc.constantFrom(
    'labelValues',
    'labelValueDefinitions',
    'identifier',
    'locales',
    'lang',
    'name',
    'spam',
    'en',
  );
  const json = fc.oneof(
    fc.json().map((text): unknown => JSON.parse(text)),
    fc.object({
      key: word,
      values: [word, fc.string(), fc.constant(null), fc.double(), fc.constant(did)],
      maxDepth: 5,
    }),
    fc.record({
      labelValues: fc.array(fc.oneof(word, fc.string(), fc.integer())),
      labelValueDefinitions: fc.array(
        fc.record(
          {
            identifier: fc.oneof(word, fc.string()),
            severity: fc.oneof(fc.string(), fc.constant('alert')),
            adultOnly: fc.anything(),
            locales: fc.array(
              fc.record({
                lang: fc.oneof(word, fc.string()),
                name: fc.string({ unit: 'binary' }),
                description: fc.string(),
              }),
            ),
          },
          { requiredKeys: [] },
        ),
      ),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(json, fc.string()), { minLength: 1, maxLength: 3 }), async (contents) => {
      const revisions = contents.map((content, i) => ({
        did,
        seenAt: micros((100 - i) * day),
        content: typeof content === 'string' ? content : JSON.stringify(content),
      }));
      const { line, values } = await read(revisions, 4_096);
      const result = checkLabelerDefinitions(JSON.parse(line ?? 'null'));
      expect(result.ok, line ?? '').toBe(true);
      expect(Buffer.byteLength(line ?? '')).toBeLessThanOrEqual(4_096);
      for (const { value } of values) expect(value).toMatch(/^!?[a-z-]{1,100}$/);
    }),
  );
});

test('the lines of all labelers fit into the file', () => {
  for (const labelers of [0, 1, 511, 512, 700, 4_096, 5_000]) {
    expect(maxLineFor(labelers) * labelers).toBeLessThanOrEqual(labelersLimits.definitionsFileBytes);
  }
  expect(maxLineFor(500)).toBe(64 * 1024);
});

test('the cache reads the definitions of a labeler again only after a change', async () => {
  let revisions = [revision(1, defining(['spam']))];
  let reads = 0;
  const cache = new DefinitionCache({
    definitions: async () => {
      reads += 1;
      return revisions;
    },
  });
  await cache.of(did, 65_536);
  await cache.of(did, 65_536);
  expect(reads).toBe(1);
  revisions = [revision(2, defining(['rude'])), ...revisions];
  cache.changed(did);
  expect((await cache.of(did, 65_536)).values.map(({ value }) => value)).toEqual(['rude', 'spam']);
  cache.keepOnly(new Set());
  await cache.of(did, 65_536);
  expect(reads).toBe(3);
});

test('a revision that is stored during a read of the cache is not lost', async () => {
  let revisions = [revision(1, defining(['spam']))];
  const cache = new DefinitionCache({ definitions: async () => revisions });
  const reading = cache.of(did, 65_536);
  revisions = [revision(2, defining(['rude']))];
  cache.changed(did);
  await reading;
  expect((await cache.of(did, 65_536)).values.map(({ value }) => value)).toEqual(['rude']);
});

test('definitions that do not fit are not scanned for handles and DIDs, because a scan takes time', async () => {
  const locales = Array.from({ length: 16 }, () => ({ lang: 'en', name: 'x', description: '\uFDFA'.repeat(16_000) }));
  const revisions = Array.from({ length: 16 }, (_, i) =>
    revision(100 - i, { labelValueDefinitions: [{ identifier: `value-${'abcdefghijklmnop'[i]}`, locales }] }),
  );
  const begun = process.cpuUsage();
  const { values, line } = await read(revisions);
  // A scan of all texts would use about 3 s of processor time.
  expect(process.cpuUsage(begun).user).toBeLessThan(1_000_000);
  expect([values.length, JSON.parse(line ?? '')]).toMatchObject([16, { values: [], values_omitted: 16 }]);
});

test('the last definitions of a labeler remain known after a change, unless their line is too long', async () => {
  const cache = new DefinitionCache({ definitions: async () => [revision(1, defining(['spam']))] });
  const definitions = await cache.of(did, 65_536);
  cache.changed(did);
  expect([cache.isCurrent(did, 65_536), cache.last(did, 65_536)]).toEqual([false, { ...definitions }]);
  expect(cache.last(did, 100)).toEqual({ ...definitions, line: null });
  expect(cache.last(other, 65_536)).toEqual({ isRead: false, values: [], omitted: 0, line: null });
});
