import { generateKeyPairSync, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { derSignature } from './der-signature.ts';

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
