import fc from 'fast-check';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { textsOf } from '../texts/texts.ts';
import { FactsUrl, Labeler, profileUrl, queryUrl } from './observation.tsx';

const did = 'did:plc:ar7c4by46qjdydhdevvrndac';

function shown(factsUrl: string | null, labeler: string): string {
  return renderToString(
    <FactsUrl.Provider value={factsUrl}>
      <Labeler did={labeler} name={undefined} t={textsOf('en')} />
    </FactsUrl.Provider>,
  );
}

describe('the name of a labeler on the page of an account', () => {
  it("links to the labeler's page at the facts API if the address of the API is known", () => {
    expect(shown('https://facts.example', did)).toContain(`href="https://facts.example/labelers/${did}"`);
    expect(shown(null, did)).not.toContain('href');
  });

  it('has no link if the DID is invalid', () => {
    expect(shown('https://facts.example', 'did:plc:"><script>')).not.toContain('href');
  });
});

const origin = 'https://labels.example.com';

describe('profileUrl', () => {
  it('returns the URL of the profile of the DID in the official application', () => {
    expect(profileUrl('did:web:labels.example.com')).toBe('https://bsky.app/profile/did:web:labels.example.com');
  });

  it('encodes the percent sign before the port of a did:web, and returns null for an invalid DID', () => {
    expect(profileUrl('did:web:localhost%3A2583')).toBe('https://bsky.app/profile/did:web:localhost%253A2583');
    expect(profileUrl('did:plc:"><script>')).toBeNull();
  });
});

describe('queryUrl', () => {
  it('returns the URL of a query to the labeler for exactly the given subject', () => {
    const uri = 'at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3lb5xpd2ank2v';
    const url = new URL(queryUrl(origin, uri) ?? '');
    expect(url.origin + url.pathname).toBe(`${origin}/xrpc/com.atproto.label.queryLabels`);
    expect([...url.searchParams]).toEqual([['uriPatterns', uri]]);
  });

  it('encodes any subject without changing the rest of the URL', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (uri) => {
        const made = queryUrl(origin, uri);
        if (!uri.isWellFormed()) return expect(made).toBeNull();
        const url = new URL(made ?? '');
        expect([url.origin, url.pathname, url.hash]).toEqual([origin, '/xrpc/com.atproto.label.queryLabels', '']);
        expect([...url.searchParams]).toEqual([['uriPatterns', uri]]);
        expect(made).toMatch(/^[\x21-\x7e]+$/);
      }),
    );
  });

  it('returns null if the labeler has no origin, or if the URI might be truncated', () => {
    expect(queryUrl(undefined, 'did:web:a.example')).toBeNull();
    expect(queryUrl(origin, `at://${'x'.repeat(1_000)}`)).toBeNull();
  });
});
