import { createECDH, createPrivateKey, hash, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { decode, encode, toBytes } from '@atcute/cbor';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type LabelKey, parseLabelKey } from '../../network/identity/did-document.ts';
import { createSignatureCheck, secp256k1 } from '../signatures/signature-check.ts';
import { type RawLabel, separateSignature } from './label-fields.ts';

interface Vector {
  name: string;
  signing_key: string;
  label: Record<string, unknown> & { sig: { $bytes: string } };
  signing_bytes_hex: string;
}

const { vectors } = fixture('labels/signed_label_vectors.json') as { vectors: Vector[] };

interface Interop {
  comment: string;
  messageBase64: string;
  publicKeyDid: string;
  publicKeyMultibase: string;
  didDocSuite: string;
  signatureBase64: string;
  validSignature: boolean;
}

const interop = fixture('interop/signature-fixtures.json') as Interop[];

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../../test/fixtures/${name}`, import.meta.url), 'utf8'));
}

function didKey(text: string): LabelKey {
  const key = parseLabelKey('Multikey', text.replace('did:key:', ''));
  if (!key) throw new Error(`no key: ${text}`);
  return key;
}

const [native, wasm] = [secp256k1.native(), await secp256k1.wasm()];

/** Implementations of the signature check: libsecp256k1, and the check that is used before the library is loaded. */
const checks: readonly (readonly [string, ReturnType<typeof createSignatureCheck>])[] = [
  ['libsecp256k1', createSignatureCheck()],
  ...(native === null ? [] : [['libsecp256k1 for this platform', createSignatureCheck(() => native)] as const]),
  ['libsecp256k1 as WebAssembly', createSignatureCheck(() => wasm)],
  ['OpenSSL alone', createSignatureCheck(() => null)],
];

/** A valid signature with its key, in the form that the library requires. */
const signed = (() => {
  const ecdh = createECDH('secp256k1');
  ecdh.setPrivateKey(Buffer.alloc(32, 7));
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      ...{ kty: 'EC', crv: 'secp256k1', d: Buffer.alloc(32, 7).toString('base64url') },
      x: ecdh.getPublicKey().subarray(1, 33).toString('base64url'),
      y: ecdh.getPublicKey().subarray(33).toString('base64url'),
    },
  });
  const half = Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex');
  let signature = Buffer.alloc(64, 255);
  while (Buffer.compare(signature.subarray(32), half) > 0) {
    signature = sign('sha256', Buffer.from('a label'), { key, dsaEncoding: 'ieee-p1363' });
  }
  return { signature, point: ecdh.getPublicKey(), digest: hash('sha256', 'a label', 'buffer') };
})();

beforeAll(async () => {
  await secp256k1.load();
});

/** Returns the result of a check with both implementations; throws if the results differ. */
async function valid(label: RawLabel, key: LabelKey): Promise<boolean | string> {
  const separated = separateSignature(label);
  if (separated.kind !== 'signed') return separated.kind;
  const [first, ...others] = await Promise.all(checks.map(([, check]) => check(separated, key)));
  if (first === undefined || others.some((other) => other !== first)) throw new Error('the libraries differ');
  return first;
}

/** Returns one label per byte of the signature, each with one bit of that byte inverted. */
function flipped({ label }: Vector): RawLabel[] {
  const bytes = Buffer.from(label.sig.$bytes, 'base64');
  return Array.from(bytes, (_, at) => {
    const copy = Buffer.from(bytes);
    copy.writeUInt8((copy[at] ?? 0) ^ (1 << (at % 8)), at);
    return { ...label, sig: { $bytes: copy.toString('base64') } };
  });
}

describe('a label', () => {
  it.each(vectors)(
    'of a test vector verifies, and its signed bytes equal the signed bytes of the vector ($name)',
    async (vector) => {
      const separated = separateSignature(vector.label);
      expect(separated.kind === 'signed' && Buffer.from(separated.message).toString('hex')).toBe(
        vector.signing_bytes_hex,
      );
      expect(await valid(vector.label, didKey(vector.signing_key))).toBe(true);
    },
  );

  it.each(vectors)('verifies as received from a stream, and with its fields in any order ($name)', async (vector) => {
    const key = didKey(vector.signing_key);
    const sig = toBytes(Buffer.from(vector.label.sig.$bytes, 'base64'));
    const streamed = decode(encode({ ...vector.label, sig })) as RawLabel;
    expect(await valid(streamed, key)).toBe(true);
    expect(await valid(Object.fromEntries(Object.entries(vector.label).reverse()), key)).toBe(true);
    const padded = { $bytes: Buffer.from(vector.label.sig.$bytes, 'base64').toString('base64') };
    expect(await valid({ ...vector.label, sig: padded }, key)).toBe(true);
  });

  it.each(vectors)('does not verify with a changed signature or field ($name)', async (vector) => {
    const key = didKey(vector.signing_key);
    const { label } = vector;
    const changed: RawLabel[] = [
      ...flipped(vector),
      { ...label, val: `${String(label.val)}!` },
      { ...label, cts: '2024-01-01T00:00:00.000Z' },
      { ...label, ver: 2 },
      // The signature covers the presence of a field, even if the field has its default value.
      { ...label, neg: false },
      { ...label, unknown: 1 },
      Object.fromEntries(Object.entries(label).filter(([name]) => name !== 'ver')),
    ];
    expect(await Promise.all(changed.map((one) => valid(one, key)))).toEqual(changed.map(() => false));
  });

  it('does not verify with a key of a different labeler or a different curve', async () => {
    const keys = [...new Set(vectors.map((vector) => vector.signing_key))];
    const table = await Promise.all(
      vectors.map(async (vector) => {
        const found = await Promise.all(
          keys.map(async (key) => ((await valid(vector.label, didKey(key))) ? key : null)),
        );
        return found.filter((key) => key !== null);
      }),
    );
    expect(keys.length).toBeGreaterThan(3);
    expect(table).toEqual(vectors.map((vector) => [vector.signing_key]));
  });

  it.each(vectors)('verifies although unknown fields that cannot be encoded were added ($name)', async (vector) => {
    const deep: unknown[] = [];
    for (let level = 0, at = deep; level < 100_000; level += 1) {
      const next: unknown[] = [];
      at.push(next);
      at = next;
    }
    const key = didKey(vector.signing_key);
    for (const unknown of [2 ** 60, Number.NaN, { $link: 'no link' }, { $bytes: 'not base64!' }, deep]) {
      const label: RawLabel = { ...vector.label, id: unknown };
      const separated = separateSignature(label);
      expect(separated.kind === 'signed' && Buffer.from(separated.message).toString('hex')).toBe(
        vector.signing_bytes_hex,
      );
      expect(await valid(label, key)).toBe(true);
      expect(await valid({ ...label, val: `${String(label.val)}!` }, key)).toBe(false);
    }
  });

  it('is unsigned without a signature, and malformed if no key can produce its signature', () => {
    const [{ label } = { label: { sig: null } }] = vectors;
    const { sig: _, ...bare } = label;
    expect(separateSignature(bare)).toEqual({ kind: 'unsigned' });
    for (const sig of [undefined, null, '', { $bytes: '' }, toBytes(new Uint8Array(0))]) {
      expect(separateSignature({ ...bare, sig })).toEqual({ kind: 'unsigned' });
    }
    const sig64 = { $bytes: Buffer.alloc(64, 1).toString('base64') };
    const foreign: RawLabel[] = [
      { ...bare, sig: 0 },
      { ...bare, sig: 'c2ln' },
      { ...bare, sig: { $bytes: 7 } },
      { ...bare, sig: { $bytes: 'not base64!' } },
      { ...bare, sig: { $bytes: Buffer.alloc(63).toString('base64') } },
      { ...bare, sig: { $bytes: Buffer.alloc(65).toString('base64') } },
      { ...bare, sig: { $bytes: 'A'.repeat(10_000_000) } },
      { ...bare, sig: toBytes(Buffer.alloc(10_000_000)) },
      { ...bare, ver: 2 ** 60, sig: sig64 },
      { ...bare, ver: Number.NaN, sig: sig64 },
    ];
    expect(foreign.map((one) => separateSignature(one).kind)).toEqual(foreign.map(() => 'malformed'));
  });
});

it('libsecp256k1 is the function that was loaded', async () => {
  const verify = await secp256k1.load();
  expect(verify).not.toBeNull();
  expect(secp256k1.loaded()).toBe(verify);
});

it('libsecp256k1 is compiled for Linux on x64, and all its forms give the same verdict for any bytes', () => {
  if (process.platform === 'linux' && process.arch === 'x64') expect(native).not.toBeNull();
  if (native === null || wasm === null) return;
  const { point, digest, signature } = signed;
  const order = Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex');
  const number = fc.oneof(
    fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(signature.subarray(0, 32), signature.subarray(32), order, Buffer.alloc(32), Buffer.alloc(32, 255)),
  );
  expect([native(signature, digest, point), wasm(signature, digest, point)]).toEqual([true, true]);
  fc.assert(
    fc.property(number, number, fc.boolean(), (r, s, isOwn) => {
      const changed = Buffer.concat([r, s]);
      const message = isOwn ? digest : Buffer.alloc(32, 1);
      expect(native(changed, message, point)).toBe(wasm(changed, message, point));
    }),
    { numRuns: 500 },
  );
  expect(native(signature.subarray(1), digest, point)).toBe(false);
  expect(native(signature, digest.subarray(1), point)).toBe(false);
  expect(native(signature, digest, point.subarray(1))).toBe(false);
  expect(native(signature, digest, Buffer.alloc(65, 4))).toBe(false);
});

it('the dependencies at run time do not include elliptic, secp256k1 or bn.js', () => {
  const lock = readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: Record<string, { dev?: boolean }> };
  const atRunTime = Object.keys(packages).filter((path) => packages[path]?.dev !== true);
  expect(atRunTime.filter((path) => /(?:^|\/)node_modules\/(?:elliptic|secp256k1|bn\.js)$/.test(path))).toEqual([]);
});

describe.each(checks)('a signature, checked with %s', (_, checkSignature) => {
  it.each(interop)('has the validity that the interoperability tests expect ($comment)', async (one) => {
    const message = Buffer.from(one.messageBase64, 'base64');
    const signature = Buffer.from(one.signatureBase64, 'base64');
    const key = didKey(one.publicKeyDid);
    expect(await checkSignature({ message, signature }, key)).toBe(one.validSignature);
    expect(parseLabelKey(one.didDocSuite, one.publicKeyMultibase)).toEqual(key);
  });

  it.each(vectors)('is refused in its high-S form, although it is mathematically valid ($name)', async (vector) => {
    const key = didKey(vector.signing_key);
    const order =
      key.curve === 'k256'
        ? 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
        : 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
    const signature = Buffer.from(vector.label.sig.$bytes, 'base64');
    const s = BigInt(`0x${signature.subarray(32).toString('hex')}`);
    const high = Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex');
    const $bytes = Buffer.concat([signature.subarray(0, 32), high]).toString('base64');
    expect(await valid({ ...vector.label, sig: { $bytes } }, key)).toBe(false);
  });

  it('is invalid, without an exception, if the key or the numbers are invalid', async () => {
    const message = Buffer.from('x');
    const signature = Buffer.alloc(64);
    const key = didKey(vectors[0]?.signing_key ?? '');
    expect(await checkSignature({ message, signature }, key)).toBe(false);
    expect(await checkSignature({ message, signature }, { curve: 'k256', point: 'zz' })).toBe(false);
    expect(await checkSignature({ message, signature }, { curve: 'p256', point: `02${'ff'.repeat(32)}` })).toBe(false);
  });
});
