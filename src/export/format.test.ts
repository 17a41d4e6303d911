import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountRow } from '../contract/account.ts';
import { canonicalJson } from '../contract/encodings.ts';
import { layouts } from './format.ts';

const row: AccountRow = {
  labeler_did: 'did:plc:ar7c4by46qjdydhdevvrndac',
  uri: 'did:plc:ewvi7nxzyoun6zhxrhs64oiz',
  value: '',
  action: 'application_observed',
  source_timestamp: '2026-11-19T08:12:44Z',
  observed_at: '2026-11-19T08:12:45.220418Z',
  signature: 'verified',
};

describe('a line of NDJSON', () => {
  it('contains exactly one line feed, at its end, even if a value contains Unicode line separators', () => {
    const foreign = fc.string({
      unit: fc.constantFrom('a', '\n', '\r', '\u2028', '\u2029', '\u0085', '\v', '\f', '"'),
    });
    fc.assert(
      fc.property(foreign, (value) => {
        const line = layouts.ndjson.row({ ...row, value }, canonicalJson({ ...row, value }), 0);
        expect(line.indexOf('\n')).toBe(line.length - 1);
        expect(JSON.parse(line)).toEqual({ ...row, value });
      }),
    );
  });

  it('is canonical JSON, which does not escape U+2028', () => {
    const text = canonicalJson({ ...row, value: 'a\u2028b' });
    expect(layouts.ndjson.row(row, text, 0)).toBe(`${text}\n`);
    expect(text).toContain('"a\u2028b"');
  });
});
