import { ECDH } from 'node:crypto';
import { getPublicKeyFromDidController } from '@atcute/crypto';

/** A public key of label signatures. Equal keys have equal values, so a key can be stored and compared. */
export interface LabelKey {
  readonly curve: 'k256' | 'p256';
  /** Compressed curve point in hexadecimal: 66 characters. */
  readonly point: string;
}

/**
 * Maximum length of a `publicKeyMultibase` in characters; an uncompressed point has 89. Decoding takes quadratic time.
 */
const maxMultibaseLength = 128;

/**
 * Parses the key of a verification method: `Multikey`, or one of the two types of older documents. Returns null if the
 * key is of another type, is too long, or is not a point of its curve.
 */
export function parseLabelKey(type: string, publicKeyMultibase: string): LabelKey | null {
  if (publicKeyMultibase.length > maxMultibaseLength) return null;
  try {
    const key = getPublicKeyFromDidController({ type, publicKeyMultibase });
    const curve = key.type === 'p256' ? 'p256' : 'k256';
    const name = curve === 'p256' ? 'prime256v1' : 'secp256k1';
    // `convertKey` also verifies that the point is on the curve.
    const point = ECDH.convertKey(key.publicKeyBytes, name, undefined, 'hex', 'compressed');
    return { curve, point: String(point) };
  } catch {
    return null;
  }
}
