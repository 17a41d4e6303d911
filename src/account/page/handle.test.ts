import { describe, expect, it } from 'vitest';
import { handleIn, handleTrouble } from './handle.ts';

describe('a handle that somebody typed', () => {
  it.each([
    ['alice.bsky.social', 'alice.bsky.social'],
    [' @Alice.Bsky.Social ', 'alice.bsky.social'],
    ['alice', null],
    ['did:plc:ewvi7nxzyoun6zhxrhs64oiz', null],
    ['alice@example.com', null],
    ['', null],
  ])('%j is taken for %j', (text, handle) => {
    expect(handleIn(text)).toBe(handle);
  });

  it('is refused with what to do, unless it is resolved', () => {
    expect(handleTrouble({ kind: 'unconfirmed', did: 'did:web:a.example' })).toMatch(/does not claim it.*Give the DID/);
    for (const kind of ['invalid_handle', 'not_found', 'failed'] as const)
      expect(handleTrouble({ kind })).toMatch(/give the DID/);
  });
});
