import { describe, expect, it } from 'vitest';
import { identityOf, type ReceivedLabel } from './label.ts';

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
