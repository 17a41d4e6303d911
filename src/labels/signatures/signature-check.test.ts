import { createECDH, hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createSignatureCheck } from './signature-check.ts';

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
