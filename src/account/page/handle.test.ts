import { describe, expect, it } from 'vitest';
import { didIn, handleIn } from './pages.tsx';

const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';

describe('didIn', () => {
  it.each([
    ...[did, ` ${did}\t`, `\u00a0${did}\n`, `@${did}`, `at://${did}`, `AT://${did}/`],
    ...[`at://${did}/app.bsky.feed.post/3lb5xpd2ank2v`, `at://${did}?x#y`, `at://${did}/${'a'.repeat(900)}`],
    ...['DID:plc:ewvi7nxzyoun6zhxrhs64oiz', did.toUpperCase()],
    ...[`https://bsky.app/profile/${did}`, `https://bsky.app/profile/${did}/post/3lb5xpd2ank2v`],
    ...'\u200b\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2068\u2069\ufeff'.split('').map((mark) => mark + did + mark),
    `\u2068 @${did.slice(0, 8)}\u200b${did.slice(8)}`,
  ])('finds the DID in %j', (text) => {
    expect(didIn(text)).toBe(did);
  });

  it.each([
    ['DID:WEB:A.Example.com', 'did:web:a.example.com'],
    ['at://did:web:localhost%3a80', 'did:web:localhost%3A80'],
  ])('normalizes %j to the DID %j', (text, found) => {
    expect(didIn(text)).toBe(found);
  });

  it.each([
    ...['', '@', 'at://', 'did:plc:short', 'did:key:z6Mk', `${did} ${did}`, `${did}/app.bsky.feed.post/x`],
    ...[`https://example.com/profile/${did}`, `https://bsky.app/profile/`, `@https://bsky.app/profile/${did}`],
    ...[`x${did}`, `@@${did}`, `at://at://${did}`, `at://${did}/${'a'.repeat(2048)}`, ' '.repeat(9_000)],
  ])('finds no DID in %j', (text) => {
    expect(didIn(text)).toBeNull();
  });
});

describe('handleIn', () => {
  it.each([
    ['alice.bsky.social', 'alice.bsky.social'],
    [' @Alice.Bsky.Social ', 'alice.bsky.social'],
    ['\u2068@alice.bsky.social\u2069', 'alice.bsky.social'],
    ['at://alice.bsky.social/app.bsky.feed.post/3lb5xpd2ank2v', 'alice.bsky.social'],
    ['https://bsky.app/profile/alice.bsky.social?ref=x', 'alice.bsky.social'],
    ['alice', null],
    ['did:plc:ewvi7nxzyoun6zhxrhs64oiz', null],
    ['alice@example.com', null],
    ['', null],
  ])('maps the text %j to %j', (text, handle) => {
    expect(handleIn(text)).toBe(handle);
  });
});
