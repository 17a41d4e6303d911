import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { BytesWrapper, encode, fromBytes, isBytes } from '@atcute/cbor';
import type { LabelKey } from '../network/label-key.ts';
import { labelFields } from './label-fields.ts';

/** A label as it came, from JSON or CBOR: every field that was there, and none that was not. */
export type ReceivedLabel = Readonly<Record<string, unknown>>;

/** What a label says of its own signature, before any key is looked at. */
export type SignedLabel =
  | {
      readonly kind: 'signed';
      readonly message: Uint8Array;
      /** The same without fields that the lexicon does not name; null where there are none. */
      readonly plain: Uint8Array | null;
      readonly signature: Uint8Array;
    }
  | { readonly kind: 'unsigned' }
  /** There is a signature, but none that any key could have made: its form, or the form of what it signs. */
  | { readonly kind: 'malformed' };

const signatureLength = 64;

/**
 * Separates a label from its signature. What was signed is the DAG-CBOR of all other fields as they came: one labeler
 * leaves `neg` out where another signs `neg: false`, and fields that nobody knows are signed too, or were added later: a
 * skyware labeler shows its row number on the labels of a page.
 */
export function separateSignature(label: ReceivedLabel): SignedLabel {
  const { sig, ...signed } = label;
  if (sig === undefined) return { kind: 'unsigned' };
  try {
    const signature = bytesOf(sig);
    if (signature?.length !== signatureLength) return { kind: 'malformed' };
    const known = Object.entries(signed).filter(([name]) => labelFields.has(name));
    const plain = known.length < Object.keys(signed).length ? encode(Object.fromEntries(known)) : null;
    return { kind: 'signed', message: encode(signed), plain, signature };
  } catch {
    // No base64, or what DAG-CBOR cannot hold: numbers out of range, nesting without end.
    return { kind: 'malformed' };
  }
}

/** Bytes of the data model: `{"$bytes": base64}` in JSON, with or without padding, and a wrapper of that form from CBOR. */
function bytesOf(value: unknown): Uint8Array | null {
  if (!isBytes(value)) return null;
  const tooLong = !(value instanceof BytesWrapper) && value.$bytes.length > 2 * signatureLength;
  return tooLong ? null : fromBytes(value);
}

/**
 * Checks a signature with a key, off this thread: in libuv's pool, which is as fast as a thread of our own and needs none.
 * ECDSA over SHA-256, 64 bytes, low-S only (AT Protocol, Cryptography).
 */
export async function checkSignature({ message, signature }: SignedMessage, key: LabelKey): Promise<boolean> {
  const object = keyObject(key);
  if (object === null || !isLowS(signature, key.curve)) return false;
  return new Promise((resolve) => {
    verify('sha256', message, { key: object, dsaEncoding: 'ieee-p1363' }, signature, (error, valid) =>
      resolve(!error && valid),
    );
  });
}

/** What there is to check. */
export type SignedMessage = Pick<Extract<SignedLabel, { kind: 'signed' }>, 'message' | 'signature'>;

/** Half the order of each curve, rounded down: S is low up to and including it. */
const halfOrder = {
  k256: Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex'),
  p256: Buffer.from('7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8', 'hex'),
};

function isLowS(signature: Uint8Array, curve: LabelKey['curve']): boolean {
  return signature.length === signatureLength && Buffer.compare(signature.subarray(32), halfOrder[curve]) <= 0;
}

/** DER of a SubjectPublicKeyInfo up to the compressed point, for each curve (RFC 5480). */
const publicKeyPrefix = {
  k256: '3036301006072a8648ce3d020106052b8104000a032200',
  p256: '3039301306072a8648ce3d020106082a8648ce3d030107032200',
};

/** Made keys by curve and point: making one costs about as much as a check. */
const made = new Map<string, KeyObject | null>();
const maxMade = 8192;

function keyObject({ curve, point }: LabelKey): KeyObject | null {
  const name = `${curve} ${point}`;
  const known = made.get(name);
  if (known !== undefined) return known;
  if (made.size >= maxMade) made.clear();
  const object = makeKey(curve, point);
  made.set(name, object);
  return object;
}

/** Null where the point is none of its curve, however it came here. */
function makeKey(curve: LabelKey['curve'], point: string): KeyObject | null {
  try {
    return createPublicKey({
      key: Buffer.from(publicKeyPrefix[curve] + point, 'hex'),
      format: 'der',
      type: 'spki',
    });
  } catch {
    return null;
  }
}
