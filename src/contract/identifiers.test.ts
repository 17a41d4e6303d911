import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isDid } from './identifiers.ts';

describe('isDid', () => {
  it.each([
    'did:plc:ar7c4by46qjdydhdevvrndac',
    'did:web:example.com',
    'did:web:labeler.sub.example.com',
    'did:web:localhost%3A8080',
  ])('accepts %j', (did) => {
    expect(isDid(did)).toBe(true);
  });

  it.each([
    'did:plc:AR7C4BY46QJDYDHDEVVRNDAC',
    'did:plc:ar7c4by46qjdydhdevvrnda',
    'did:plc:ar7c4by46qjdydhdevvrndac ',
    'did:web:example.com:user',
    'did:web:-example.com',
    'did:web:example',
    'did:key:zQ3shoG4QW9B3zvKSSiRwwc1De7MFQLNBT9A71gr12GKwMgHu',
    'DID:plc:ar7c4by46qjdydhdevvrndac',
    '',
    `did:web:${'a.'.repeat(200)}com`,
  ])('rejects %j', (did) => {
    expect(isDid(did)).toBe(false);
  });

  it('rejects every invalid DID of the AT Protocol interoperability tests', () => {
    const invalid = readFileSync(
      new URL('../../test/fixtures/interop/did_syntax_invalid.txt', import.meta.url),
      'utf8',
    );
    const cases = invalid.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
    expect(cases.length).toBeGreaterThan(10);
    expect(cases.filter(isDid)).toEqual([]);
  });
});
