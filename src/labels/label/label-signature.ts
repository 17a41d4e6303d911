import { BytesWrapper, encode, fromBytes, isBytes } from '@atcute/cbor';
import { labelFields } from './label-fields.ts';

/** A label as it came, from JSON or CBOR: every field that was there, and none that was not. */
export type ReceivedLabel = Readonly<Record<string, unknown>>;

/** Signature fields of a label, before any key is looked up. */
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
 * omits `neg`, another signs `neg: false`, and unknown fields are signed too, or were added later: a
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
