import { encode, toBytes } from '@atcute/cbor';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { micros } from '../../store/time.ts';
import { fingerprint } from '../label/label-fields.ts';
import { type AdmissionReason, admit } from './admission.ts';

const source = 'did:plc:labelerlabelerlabelerlab';
const at = (text: string) => micros(parseTimestamp(text) ?? Number.NaN);
const rules = { source, since: at('2026-07-01T00:00:00Z'), now: at('2026-07-10T12:00:00Z') };
const plain = {
  src: source,
  uri: 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa',
  val: 'spam',
  cts: '2026-07-10T11:59:59.123Z',
};

describe('the admission of a valid label', () => {
  test.each([
    ['with the required fields only', plain],
    [
      'about a collection whose name begins with the word space',
      { ...plain, uri: `at://${plain.uri}/space.example.post/space` },
    ],
    ['about a collection with a name of maximum length', { ...plain, uri: `at://${plain.uri}/${'c'.repeat(317)}/1` }],
    [
      'about a record, with every field',
      { ...plain, ver: 1, uri: `at://${plain.uri}/app.bsky.feed.post/3k`, cid: 'bafy' },
    ],
    ['with neg: false', { ...plain, neg: false }],
    ['with neg: true', { ...plain, neg: true }],
    ['that has expired', { ...plain, exp: '2026-07-01T00:00:00Z' }],
    ['whose time has an offset other than zero', { ...plain, cts: '2026-07-10T13:59:59+02:00' }],
    ['with mixed case, spaces and non-Latin characters', { ...plain, val: 'Mixed Case ÜMLAUT 标签' }],
    ['with an empty value', { ...plain, val: '' }],
    ['authored 48 h ago', { ...plain, cts: '2026-07-08T12:00:00Z' }],
    ['authored 300 s in the future', { ...plain, cts: '2026-07-10T12:05:00Z' }],
  ])('accepts a label %s', (_, label) => {
    expect(admit(label, rules)).toMatchObject({ kind: 'accepted', label });
  });

  test.each<[string, object, object]>([
    ['null for every absent field', { ver: null, cid: null, neg: null, exp: null, sig: null }, {}],
    ['empty texts for absent fields', { ver: '', cid: '', neg: '', exp: '', sig: '' }, {}],
    ['an empty signature of a page', { sig: { $bytes: '' } }, {}],
    ['an empty signature of a frame', { sig: toBytes(new Uint8Array(0)) }, {}],
    ['0 as neg', { neg: 0 }, { neg: false }],
    ['1 as neg', { neg: 1 }, { neg: true }],
    ['a text as ver', { ver: '1' }, { ver: 1 }],
  ])('accepts a label with %s, and keeps it in the form of the lexicon', (_, sent, kept) => {
    expect(admit({ ...plain, ...sent }, rules)).toMatchObject({ kind: 'accepted' });
    const admitted = admit({ ...plain, ...sent }, rules);
    expect(admitted.kind === 'accepted' && admitted.label).toEqual({ ...plain, ...kept });
    expect(fingerprint({ ...plain, ...sent })).toBe(fingerprint({ ...plain, ...kept }));
  });

  test('accepts a signature from a frame or a page, and keeps unknown fields unchanged', () => {
    const sig = Uint8Array.from([1, 2, 3]);
    const extra = encode({ reason: 'seen twice', score: 7 });
    for (const sent of [sig, toBytes(sig), { $bytes: 'AQID' }]) {
      const label = { ...plain, reason: 'seen twice', score: 7, sig: sent };
      expect(admit(label, rules)).toMatchObject({ label: { ...plain, sig, extra } });
    }
  });

  test.each<[string, object]>([
    ['a number above 2^53', { id: 2 ** 60 }],
    ['an invalid link', { about: { $link: 'no link' } }],
    ['invalid bytes', { data: { $bytes: 'not base64!' } }],
  ])('accepts a label whose unknown fields have %s, without these fields', (_, unknown) => {
    const admitted = admit({ ...plain, reason: 'seen twice', ...unknown }, rules);
    expect(admitted.kind === 'accepted' && admitted.label).toEqual(plain);
  });
});

test('a label authored at the start of the epoch is accepted, and a label authored a microsecond earlier is refused', () => {
  const young = { ...rules, since: at('2026-07-10T11:00:00.000Z') };
  expect(admit({ ...plain, cts: '2026-07-10T11:00:00.000000Z' }, young).kind).toBe('accepted');
  expect(admit({ ...plain, cts: '2026-07-10T10:59:59.999999Z' }, young)).toEqual({
    kind: 'refused',
    reason: 'pre_epoch',
  });
});

