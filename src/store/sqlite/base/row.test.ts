import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SignatureVerdict, signatureVerdicts } from '../../../contract/vocabulary.ts';
import type { ReceivedLabel } from '../../label.ts';
import { minute } from '../../time.ts';
import {
  decodeRow,
  encodeRow,
  type Intern,
  type NameOf,
  packStamps,
  RememberedNames,
  subjectDid,
  subjectKey,
  unpackStamps,
} from './row.ts';

function names(): { intern: Intern; nameOf: NameOf } {
  const all: string[] = [];
  return {
    intern: (table, name) => {
      const key = `${table} ${name}`;
      return all.includes(key) ? all.indexOf(key) : all.push(key) - 1;
    },
    nameOf: (table, id) => (all[id] ?? '').slice(table.length + 1),
  };
}

function through(label: ReceivedLabel, signature: SignatureVerdict = 'verified') {
  const { intern, nameOf } = names();
  return decodeRow(encodeRow(5, { label, signature }, intern), nameOf);
}

const label: ReceivedLabel = {
  src: 'did:web:mod.example',
  uri: 'did:web:a.example',
  val: 'x',
  cts: '2026-11-21T05:03:22.481Z',
};

describe('encodeRow and decodeRow', () => {
  it.each<[string, Partial<ReceivedLabel>]>([
    ['no neg', {}],
    ['neg false', { neg: false }],
    ['neg true', { neg: true }],
    ['ver 1', { ver: 1 }],
    ['a cid in canonical form', { cid: 'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454' }],
    ['a cid with non-zero leftover bits', { cid: 'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz455' }],
    ['an empty cid', { cid: '' }],
    ['a date with an offset', { cts: '2026-11-21T05:03:22.481+00:00' }],
    ['a date with microseconds', { cts: '2026-11-21T05:03:22.481123Z' }],
    ['a date that does not exist', { cts: '2026-02-30T05:03:22.481Z' }],
    ['no date', { cts: '' }],
    ['an empty signature', { sig: Buffer.alloc(0) }],
    ['fields outside the lexicon', { extra: Buffer.from('{"x":1}') }],
    ['an expiry', { exp: '2026-11-21T05:03:22.481Z' }],
  ])('preserve every field of the received label (%s)', (_, change) => {
    expect(through({ ...label, ...change })).toEqual({
      observedAt: 5,
      label: { ...label, ...change },
      signature: 'verified',
    });
  });

  it.each(signatureVerdicts.map((verdict) => ({ verdict })))(
    'preserve the signature verdict $verdict',
    ({ verdict }) => {
      expect(through(label, verdict).signature).toBe(verdict);
    },
  );

  it('use the same verdict bits as earlier versions', () => {
    const stored = signatureVerdicts.map((verdict) => [
      verdict,
      encodeRow(5, { label, signature: verdict }, () => 0)[6] & 0b1001100,
    ]);
    expect(Object.fromEntries(stored)).toEqual({
      verified: 0,
      invalid: 4,
      unsigned: 8,
      unverified: 12,
      verified_earlier_key: 64,
    });
  });

  it('refuse a label whose uri contains no DID', () => {
    expect(() => through({ ...label, uri: 'at://a.example/b/c' })).toThrowError(
      expect.objectContaining({ code: 'invalid_observation' }),
    );
  });
});

describe('the subject key', () => {
  it.each([
    ['did:plc:ewvi7nxzyoun6zhxrhs64oiz'],
    ['did:plc:EWVI7NXZYOUN6ZHXRHS64OIZ'],
    ['did:plc:short'],
    ['did:web:abc.def'],
  ])('is converted back to the DID %s', (did) => {
    expect(subjectDid(subjectKey(did))).toBe(did);
  });

  it('of a did:plc is 15 bytes long', () => {
    expect(subjectKey('did:plc:ewvi7nxzyoun6zhxrhs64oiz')).toHaveLength(15);
  });
});

const stamps = fc
  .array(fc.record({ offset: fc.integer({ min: 0, max: minute - 1 }), removed: fc.boolean() }), { maxLength: 50 })
  .map((all) => all.sort((a, b) => a.offset - b.offset));

it('unpackStamps restores packed stamps in order', () => {
  fc.assert(
    fc.property(stamps, (all) => {
      expect([...unpackStamps(packStamps(all))]).toEqual(all);
    }),
  );
});

it('packed stamps that are one microsecond apart take one byte each, except for the first stamp', () => {
  const run = Array.from({ length: 100 }, (_, i) => ({ offset: 1_000 + i, removed: false }));
  expect(packStamps(run)).toHaveLength(101);
});

it('RememberedNames distinguishes equal names of different tables, and stays within its byte limit for long names', () => {
  const names = new RememberedNames();
  names.set('val', 'a', 1);
  names.set('source', 'a', 2);
  expect([names.get('val', 'a'), names.get('source', 'a'), names.get('collection', 'a')]).toEqual([1, 2, undefined]);
  for (let i = 0; i < 3_000; i++) {
    names.set('source', String(i).padStart(10_000, 'a'), i);
    expect(names.bytes).toBeLessThanOrEqual(16 * 1024 * 1024);
  }
  expect(names.get('source', '2999'.padStart(10_000, 'a'))).toBe(2_999);
  names.clear();
  expect([names.get('source', '2999'.padStart(10_000, 'a')), names.bytes]).toEqual([undefined, 0]);
});
