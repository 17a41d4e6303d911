import { expect, test } from 'vitest';
import { isPublishableValue } from './find-identity.ts';

test.each(['spam', 'ai-generated', '!warn', 'she-her', 'no-ai', 'anti-social', 'misinformation', 'account-security'])(
  'the label value %s can be published',
  (value) => {
    expect(isPublishableValue(value)).toBe(true);
  },
);

test.each([
  ['a handle', 'alice.bsky.social'],
  ['a handle with hyphens', 'alice-bsky-social'],
  ['a domain with hyphens', 'alice-example-com'],
  ['a DID', 'did:plc:ar7c4by46qjdydhdevvrndac'],
  ['a DID with hyphens', 'did-plc-arbcdbyefqjdydhdevvrndac'],
  ['a UUID', '8d7a3c1e-1111-4111-8111-0123456789ab'],
  ['hexadecimal letters', 'key-deadbeefcafe'],
  ['a long key', 'abcdefghijklmnopqrstuvwxyz'],
  ['an email address', 'alice@example.com'],
  ['a telephone number', '0301234567'],
  ['an upper-case name', 'Alice Smith'],
  ['full-width letters', 'ｓｐａｍ'],
  ['an invisible character', 'spa\u200bm'],
  ['an escape', 'spam%2E'],
  ['too many characters', 'a-'.repeat(51)],
  ['no characters', ''],
])('a label value with %s is not published', (_what, value) => {
  expect(isPublishableValue(value)).toBe(false);
});
