import { generateKeyPairSync, sign } from 'node:crypto';
import { encode, toBytes } from '@atcute/cbor';
import { describe, expect, it } from 'vitest';
import type { LabelKey } from '../../network/identity/did-document.ts';
import { micros } from '../../store/time.ts';
import type { RawLabel } from '../label/label-fields.ts';
import { createVerifier } from './verifier.ts';

const never = new AbortController().signal;

/** Creates a labeler with its key and a function that signs labels. */
function labeler(namedCurve: 'secp256k1' | 'prime256v1') {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const odd = (Buffer.from(y, 'base64url').at(-1) ?? 0) & 1;
  const key: LabelKey = {
    curve: namedCurve === 'secp256k1' ? 'k256' : 'p256',
    point: `0${2 + odd}${Buffer.from(x, 'base64url').toString('hex')}`,
  };
  return {
    key,
    sign(label: RawLabel): RawLabel {
      for (;;) {
        const sig = sign('sha256', encode(label), { key: privateKey, dsaEncoding: 'ieee-p1363' });
        // Half of all signatures have a high S: sign again until S is low, because each signature has a new random
        // number.
        if ((sig[32] ?? 0) < 0x7f) return { ...label, sig: toBytes(sig) };
      }
    },
  };
}

/** Returns the keys of a labeler that has never had any other keys. */
const only = (current: readonly LabelKey[]) => ({ current, earlier: [] });

const label = (val: string): RawLabel => ({
  ver: 1,
  src: 'did:web:a.test',
  uri: 'did:web:b.test',
  val,
  neg: false,
});

