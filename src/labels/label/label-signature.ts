import { BytesWrapper, encode, fromBytes, isBytes } from '@atcute/cbor';
import { inLexiconForm, labelFields } from './label-fields.ts';

/** A label as received in JSON or CBOR, with exactly the fields that were received. */
export type ReceivedLabel = Readonly<Record<string, unknown>>;

/** Result of separating a label from its signature. */
export type SignedLabel =
  | {
      readonly kind: 'signed';
      readonly message: Uint8Array;
      /**
       * Other messages that the labeler may have signed: without the fields that the lexicon does not name, with all
       * fields in the form of the lexicon, and without a `neg` that another form of false stands for.
       */
      readonly others: readonly Uint8Array[];
      readonly signature: Uint8Array;
    }
  | { readonly kind: 'unsigned' }
  /** The signature or the signed value has a form that no key could have signed. */
  | { readonly kind: 'malformed' };

const signatureLength = 64;

/**
 * Separates a label from its signature and returns both, or `unsigned` or `malformed` if there is no usable signature.
 * The signed message is the DAG-CBOR of all other fields as received: one labeler omits `neg`, and another signs `neg:
 * false`. Unknown fields may be signed, or added after signing: a skyware labeler includes its row number in the labels
 * of a page. A serializer may write fields in another form than the one that was signed, such as null for an absent
 * field.
 */
export function separateSignature(label: ReceivedLabel): SignedLabel {
  const { sig, ...signed } = label;
  if (sig === undefined || sig === null || sig === '') return { kind: 'unsigned' };
  try {
    const signature = bytesOf(sig);
    if (signature?.length !== signatureLength) return { kind: 'malformed' };
    const others: Uint8Array[] = [];
    // Most labels have no other fields, and are not copied.
    const hasOthers = Object.keys(signed).some((name) => !labelFields.has(name));
    const known = hasOthers
      ? Object.fromEntries(Object.entries(signed).filter(([name]) => labelFields.has(name)))
      : signed;
    if (hasOthers) others.push(encode(known));
    const formed = inLexiconForm(known);
    if (formed !== known) others.push(encode(formed));
    // A serializer that writes numbers as `neg` writes 0 for an absent one, which the labeler did not sign.
    if (formed.neg === false && known.neg !== false) {
      const { neg: _, ...unnegated } = formed;
      others.push(encode(unnegated));
    }
    return { kind: 'signed', message: encode(signed), others, signature };
  } catch {
    // The signature is not base64, or the label is not representable in DAG-CBOR: numbers out of range, excessive
    // nesting.
    return { kind: 'malformed' };
  }
}

/**
 * Returns the bytes of a value in the data model: `{"$bytes": base64}` in JSON, with or without padding, or the
 * equivalent value from CBOR. Returns null for any other value.
 */
function bytesOf(value: unknown): Uint8Array | null {
  if (!isBytes(value)) return null;
  const tooLong = !(value instanceof BytesWrapper) && value.$bytes.length > 2 * signatureLength;
  return tooLong ? null : fromBytes(value);
}
