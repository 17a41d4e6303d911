import { ECDH } from 'node:crypto';
import { getPublicKeyFromDidController } from '@atcute/crypto';

/** A public key that labels are signed with. Equal keys are equal values, so it can be stored and compared. */
export interface LabelKey {
  readonly curve: 'k256' | 'p256';
  /** The compressed point in hexadecimal: 66 characters. */
  readonly point: string;
}

/** Longest `publicKeyMultibase` read, in characters; an uncompressed point takes 89. Decoding takes time by the square. */
const maxMultibaseLength = 128;

/**
 * Reads the key of a verification method: `Multikey`, or the two types that older documents have. Null where it is of
 * another kind, or no point of its curve.
 */
export function parseLabelKey(type: string, publicKeyMultibase: string): LabelKey | null {
  if (publicKeyMultibase.length > maxMultibaseLength) return null;
  try {
    const key = getPublicKeyFromDidController({ type, publicKeyMultibase });
    const curve = key.type === 'p256' ? 'p256' : 'k256';
    const name = curve === 'p256' ? 'prime256v1' : 'secp256k1';
    // Also checks that the point lies on the curve.
    const point = ECDH.convertKey(key.publicKeyBytes, name, undefined, 'hex', 'compressed');
    return { curve, point: String(point) };
  } catch {
    return null;
  }
}
