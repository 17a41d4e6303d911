import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findLeak } from './representation.ts';

const did = 'did:plc:ar7c4by46qjdydhdevvrndac';

describe('the privacy scan', () => {
  it('allows the DIDs of labelers only in fields in which the contract names labelers', () => {
    expect(findLeak({ facts: { top_labelers_7d: [{ labeler_did: did, count: 1 }] } })).toBeNull();
    expect(findLeak({ facts: { top_labelers_7d: [{ labeler: did }] } })).toEqual({
      pointer: '/facts/top_labelers_7d/0/labeler',
      shape: 'did',
    });
    expect(findLeak({ top_labelers_7d: [{ labeler_did: did }] })?.shape).toBe('did');
  });

  it.each([
    ['without other text', did],
    ['in a sentence', `seen from ${did}, mostly`],
    ['in capitals', did.toUpperCase()],
    ['of the method did:web', 'did:web:example.com'],
    ['in a URL', 'wss://host.example/subscribe?wantedDids=did%3Aplc%3Aewvi7nxzyoun6zhxrhs64oiz'],
  ])('finds a DID %s', (_where, text) => {
    expect(findLeak({ caveats: ['fine', text] })).toEqual({ pointer: '/caveats/1', shape: 'did' });
  });

  it('finds an AT-URI anywhere, even where a DID is allowed', () => {
    expect(findLeak({ facts: { top_labelers_7d: [{ labeler_did: 'at://example.com' }] } })?.shape).toBe('at-uri');
    expect(findLeak({ a: 'see at%3A%2F%2Fexample.com' })?.shape).toBe('at-uri');
    expect(findLeak({ a: [{ b: 'AT://example.com/x' }] })).toEqual({ pointer: '/a/0/b', shape: 'at-uri' });
  });

  it('finds an identity in a key', () => {
    expect(findLeak({ facts: { [did]: 1 } })).toEqual({ pointer: '/facts', shape: 'did' });
  });

  it.each([
    ['in full-width letters', 'ｄｉｄ：ｐｌｃ：ａｒ７ｃ４ｂｙ４６ｑｊｄｙ'],
    ['with zero-width characters', 'd\u200bi\u200dd:\u2060pl\u00adc:\ufeffar7c4by46qjdydhdevvrndac'],
    ['with variation selectors and fillers', 'did\ufe0f:plc\u034f:\u3164ar7c4by46qj'],
    ['encoded twice', 'did%253Aplc%253Aewvi7nxzyoun6zhxrhs64oiz'],
    ['encoded letter by letter', '%64%69%64%3a%70%6c%63%3aabc'],
    ['with full-width percent signs', 'did％３Ａplc％３Ａabc'],
    ['with HTML character references', 'did&#58;plc&#x3a;abc'],
    ['with named HTML character references, encoded twice', 'did&amp;colon;plc&colon;abc'],
    ['with JSON escapes', 'did\\u003aplc\\x3aabc'],
    ['with escapes within escapes', 'did\\\\u003aplc\\u{3a}abc'],
  ])('finds a DID %s', (_where, text) => {
    expect(findLeak({ caveats: [text] })).toEqual({ pointer: '/caveats/0', shape: 'did' });
    expect(findLeak({ facts: { [text]: 1 } })?.shape).toBe('did');
  });

  it('rejects text with more nested encodings than the scan decodes', () => {
    let text = 'did:plc:abc';
    for (let i = 0; i < 12; i += 1) text = text.replaceAll('%', '%25').replaceAll(':', '%3A');
    expect(findLeak({ caveats: [text] })).toEqual({ pointer: '/caveats/0', shape: 'encoded' });
  });

  it.each([
    'seen from @alice.example, mostly',
    'alice.bsky.social',
    'Alice.Bsky.Social says',
    'the account alice.com and others',
    'https://alice.dev/about',
    'mail alice@example.test',
    'alice｡bsky｡social'.replaceAll('｡', '．'),
    'alice%2Ebsky%2Esocial',
    '_alice.bsky.social',
    'a\u200blice.bsky.so\u200bcial',
    'nom.fr',
  ])('finds the handle in %j', (text) => {
    expect(findLeak({ caveats: [text] })).toEqual({ pointer: '/caveats/0', shape: 'handle' });
  });

  it('allows the name of the observed host, but no subdomain or sibling of it', () => {
    const provenance = { source_endpoint: 'wss://jetstream.my-host.com/subscribe' };
    expect(findLeak({ provenance, caveats: ['counted by jetstream.my-host.com alone'] })).toBeNull();
    expect(findLeak({ provenance, caveats: ['counted for alice.my-host.com'] })?.shape).toBe('handle');
    const path = { source_endpoint: 'wss://jetstream.my-host.com/subscribe?of=alice.bsky.social' };
    expect(findLeak({ provenance: path })?.shape).toBe('handle');
  });

  it.each([
    'Windows run on the local acceptance clock: nothing before acquisition.started_at was observed.',
    'relay1.us-east.bsky.network and plc.directory could not be read, e.g. for 1.5 h.',
    'Records of app.bsky.labeler.service, and methods of com.atproto.label.',
    'No space follows.It is a mistake of spelling...',
    'version 0.1.0 of labels.recent-overview.v1; 100 % of 3.14',
    'Über 90 % – ungefähr &c.',
  ])('reports no identity in %j', (text) => {
    expect(findLeak({ contract: 'atproto.facts.labels.overview/v1', caveats: [text] })).toBeNull();
  });

  it('finds an identity at any position of any text, and reports no identity in a text without an identity', () => {
    const noise = fc.string({ unit: fc.constantFrom(...'abc xyz,;()-09éß'), maxLength: 40 });
    const planted = fc.constantFrom(did, 'at://example.com/x', '@bob.example', 'bob.bsky.social');
    const disguise = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => encodeURIComponent(encodeURIComponent(text)),
      (text) => [...text].join('\u200b'),
      (text) => [...text].map((one) => `&#${one.codePointAt(0)};`).join(''),
      (text) => [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
      (text) => text.replace(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)),
    );
    fc.assert(
      fc.property(noise, noise, planted, disguise, disguise, (before, after, name, first, second) => {
        expect(findLeak({ a: [`${before} ${after}`] })).toBeNull();
        expect(findLeak({ a: [`${before} ${second(first(name))} ${after}`] })).not.toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  it('scans 4 MiB of each repeated pattern in less than 20 s of processor time', () => {
    const size = 4 * 1024 * 1024;
    const shapes = ['a', 'a.', 'did:', '%25', '&amp;', '\\u005c', '.-', '@', '\u200b', '\ufdfa', 'a-', 'a.co_'];
    for (const shape of shapes) {
      const text = shape.repeat(size / Buffer.byteLength(shape));
      const before = process.cpuUsage();
      findLeak({ caveats: [text] });
      const { user, system } = process.cpuUsage(before);
      expect([shape, (user + system) / 1e6 < 20]).toEqual([shape, true]);
    }
  });

  it('does not report ordinary words that resemble an identity', () => {
    expect(findLeak({ caveats: ['it did: well', 'look at: this', 'did://'] })).toBeNull();
  });
});