test('a label that is too large is refused for its size, regardless of its date', () => {
  const large = { ...plain, uri: `at://${plain.uri}/app.bsky.feed.post/${'k'.repeat(512)}`, exp: 'x'.repeat(4_000) };
  for (const cts of ['never', '2027-01-01T00:00:00Z', plain.cts]) {
    expect(admit({ ...large, cts }, rules)).toEqual({ kind: 'refused', reason: 'oversized' });
  }
});

describe('the admission of an invalid label', () => {
  test.each<[AdmissionReason, string, unknown]>([
    ['malformed', 'that is a string', 'spam'],
    ['malformed', 'that is an array', [plain]],
    ['malformed', 'that is null', null],
    ['malformed', 'without src', { ...plain, src: undefined }],
    ['malformed', 'whose src is not a DID', { ...plain, src: 'alice' }],
    ['malformed', 'without uri', { ...plain, uri: undefined }],
    ['malformed', 'about a web page', { ...plain, uri: 'https://example.com/' }],
    ['malformed', 'about a handle', { ...plain, uri: 'at://alice.example/app.bsky.feed.post/1' }],
    [
      'malformed',
      'about a collection with an invalid name',
      { ...plain, uri: `at://${plain.uri}/${'c'.repeat(318)}/1` },
    ],
    ['malformed', 'without val', { ...plain, val: undefined }],
    ['malformed', 'with a number as val', { ...plain, val: 17 }],
    ['malformed', 'with a string as neg', { ...plain, neg: 'yes' }],
    ['malformed', 'with a word as ver', { ...plain, ver: 'one' }],
    ['malformed', 'with a fraction as ver', { ...plain, ver: '1.5' }],
    ['malformed', 'with another number as neg', { ...plain, neg: 2 }],
    ['malformed', 'with null as val', { ...plain, val: null }],
    ['malformed', 'with null as uri', { ...plain, uri: null }],
    ['malformed', 'with null as src', { ...plain, src: null }],
    ['undated', 'with null as cts', { ...plain, cts: null }],
    ['malformed', 'with a number as cid', { ...plain, cid: 1 }],
    ['malformed', 'with a number as exp', { ...plain, exp: 1 }],
    ['malformed', 'with a string as sig', { ...plain, sig: 'AQID' }],
    ['malformed', 'with a lone surrogate', { ...plain, val: '\ud800' }],
    ['foreign_src', 'of another labeler', { ...plain, src: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb' }],
    ['space_uri', 'on a record in a space', { ...plain, uri: `at://${plain.uri}/space/a.b.c/k/${plain.uri}/a.b.d/3k` }],
    ['space_uri', 'on a space', { ...plain, uri: `at://${plain.uri}/space` }],
    ['space_uri', 'on a space, with an invalid date', { ...plain, uri: `at://${plain.uri}/space/a.b.c`, cts: 'now' }],
    ['oversized', 'with 129 bytes of val', { ...plain, val: 'x'.repeat(129) }],
    ['oversized', 'with 65 characters of two bytes as val', { ...plain, val: 'ü'.repeat(65) }],
    ['oversized', 'with a long uri', { ...plain, uri: `at://${plain.uri}/a.b.c/${'x'.repeat(17_000)}` }],
    ['oversized', 'with 4 KiB of unknown fields', { ...plain, note: 'x'.repeat(4_096) }],
    ['undated', 'without cts', { ...plain, cts: undefined }],
    ['undated', 'with a number as cts', { ...plain, cts: 1 }],
    ['undated', 'with yesterday as cts', { ...plain, cts: 'yesterday' }],
    ['undated', 'with a date that does not exist', { ...plain, cts: '2026-02-30T00:00:00Z' }],
    ['undated', 'with a time without a zone', { ...plain, cts: '2026-07-10T11:00:00' }],
    ['pre_epoch', 'authored before the epoch', { ...plain, cts: '2026-06-30T23:59:59.999Z' }],
    ['late', 'authored more than 48 h ago', { ...plain, cts: '2026-07-08T11:59:59.999Z' }],
    ['future', 'authored more than 300 s in the future', { ...plain, cts: '2026-07-10T12:05:00.001Z' }],
  ])('is refused with the reason %s for a label %s', (reason, _, label) => {
    expect(admit(label, rules)).toEqual({ kind: 'refused', reason });
  });
});

test('admission accepts or refuses any value without throwing', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true }), (value) => {
      expect(['accepted', 'refused']).toContain(admit(value, rules).kind);
      if (typeof value !== 'object' || value === null) return;
      expect(['accepted', 'refused']).toContain(admit({ ...plain, ...value }, rules).kind);
      expect(['accepted', 'refused']).toContain(admit({ ...plain, sig: value }, rules).kind);
    }),
  );
});

test('a label about the longest valid record address is accepted', () => {
  const uri = `at://did:web:${'a'.repeat(2_040)}/${'a.'.repeat(157)}abc/${'r'.repeat(512)}`;
  expect(admit({ ...plain, uri }, rules).kind).toBe('accepted');
});
