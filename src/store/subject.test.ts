import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinUri, splitUri, subjectOf, targetOf } from './subject.ts';

const alice = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';

describe('the subject of a label', () => {
  it.each([
    [alice, alice],
    [`at://${alice}`, alice],
    [`at://${alice}/app.bsky.feed.post/3lb5xpd2ank2v`, alice],
    ['at://did:web:alice.example/a.b.c', 'did:web:alice.example'],
    ['did:web:localhost%3A8080', 'did:web:localhost%3A8080'],
    ['at://alice.example/app.bsky.feed.post/3lb5xpd2ank2v', null],
    ['https://alice.example', null],
    ['did:', null],
    ['did:plc:', null],
    [`${alice}/app.bsky.feed.post/1`, null],
    ['', null],
    ['at://', null],
  ])('with the uri %j is %j', (uri, subject) => {
    expect(subjectOf(uri)).toBe(subject);
  });

  it.each([
    [alice, 'account'],
    [`at://${alice}/app.bsky.feed.post/3lb5xpd2ank2v`, 'post'],
    [`at://${alice}/app.bsky.feed.like/3lb5xpd2ank2v`, 'record'],
    [`at://${alice}/app.bsky.feed.post`, 'record'],
    [`at://${alice}`, 'record'],
  ])('with the uri %j has the target kind %s', (uri, target) => {
    expect(targetOf(uri)).toBe(target);
  });

  it('keeps its exact AT-URI when splitUri and joinUri process the uri', () => {
    const rest = fc.string({ unit: fc.constantFrom('/', 'a', '.', '#', '?', 'é', ' ') });
    fc.assert(
      fc.property(rest, (text) => {
        const uri = `at://${alice}${text === '' ? '' : `/${text}`}`;
        const parts = splitUri(uri);
        expect(parts && joinUri(parts)).toBe(uri);
      }),
    );
  });
});
