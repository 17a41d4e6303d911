import { describe, expect, it } from 'vitest';
import { findLeak } from './privacy.ts';

const did = 'did:plc:ar7c4by46qjdydhdevvrndac';

describe('findLeak', () => {
  it('lets the labelers be named where the contract names them, and nowhere else', () => {
    expect(findLeak({ facts: { top_labelers_7d: [{ labeler_did: did, count: 1 }] } })).toBeNull();
    expect(findLeak({ facts: { top_labelers_7d: [{ labeler: did }] } })).toEqual({
      pointer: '/facts/top_labelers_7d/0/labeler',
      shape: 'did',
    });
    expect(findLeak({ top_labelers_7d: [{ labeler_did: did }] })?.shape).toBe('did');
  });

  it.each([
    ['alone', did],
    ['in a sentence', `seen from ${did}, mostly`],
    ['in capitals', did.toUpperCase()],
    ['of another method', 'did:web:example.com'],
    ['in an address', 'wss://host.example/subscribe?wantedDids=did%3Aplc%3Aewvi7nxzyoun6zhxrhs64oiz'],
  ])('finds a DID %s', (_where, text) => {
    expect(findLeak({ caveats: ['fine', text] })).toEqual({ pointer: '/caveats/1', shape: 'did' });
  });

  it('finds an AT-URI anywhere, even where a DID may stand', () => {
    expect(findLeak({ facts: { top_labelers_7d: [{ labeler_did: 'at://example.com' }] } })?.shape).toBe('at-uri');
    expect(findLeak({ a: 'see at%3A%2F%2Fexample.com' })?.shape).toBe('at-uri');
    expect(findLeak({ a: [{ b: 'AT://example.com/x' }] })).toEqual({ pointer: '/a/0/b', shape: 'at-uri' });
  });

  it('finds an identity in a key', () => {
    expect(findLeak({ facts: { [did]: 1 } })).toEqual({ pointer: '/facts', shape: 'did' });
  });

  it('leaves words alone that only look alike', () => {
    expect(findLeak({ caveats: ['it did: well', 'look at: this', 'did://'] })).toBeNull();
  });
});
