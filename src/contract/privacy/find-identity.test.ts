import { describe, expect, it } from 'vitest';
import { findIdentity } from './find-identity.ts';

describe('findIdentity', () => {
  it.each([
    ['did', 'seen from did:plc:ar7c4by46qjdydhdevvrndac'],
    ['at-uri', 'at://did:plc:ar7c4by46qjdydhdevvrndac/app.bsky.feed.post/3k'],
    ['handle', 'ask @alice.example'],
    ['handle', 'ask alice.bsky.social'],
  ])('finds an identity of the kind %s', (shape, text) => {
    expect(findIdentity(text)).toBe(shape);
  });

  it('finds no identity in ordinary text', () => {
    expect(findIdentity('Posts about spiders, version 1.2. See bsky.app')).toBeNull();
  });

  it('ignores the given hosts, but finds the handle in a different host name', () => {
    expect(findIdentity('read from labels.example.com', new Set(['labels.example.com']))).toBeNull();
    expect(findIdentity('read from mail.example.com', new Set(['labels.example.com']))).toBe('handle');
  });

  it.each([
    ['hyphens inside a name', `a${'-'.repeat(200_000)}b.c`],
    ['a label of letters before an underscore', `${'a'.repeat(200_000)}_.com`],
    ['dots', `a${'.'.repeat(200_000)}b`],
    ['combining marks of two classes', `a${'\u0301\u0316'.repeat(100_000)}`],
    ['halfwidth forms that become marks', `a${'\uff9e\u0301'.repeat(100_000)}`],
    ['combining marks in entities', `a${'&#769;&#790;'.repeat(20_000)}`],
  ])('scans a long text of %s in linear time', (_what, text) => {
    const start = process.cpuUsage();
    findIdentity(text);
    const { user } = process.cpuUsage(start);
    // A quadratic scan of these texts takes more than ten seconds of processor time, a linear scan a few milliseconds.
    expect(user).toBeLessThan(2_000_000);
  });

  it('finds an identity that is surrounded or interspersed with any number of combining marks', () => {
    const marks = '\u0301\u0316'.repeat(500);
    expect(findIdentity(`a${marks}did:plc:${'a'.repeat(24)}${marks}`)).toBe('did');
    expect(findIdentity(`did${'\ufe0f'.repeat(100)}:plc:${'a'.repeat(24)}`)).toBe('did');
    expect(findIdentity(`a${marks}`)).toBeNull();
  });
});
