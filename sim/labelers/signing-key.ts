import { createECDH, createHash } from 'node:crypto';
import { P256PrivateKey, Secp256k1PrivateKey } from '@atcute/crypto';

/** Name of an elliptic curve that labelers sign with. */
export type Curve = 'k256' | 'p256';

/** Number of distinct nonces per curve. */
const nonceCount = 32;

const curves = {
  k256: {
    name: 'secp256k1',
    order: 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n,
  },
  p256: {
    name: 'prime256v1',
    order: 0xffff_ffff_0000_0000_ffff_ffff_ffff_ffff_bce6_faad_a717_9e84_f3b9_cac2_fc63_2551n,
  },
} as const;

/** The parts of a signature that depend only on its nonce. */
interface Nonce {
  readonly r: bigint;
  readonly inverse: bigint;
}

const nonces: Record<Curve, Nonce[]> = { k256: [], p256: [] };

/**
 * A labeler's key, derived from a name. Signatures are valid and deterministic. They are cheap to compute because the
 * nonces come from a short list. An attacker could therefore compute the key from two signatures, but the key protects
 * nothing.
 */
export class SigningKey {
  readonly curve: Curve;
  readonly #secret: bigint;
  #multikey: Promise<string> | null = null;

  constructor(curve: Curve, name: string) {
    this.curve = curve;
    this.#secret = scalar(curve, `key ${name}`);
  }

  /**
   * Returns the signature as 64 bytes, r followed by s. With `highS`, returns the malleable twin, which verifiers must
   * refuse.
   */
  sign(bytes: Uint8Array, { highS = false }: { readonly highS?: boolean } = {}): Uint8Array {
    const { order } = curves[this.curve];
    const digest = createHash('sha256').update(bytes).digest();
    const { r, inverse } = nonceFor(this.curve, digest[0] ?? 0);
    const s = (inverse * (BigInt(`0x${digest.toString('hex')}`) + r * this.#secret)) % order;
    const isHigh = s > order / 2n;
    return Buffer.concat([to32(r), to32(isHigh === highS ? s : order - s)]);
  }

  /** Returns the public key as in a DID document: the `publicKeyMultibase` of a Multikey. */
  multikey(): Promise<string> {
    this.#multikey ??= exported(this.curve, this.#secret);
    return this.#multikey;
  }
}

async function exported(curve: Curve, secret: bigint): Promise<string> {
  const key = curve === 'k256' ? Secp256k1PrivateKey : P256PrivateKey;
  return (await key.importRaw(new Uint8Array(to32(secret)))).exportPublicKey('multikey');
}

function nonceFor(curve: Curve, choice: number): Nonce {
  const at = choice % nonceCount;
  const known = nonces[curve][at];
  if (known) return known;
  const secret = scalar(curve, `nonce ${at}`);
  const { order } = curves[curve];
  // A compressed point consists of one sign byte and the x coordinate.
  const x = BigInt(`0x${multiply(curve, secret).subarray(1).toString('hex')}`);
  const made = { r: x % order, inverse: inverted(secret, order) };
  nonces[curve][at] = made;
  return made;
}

function multiply(curve: Curve, secret: bigint): Buffer {
  const pair = createECDH(curves[curve].name);
  pair.setPrivateKey(to32(secret));
  return pair.getPublicKey(null, 'compressed');
}

function scalar(curve: Curve, name: string): bigint {
  const number = BigInt(`0x${createHash('sha256').update(`${curve} ${name}`).digest('hex')}`);
  return (number % (curves[curve].order - 1n)) + 1n;
}

function to32(number: bigint): Buffer {
  return Buffer.from(number.toString(16).padStart(64, '0'), 'hex');
}

function inverted(number: bigint, order: bigint): bigint {
  let [previous, current] = [order, number % order];
  let [before, factor] = [0n, 1n];
  while (current !== 0n) {
    const quotient = previous / current;
    [previous, current] = [current, previous - quotient * current];
    [before, factor] = [factor, before - quotient * factor];
  }
  return ((before % order) + order) % order;
}
