import { describe, expect, it } from 'vitest';
import { packageVersion } from './command.ts';
import { contactSetting, userAgentFor } from './shared-settings.ts';

describe('the user agent', () => {
  it('names the program, its version and the contact', () => {
    const agent = userAgentFor({ contact: 'mailto@example.org' });
    expect(agent).toBe(`Almanac/${packageVersion()} (+mailto@example.org)`);
  });
  it('names only the program and its version if no contact is set', () => {
    expect(userAgentFor({ contact: null })).toBe(`Almanac/${packageVersion()}`);
  });
});

describe('a contact', () => {
  it.each([
    'https://example.org/almanac',
    'http://example.org/?a=b#c',
    'ops@example.org',
    'ops+almanac@mail.example.org',
  ])('is accepted in the form %s', (text) => {
    expect(contactSetting.parse([text])).toBe(text);
  });
  it.each([
    ['an empty string', ''],
    ['a word', 'ops'],
    ['a mail address without a domain', 'ops@localhost'],
    ['a scheme other than http and https', 'ftp://example.org'],
    ['a script', 'javascript:alert(1)'],
    ['a parenthesis, which would end the comment', 'https://example.org/)evil'],
    ['a line break, which would end the header', 'https://example.org/\r\nX-Evil: 1'],
    ['a space', 'https://example.org/ x'],
    ['a non-ASCII character', 'https://exämple.org'],
    ['credentials', 'https://user:secret@example.org'],
    ['more than 200 characters', `https://example.org/${'a'.repeat(200)}`],
  ])('is rejected if it is or contains %s', (_, text) => {
    expect(() => contactSetting.parse([text])).toThrow(new Error('requires an http(s) URL or a mail address'));
  });
});