describe('a verifier', () => {
  it('returns a verdict on each label, in order', async () => {
    const [ours, older, stranger] = [labeler('secp256k1'), labeler('prime256v1'), labeler('secp256k1')];
    const verifier = createVerifier();
    const labels = [
      ours.sign(label('a')),
      older.sign(label('b')),
      stranger.sign(label('c')),
      label('d'),
      { ...label('e'), sig: 'x' },
      ours.sign(label('f')),
    ];
    const verdicts = await verifier.verify(labels, { current: [ours.key, older.key], earlier: [] }, never);
    expect(verdicts).toEqual(['verified', 'verified', 'invalid', 'unsigned', 'invalid', 'verified']);
    expect(await verifier.verify(labels, only([]), never)).toEqual([
      'unverified',
      'unverified',
      'unverified',
      'unsigned',
      'invalid',
      'unverified',
    ]);
    expect(await verifier.verify([], only([ours.key]), never)).toEqual([]);
    await verifier.stop();
  });

  describe('a label that the current key does not verify', () => {
    const [ours, older] = [labeler('secp256k1'), labeler('prime256v1')];
    const period = { from: micros(Date.parse('2026-03-01') * 1000), until: micros(Date.parse('2026-04-01') * 1000) };
    const signedAt = (cts: unknown) => older.sign({ ...label('a'), ...(cts === undefined ? {} : { cts }) });

    it.each([
      ['inside the period', '2026-03-15T00:00:00Z', 'verified_earlier_key'],
      ['inside the period, with an offset other than zero', '2026-04-01T01:00:00+02:00', 'verified_earlier_key'],
      ['within 5 minutes before the period', '2026-02-28T23:55:00Z', 'verified_earlier_key'],
      ['more than 5 minutes before the period', '2026-02-28T23:54:59.999Z', 'invalid'],
      ['within 5 minutes after the period', '2026-04-01T00:05:00Z', 'verified_earlier_key'],
      ['more than 5 minutes after the period', '2026-04-01T00:05:00.001Z', 'invalid'],
      ['that is unusable', 'yesterday', 'invalid'],
      ['that is missing', undefined, 'invalid'],
    ])(
      'has a verdict that depends on the period of the earlier key: a cts %s (%s) gives %s',
      async (_, cts, verdict) => {
        const verifier = createVerifier();
        const keys = { current: [ours.key], earlier: [{ key: older.key, ...period }] };
        expect(await verifier.verify([signedAt(cts)], keys, never)).toEqual([verdict]);
        await verifier.stop();
      },
    );

    it('is verified by an earlier key even if there is no current key', async () => {
      const verifier = createVerifier();
      const keys = { current: [], earlier: [{ key: older.key, from: null, until: period.until }] };
      expect(await verifier.verify([signedAt('2020-01-01T00:00:00Z')], keys, never)).toEqual(['verified_earlier_key']);
      await verifier.stop();
    });

    it('is checked with at most four earlier keys', async () => {
      let checks = 0;
      const verifier = createVerifier({ check: () => Promise.resolve(++checks < 0) });
      const earlier = Array.from({ length: 16 }, () => ({ key: older.key, ...period }));
      const keys = { current: [ours.key], earlier };
      expect(await verifier.verify([signedAt('2026-03-15T00:00:00Z')], keys, never)).toEqual(['invalid']);
      expect(checks).toBe(5);
      await verifier.stop();
    });
  });

  it('accepts a signature that covers unknown fields, and a signature that does not cover fields that were added later', async () => {
    const ours = labeler('secp256k1');
    const verifier = createVerifier();
    const labels = [
      ours.sign({ ...label('a'), id: 7 }),
      { ...ours.sign(label('b')), id: 7 },
      { ...ours.sign(label('c')), id: 7, val: 'd' },
      { ...ours.sign(label('e')), id: 2 ** 60 },
    ];
    const expected = ['verified', 'verified', 'invalid', 'verified'];
    expect(await verifier.verify(labels, only([ours.key]), never)).toEqual(expected);
    await verifier.stop();
  });

  it('accepts a signature over the fields as received, and over their form in the lexicon', async () => {
    const { sign, key } = labeler('secp256k1');
    const verifier = createVerifier();
    const loose = { ...label('a'), ver: '1', neg: 0, cid: null, exp: '' };
    const strict: RawLabel = { ...label('a'), neg: false };
    const { sig } = sign(strict);
    const sent = [
      sign(loose),
      { ...loose, sig },
      { ...loose, sig, id: 7 },
      { ...loose, sig: sign(label('a')).sig },
      { ...loose, neg: 1, sig },
      { ...loose, sig: null },
      { ...loose, sig: '' },
    ];
    const expected = ['verified', 'verified', 'verified', 'verified', 'invalid', 'unsigned', 'unsigned'];
    expect(await verifier.verify(sent, only([key]), never)).toEqual(expected);
    await verifier.stop();
  });

  it('finishes a small batch before a large batch', async () => {
    const { key, sign: signed } = labeler('secp256k1');
    const verifier = createVerifier({ concurrency: 1 });
    const one = signed(label('a'));
    const order: string[] = [];
    await Promise.all([
      verifier.verify(Array<RawLabel>(400).fill(one), only([key]), never).then(() => order.push('large')),
      verifier.verify([one, label('b')], only([key]), never).then((verdicts) => order.push(verdicts.join())),
    ]);
    expect(order).toEqual(['verified,unsigned', 'large']);
    await verifier.stop();
  });

  it('lets sockets and timers run during a large batch, with either curve', async () => {
    const [k256, p256] = [labeler('secp256k1'), labeler('prime256v1')];
    for (const { key, sign: signed } of [k256, p256]) {
      const verifier = createVerifier();
      let turns = 0;
      let over = false;
      const count = (): void => {
        turns += 1;
        if (!over) setImmediate(count);
      };
      setImmediate(count);
      await verifier.verify(Array<RawLabel>(640).fill(signed(label('a'))), only([key]), never);
      over = true;
      // Two concurrent workers have 32 checks per turn of the event loop.
      expect(turns).toBeGreaterThanOrEqual(10);
      await verifier.stop();
    }
  });

  it('lets sockets and timers run equally often if a few labels are checked with many keys', async () => {
    const { sign: signed, key } = labeler('secp256k1');
    let [checks, turns] = [0, 0];
    const check = () => {
      checks += 1;
      return Promise.resolve(false);
    };
    const verifier = createVerifier({ concurrency: 1, check });
    let over = false;
    const count = (): void => {
      turns += 1;
      if (!over) setImmediate(count);
    };
    setImmediate(count);
    const few = Array<RawLabel>(4).fill(signed({ ...label('a'), id: 7 }));
    await verifier.verify(few, only(Array<LabelKey>(128).fill(key)), never);
    over = true;
    expect(checks).toBe(4 * 128 * 2);
    expect(turns).toBeGreaterThanOrEqual(checks / 32);
    await verifier.stop();
  });

  it('checks the label of a seeded source next, even if many other labels and keys wait', async () => {
    const { key, sign: signed } = labeler('secp256k1');
    const one = signed(label('a'));
    const checked: string[] = [];
    const counts = new Map<string, number>();
    const verifier = createVerifier({
      concurrency: 1,
      check: () => Promise.resolve(false),
      onChecked: (source, checks) => {
        checked.push(source);
        counts.set(source, (counts.get(source) ?? 0) + checks);
      },
    });
    const flood = Array.from({ length: 500 }, (_, i) => {
      const share = { priority: 'new', domain: `flood${i}`, source: `flood${i}` } as const;
      return verifier.verify([one, one, one], only([key, key, key, key, key]), never, share);
    });
    const share = { priority: 'seeded', domain: 'seed', source: 'seed' } as const;
    await verifier.verify([one, one, one], only([key]), never, share);
    // The seeded source waits only for running checks, and for at most one turn of other sources before each turn of
    // its own.
    expect(checked.length).toBeLessThanOrEqual(8);
    await Promise.all(flood);
    expect([counts.get('seed'), counts.get('flood0')]).toEqual([3, 15]);
    await verifier.stop();
  });

  it('rejects an aborted batch but completes the other batches, and rejects running and new batches once it is stopped', async () => {
    const { key, sign: signed } = labeler('secp256k1');
    const verifier = createVerifier({ concurrency: 1 });
    const many = Array<RawLabel>(1000).fill(signed(label('a')));
    const stop = new AbortController();
    const aborted = verifier.verify(many, only([key]), stop.signal);
    const other = verifier.verify(many.slice(0, 3), only([key]), never);
    stop.abort(new Error('given up'));
    await expect(aborted).rejects.toThrow('given up');
    expect(await other).toEqual(['verified', 'verified', 'verified']);
    const underWay = expect(verifier.verify(many, only([key]), never)).rejects.toThrow('aborted');
    await verifier.stop();
    await underWay;
    await expect(verifier.verify(many, only([key]), never)).rejects.toThrow('aborted');
  });
});
