import { createECDH, generateKeyPairSync, hash, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { createSignatureCheck, derSignature } from './signature-check.ts';

const curves = {
  k256: { name: 'secp256k1', order: 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n },
  p256: { name: 'prime256v1', order: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n },
} as const;

const message = Buffer.from('a label');
const digest = BigInt(`0x${hash('sha256', message, 'hex')}`);

function inverse(value: bigint, order: bigint): bigint {
  let [result, base] = [1n, value];
  for (let power = order - 2n; power > 0n; power >>= 1n) {
    if (power & 1n) result = (result * base) % order;
    base = (base * base) % order;
  }
  return result;
}

const bytesOf = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');

/** Creates a signature whose second number is `s`, and computes a matching key from the signature. */
function signatureWith(curve: keyof typeof curves, s: bigint) {
  const { name, order } = curves[curve];
  const nonce = 123_456_789n;
  const ecdh = createECDH(name);
  ecdh.setPrivateKey(bytesOf(nonce));
  const r = BigInt(`0x${ecdh.getPublicKey('hex', 'uncompressed').slice(2, 66)}`) % order;
  const secret = ((((s * nonce - digest) % order) + order) * inverse(r, order)) % order;
  ecdh.setPrivateKey(bytesOf(secret));
  const key = { curve, point: ecdh.getPublicKey('hex', 'compressed') };
  return { signed: { message, signature: Buffer.concat([bytesOf(r), bytesOf(s)]) }, key };
}

describe.each(['k256', 'p256'] as const)('a signature with a %s key', (curve) => {
  const half = curves[curve].order / 2n;

  test.each([
    ['1', 1n, true],
    ['half of the order', half, true],
    ['one more than half of the order', half + 1n, false],
    ['one less than the order', curves[curve].order - 1n, false],
  ])('is valid if and only if its S is at most half of the order: %s (%s)', async (_, s, valid) => {
    const check = createSignatureCheck(() => null);
    const { signed, key } = signatureWith(curve, s);
    expect(await check(signed, key)).toBe(valid);
    expect(await check({ ...signed, message: Buffer.from('another') }, key)).toBe(false);
  });
});

it('a decoded key keeps 65 bytes in memory, not a pooled buffer', async () => {
  const points: Uint8Array[] = [];
  const check = createSignatureCheck(() => (_signature, _digest, point) => points.push(point) > 0);
  const { signed, key } = signatureWith('k256', 2n);
  expect(await check(signed, key)).toBe(true);
  expect(points.map(({ length, buffer }) => [length, buffer.byteLength])).toEqual([[65, 65]]);
});

test.each(['k256', 'p256'] as const)(
  'no signature is valid for a %s key whose point is not on the curve',
  async (curve) => {
    const { signed, key } = signatureWith(curve, 2n);
    const off = { ...key, point: `02${'f'.repeat(64)}` };
    expect(await createSignatureCheck(() => () => true)(signed, off)).toBe(false);
    expect(await createSignatureCheck(() => null)(signed, off)).toBe(false);
  },
);

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
/** Generates edge cases of a number: leading zeros, a high first bit after zeros, and only zeros. */
const edges = fc.tuple(fc.integer({ min: 0, max: 32 }), bytes32).map(([zeros, bytes]) => bytes.fill(0, 0, zeros));

it('a DER signature contains the two numbers of the original signature in their shortest positive form', () => {
  fc.assert(
    fc.property(fc.oneof(bytes32, edges), fc.oneof(bytes32, edges), (r, s) => {
      const der = Buffer.from(derSignature(Buffer.concat([r, s])));
      const rEnd = 4 + der.readUInt8(3);
      const numbers = [der.subarray(4, rEnd), der.subarray(rEnd + 2)];
      expect([...der.subarray(0, 3), der.readUInt8(rEnd)]).toEqual([0x30, der.length - 2, 0x02, 0x02]);
      expect(der.readUInt8(rEnd + 1)).toBe(der.length - rEnd - 2);
      for (const [at, number] of numbers.entries()) {
        expect(BigInt(`0x${number.toString('hex')}`)).toBe(
          BigInt(`0x${Buffer.from(at === 0 ? r : s).toString('hex')}`),
        );
        expect(number.readUInt8(0)).toBeLessThan(0x80);
        if (number.length > 1 && number.readUInt8(0) === 0) expect(number.readUInt8(1)).toBeGreaterThanOrEqual(0x80);
      }
    }),
  );
});

it('a signature of OpenSSL is still valid after its conversion from 64 bytes to DER', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  for (let n = 0; n < 300; n += 1) {
    const message = Buffer.from(String(n));
    const raw = sign('sha256', message, { key: privateKey, dsaEncoding: 'ieee-p1363' });
    expect(verify('sha256', message, publicKey, derSignature(raw))).toBe(true);
  }
});
