import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AccountRow, ExportManifest } from '../../contract/account.ts';
import { canonicalJson } from '../../contract/encodings.ts';
import { targetOf } from '../../store/label.ts';
import type { Observation } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { firstDigest, RowChain, rowOf, rowText } from './rows.ts';

const labeler = 'did:plc:ar7c4by46qjdydhdevvrndac';
const account = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const post = `at://${account}/app.bsky.feed.post/3lb5xpd2ank2v`;

function observation(label: Partial<Observation['label']> = {}): Observation {
  return {
    observedAt: micros(1_795_176_000_000_007),
    signature: 'verified',
    label: { src: labeler, uri: account, val: 'spam', cts: '2026-11-20T11:59:00+02:00', ...label },
  };
}

describe('the row of an observation', () => {
  it("contains exactly the documented fields, with the labeler's text verbatim", () => {
    const full = observation({
      ver: 1,
      uri: post,
      cid: 'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454',
      neg: true,
      exp: '2027-01-01',
      sig: new Uint8Array(64),
      extra: new Uint8Array(3),
    });
    expect(rowOf(full)).toEqual({
      labeler_did: labeler,
      uri: post,
      cid: 'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454',
      value: 'spam',
      action: 'removal_observed',
      source_timestamp: '2026-11-20T11:59:00+02:00',
      observed_at: '2026-11-20T12:00:00.000007Z',
      expires_at: '2027-01-01',
      signature: 'verified',
    });
  });

  it('is serialized as canonical JSON, whatever it contains', () => {
    const texts = fc.string({ unit: 'grapheme' });
    const optional = fc.record({ cid: texts, exp: texts, neg: fc.boolean() }, { requiredKeys: [] });
    fc.assert(
      fc.property(texts, optional, (val, more) => {
        const observed = observation({ val, uri: `at://${account}/${val}`, ...more } as Partial<Observation['label']>);
        expect(rowText(observed)).toBe(canonicalJson(rowOf(observed)));
      }),
    );
  });

  it('is serialized with its own stamp, whatever stamp was serialized before', () => {
    for (const at of [1_795_176_000_000_007, 1_795_176_000_999_999, 1_795_176_001_000_000, 1_795_176_000_000_000]) {
      const observed = { ...observation(), observedAt: micros(at) };
      expect(rowText(observed)).toBe(canonicalJson(rowOf(observed)));
    }
  });

  it('omits fields that the label lacks', () => {
    expect(Object.keys(rowOf(observation()))).toEqual([
      'action',
      'labeler_did',
      'observed_at',
      'signature',
      'source_timestamp',
      'uri',
      'value',
    ]);
  });

  it.each([
    [undefined, 'application_observed'],
    [false, 'application_observed'],
    [true, 'removal_observed'],
  ])('with neg = %s has the action %s', (neg, action) => {
    expect(rowOf(observation(neg === undefined ? {} : { neg })).action).toBe(action);
  });
});

describe('the target of a label', () => {
  it.each([
    [account, 'account'],
    [post, 'post'],
    [`at://${account}/app.bsky.actor.profile/self`, 'record'],
    [`at://${account}/app.bsky.feed.post`, 'record'],
    [`at://${account}/app.bsky.feed.post/3k/more`, 'record'],
    [`at://${account}`, 'record'],
  ])('with the subject %s has the kind %s', (uri, kind) => {
    expect(targetOf(uri)).toBe(kind);
  });
});

interface Vectors {
  readonly manifest: ExportManifest;
  readonly rows: readonly AccountRow[];
  readonly canonical: { readonly manifest: string; readonly rows: readonly string[] };
  readonly links: readonly string[];
  readonly content_sha256: string;
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../docs/digest-vectors.json', import.meta.url), 'utf8'),
) as Vectors;

it('the canonical JSON and every digest of the chain equal the published test vectors', () => {
  const rows = vectors.rows.map(canonicalJson);
  expect({ manifest: canonicalJson(vectors.manifest), rows }).toEqual(vectors.canonical);
  const links = [firstDigest(vectors.manifest)];
  const chain = new RowChain(firstDigest(vectors.manifest));
  for (const row of rows) {
    chain.add(row);
    links.push(chain.digest);
  }
  expect(links.map((link) => link.toString('hex'))).toEqual(vectors.links);
  expect(vectors.links.at(-1)).toBe(vectors.content_sha256);
  expect(chain.rows.toString()).toBe(rows.join(','));
});

it('rows of any length and any characters are kept as they are', () => {
  const chain = new RowChain(Buffer.alloc(32));
  const rows = Array.from({ length: 200 }, (_, n) => JSON.stringify('aé€😀'.repeat(n * 5)));
  for (const row of rows) chain.add(row);
  expect(chain.rows.toString()).toBe(rows.join(','));
  expect(chain.count).toBe(200);
});
