import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeBase32,
  encodeBase32,
  exactMillis,
  identityOf,
  joinUri,
  type ReceivedLabel,
  splitUri,
  targetOf,
} from './label.ts';

const label: ReceivedLabel = {
  ver: 1,
  src: 'did:plc:ar7c4by46qjdydhdevvrndac',
  uri: 'at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/app.bsky.feed.post/3lb5xpd2ank2v',
  cid: 'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454',
  val: 'porn',
  cts: '2026-11-21T05:03:22.481Z',
  sig: new Uint8Array(64),
};

describe('the identity of a label', () => {
  it('equals the identity that earlier versions stored', () => {
    expect(identityOf(label).toString('hex')).toBe('911e024837dc18360c227bd82d8a19ce');
  });

  it('ignores the signature, the version, unknown fields, and whether neg is false or absent', () => {
    const { sig: _, ver: __, ...bare } = label;
    expect(identityOf({ ...bare, neg: false, extra: new Uint8Array(3) })).toEqual(identityOf(label));
  });

  it('distinguishes a missing cid or exp from an empty value', () => {
    const { cid: _, ...bare } = label;
    const all = [label, bare, { ...bare, cid: '' }, { ...label, exp: '' }].map((one) =>
      identityOf(one).toString('hex'),
    );
    expect(new Set(all).size).toBe(4);
  });
});

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
    expect(splitUri(uri)?.did ?? null).toBe(subject);
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

describe('base32', () => {
  it('decodes its own encoding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect(decodeBase32(encodeBase32(bytes), 0)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('accepts only the canonical encoding', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab267zA1'), maxLength: 12 }), (text) => {
        const bytes = decodeBase32(text, 0);
        if (bytes) expect(encodeBase32(bytes)).toBe(text);
      }),
    );
  });
});

describe('a time in milliseconds', () => {
  const time = (numbers: readonly number[]): string => {
    const [year = 0, month, day, hour, minute, second, ms] = numbers;
    const two = (value = 0): string => String(value).padStart(2, '0');
    const rest = `${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}.${String(ms).padStart(3, '0')}Z`;
    return `${String(year).padStart(4, '0')}-${rest}`;
  };
  const numbers = fc.tuple(...([9999, 13, 32, 25, 60, 60, 999] as const).map((max) => fc.integer({ min: 0, max })));

  it('is found if and only if formatting it restores the text', () => {
    fc.assert(
      fc.property(fc.oneof(numbers.map(time), fc.string({ maxLength: 26 })), (text) => {
        const value = Date.parse(text);
        const isExact =
          text.length === 24 && !Number.isNaN(value) && new Date(value).toISOString() === text && text >= '1000';
        expect(exactMillis(text)).toBe(isExact ? value : null);
      }),
      { numRuns: 3_000 },
    );
  });

  it.each([
    ['2024-02-29T23:59:59.999Z', true],
    ['2023-02-29T00:00:00.000Z', false],
    ['2000-02-29T00:00:00.000Z', true],
    ['1900-02-29T00:00:00.000Z', false],
    ['2026-04-31T00:00:00.000Z', false],
    ['2026-01-01T24:00:00.000Z', false],
    ['0999-12-31T23:59:59.999Z', false],
    ['2026-01-01T00:00:00.0000', false],
  ])('%s: %s', (text, isExact) => {
    expect(exactMillis(text) !== null).toBe(isExact);
  });
});
