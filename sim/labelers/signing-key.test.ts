import { parsePublicMultikey, verifySig } from '@atcute/crypto';
import { expect, it } from 'vitest';
import { SigningKey } from './signing-key.ts';

const bytes = new TextEncoder().encode('a label');

it.each(['k256', 'p256'] as const)(
  'signatures are valid and deterministic, and each has a high-S counterpart (%s)',
  async (curve) => {
    const key = new SigningKey(curve, 'one');
    const found = parsePublicMultikey(await key.multikey());
    const verifies = (signature: Uint8Array, options = {}) =>
      verifySig(found, new Uint8Array(signature), new Uint8Array(bytes), options);
    expect(key.sign(bytes)).toEqual(new SigningKey(curve, 'one').sign(bytes));
    expect(await verifies(key.sign(bytes))).toBe(true);
    expect(await verifies(new SigningKey(curve, 'other').sign(bytes))).toBe(false);
    const twin = key.sign(bytes, { highS: true });
    expect([await verifies(twin), await verifies(twin, { allowMalleableSig: true })]).toEqual([false, true]);
  },
);
