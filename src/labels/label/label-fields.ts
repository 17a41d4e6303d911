import { createHash, type Hash } from 'node:crypto';
import { BytesWrapper, encode, fromBytes, isBytes } from '@atcute/cbor';
import { type Micros, parseTimestamp } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-budget.ts';
import { identityOf, maxLabelBytes, type ReceivedLabel, unfit } from '../../store/label.ts';

/** Maximum length of `val` in the lexicon, in bytes. */
export const maxValueBytes = 128;

/** Fields of a label that the lexicon names. */
const labelFields: ReadonlySet<string> = new Set(['ver', 'src', 'uri', 'cid', 'val', 'neg', 'cts', 'exp', 'sig']);

/**
 * Other forms in which serializers write a field and whose meaning is unambiguous: the function returns the form of the
 * lexicon, `undefined` for an absent field, or the value itself.
 */
const forms: Readonly<Record<string, (value: unknown) => unknown>> = {
  ver: (value) => (typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : emptyAsAbsent(value)),
  cid: emptyAsAbsent,
  neg: (value) => (value === 0 || value === 1 ? value === 1 : emptyAsAbsent(value)),
  cts: emptyAsAbsent,
  exp: emptyAsAbsent,
  sig: emptyAsAbsent,
};

function emptyAsAbsent(value: unknown): unknown {
  return value === null || value === '' ? undefined : value;
}

/**
 * Returns a label whose optional fields have the form of the lexicon: null and an empty text are absent, `neg` may be 0
 * or 1, and `ver` a decimal number as text. Returns the label itself if all fields already have that form.
 */
function inLexiconForm(label: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let changed: Record<string, unknown> | null = null;
  for (const name in forms) {
    if (label[name] === undefined) continue;
    const value = forms[name]?.(label[name]);
    if (value === label[name]) continue;
    changed ??= { ...label };
    if (value === undefined) delete changed[name];
    else changed[name] = value;
  }
  return changed ?? label;
}

/**
 * Returns the label's fields in the form of the lexicon, without defaults for absent fields, or the reason why the value
 * is not a label.
 */
export function readLabel(received: Readonly<Record<string, unknown>>): ReceivedLabel | 'malformed' | 'oversized' {
  const value = inLexiconForm(received);
  const { ver, src, uri, cid, val, neg, cts, exp } = value;
  if (typeof src !== 'string' || typeof uri !== 'string' || typeof val !== 'string') return 'malformed';
  if (!optional(ver, 'number') || !optional(cid, 'string') || !optional(neg, 'boolean') || !optional(exp, 'string')) {
    return 'malformed';
  }
  if (Buffer.byteLength(val) > maxValueBytes) return 'oversized';
  const sig = readSignature(value.sig);
  if (typeof sig === 'string') return sig;
  const extra = readExtra(value);
  if (typeof extra === 'string') return extra;
  const fields = {
    ...(ver === undefined ? {} : { ver }),
    src,
    uri,
    ...(cid === undefined ? {} : { cid }),
    val,
    ...(neg === undefined ? {} : { neg }),
    cts: typeof cts === 'string' ? cts : '',
    ...(exp === undefined ? {} : { exp }),
    ...(sig === undefined ? {} : { sig }),
    ...(extra === undefined ? {} : { extra }),
  };
  return unfit(fields) ?? fields;
}

/**
 * Returns the bytes of a signature, which is either bytes of a CBOR frame or a `$bytes` object of JSON. Returns
 * undefined if there is no signature or it is empty, or the reason why the signature is invalid.
 */
function readSignature(value: unknown): Uint8Array | undefined | 'malformed' | 'oversized' {
  if (value === undefined) return undefined;
  if (!isBytes(value) && !(value instanceof Uint8Array)) return 'malformed';
  const isText = !(value instanceof Uint8Array || value instanceof BytesWrapper);
  if (isText && value.$bytes.length > 2 * maxLabelBytes) return 'oversized';
  try {
    const bytes = value instanceof Uint8Array ? value : fromBytes(value);
    if (bytes.length === 0) return undefined;
    // Copy the bytes, because decoded values share the frame's memory.
    return bytes.length > maxLabelBytes ? 'oversized' : Uint8Array.from(bytes);
  } catch {
    return 'malformed';
  }
}

/**
 * Encodes the fields that are not in the lexicon as DAG-CBOR, because the signature may cover them too. Returns
 * undefined if there are no such fields, or if they cannot be encoded, for example because a number is too large. A
 * signature over them cannot be checked.
 */
function readExtra(value: Readonly<Record<string, unknown>>): Uint8Array | undefined | 'oversized' {
  const names = Object.keys(value).filter((name) => !labelFields.has(name));
  if (names.length === 0) return undefined;
  const extra = Object.fromEntries(names.map((name) => [name, value[name]]));
  if (roomLeft(extra, maxLabelBytes, maxExtraDepth) < 0) return 'oversized';
  return encoded(extra) ?? undefined;
}

/** Returns the DAG-CBOR of a value, or null if it has none: numbers out of range, excessive nesting, an invalid link. */
function encoded(value: unknown): Uint8Array | null {
  try {
    return encode(value);
  } catch {
    return null;
  }
}

/** Maximum nesting of containers in fields that are not in the lexicon. */
const maxExtraDepth = 32;

/**
 * Returns how many bytes of `room` remain after a value is encoded as DAG-CBOR; the length prefixes are
 * overestimated. A negative result means that the value does not fit. The scan ends as soon as the value does not
 * fit, whereas encoding would allocate memory for all of it.
 */
function roomLeft(value: unknown, room: number, depth: number): number {
  let left = room - 1;
  if (left < 0) return left;
  if (typeof value === 'string') return value.length > left ? -1 : left - Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return left;
  if (value instanceof Uint8Array) return left - value.length;
  if (value instanceof BytesWrapper) return left - fromBytes(value).length;
  if (depth === 0) return -1;
  for (const name in value) {
    if (!Array.isArray(value)) left = roomLeft(name, left, 0);
    left = roomLeft((value as Readonly<Record<string, unknown>>)[name], left, depth - 1);
    if (left < 0) return left;
  }
  return left;
}

function optional<T extends 'number' | 'string' | 'boolean'>(
  value: unknown,
  type: T,
): value is undefined | { number: number; string: string; boolean: boolean }[T] {
  return value === undefined || typeof value === type;
}

const withOffset = /^(.+)([+-])(\d{2}):(\d{2})$/;

/**
 * Parses a label's `cts`: RFC 3339 with any offset, because labelers write the offset of their machine. Returns null if
 * the text is not an instant, in which case the label is undated.
 */
export function parseAuthored(text: unknown): Micros | null {
  if (typeof text !== 'string' || text.length > 64) return null;
  const match = withOffset.exec(text);
  if (!match) return parseTimestamp(text);
  const [hours, minutes] = [Number(match[3]), Number(match[4])];
  const local = parseTimestamp(`${match[1]}Z`);
  if (local === null || hours > 23 || minutes > 59) return null;
  const offset = (hours * 60 + minutes) * 60_000_000;
  return (match[2] === '+' ? local - offset : local + offset) as Micros;
}

/** Returns the authored time of a row, or null if the row has no valid time. */
export function authoredOf(row: unknown): Micros | null {
  return isObject(row) ? parseAuthored(row.cts) : null;
}

/** A label as received in JSON or CBOR, with exactly the fields that were received. */
export type RawLabel = Readonly<Record<string, unknown>>;

/** Result of separating a label from its signature. */
type SignedLabel =
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
 * of a page. If unknown fields cannot be encoded, the message has none of them. A serializer may write fields in another
 * form than the one that was signed, such as null for an absent field.
 */
export function separateSignature(label: RawLabel): SignedLabel {
  const { sig, ...signed } = label;
  if (sig === undefined || sig === null || sig === '') return { kind: 'unsigned' };
  try {
    const signature = bytesOf(sig);
    if (signature?.length === 0) return { kind: 'unsigned' };
    if (signature?.length !== signatureLength) return { kind: 'malformed' };
    const others: Uint8Array[] = [];
    // Most labels have no other fields, and are not copied.
    const hasOthers = Object.keys(signed).some((name) => !labelFields.has(name));
    const known = hasOthers
      ? Object.fromEntries(Object.entries(signed).filter(([name]) => labelFields.has(name)))
      : signed;
    const whole = encoded(signed);
    if (hasOthers && whole !== null) others.push(encode(known));
    const formed = inLexiconForm(known);
    if (formed !== known) others.push(encode(formed));
    // A serializer that writes numbers as `neg` writes 0 for an absent one, which the labeler did not sign.
    if (formed.neg === false && known.neg !== false) {
      const { neg: _, ...unnegated } = formed;
      others.push(encode(unnegated));
    }
    return { kind: 'signed', message: whole ?? encode(known), others, signature };
  } catch {
    // The signature is not base64, or the fields of the lexicon are not representable in DAG-CBOR.
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

/**
 * Returns the fingerprint of one row of a labeler. The fingerprint of a storable label is its label identity; the
 * fingerprint of any other row is a hash of the row without its signature and row number. A row has the same
 * fingerprint in the stream and in a poll, and after it is signed again. To bound the cost, a row that is far larger
 * than any label is hashed only in part.
 */
export function fingerprint(value: unknown): string {
  const label = isObject(value) ? readLabel(value) : 'malformed';
  if (typeof label !== 'string') return identityOf(label).toString('hex');
  const hash = createHash('sha256').update('almanac.row/1\n');
  new RowDigest(hash).add(value, 0);
  return hash.digest('hex').slice(0, 32);
}

/** Maximum depth of hashed values; a deeper value is hashed as an empty object. */
const maxDepth = 8;
/** Maximum number of values of one row that are hashed; a label that can be stored has fewer. */
const maxValues = 4_096;
/**
 * Number of characters that are hashed at each end of a long string, in addition to its length; a multiple of four,
 * so that the ends of base64 text are whole groups.
 */
const endLength = 32_768;

/**
 * Fields that are not hashed: the signature, and the row number that a skyware labeler includes in pages but not in
 * frames.
 */
const unhashedFields: ReadonlySet<string> = new Set(['sig', 'id']);

/**
 * Hashes a row as JSON with sorted keys. Works incrementally, so that the complete text of a row is never in memory.
 */
class RowDigest {
  readonly #hash: Hash;
  #values = 0;

  constructor(hash: Hash) {
    this.#hash = hash;
  }

  add(value: unknown, depth: number): void {
    this.#values += 1;
    if (typeof value === 'string') this.#text(value.length, (from, to) => value.slice(from, to));
    else if (typeof value !== 'object' || value === null)
      this.#raw(value === null ? '{}' : (JSON.stringify(value) ?? 'null'));
    else if (depth > maxDepth || this.#values > maxValues) this.#raw('{}');
    else if (Array.isArray(value)) this.#array(value, depth);
    else if (isBytes(value) || value instanceof Uint8Array) this.#bytes(value);
    else this.#object(value, depth);
  }

  #raw(text: string): void {
    this.#hash.update(text);
  }

  #array(items: readonly unknown[], depth: number): void {
    this.#raw('[');
    for (let i = 0; i < items.length && this.#values <= maxValues; i += 1) {
      if (i > 0) this.#raw(',');
      this.add(items[i], depth + 1);
    }
    this.#raw(']');
  }

  #object(value: object, depth: number): void {
    const isLink = '$link' in value && typeof value.$link === 'string';
    const fields: [string, unknown][] = isLink ? [['$link', value.$link]] : Object.entries(value);
    const counted = fields
      .filter(([name]) => depth > 0 || !unhashedFields.has(name))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    this.#raw('{');
    for (const [i, [name, field]] of counted.entries()) {
      if (this.#values > maxValues) break;
      if (i > 0) this.#raw(',');
      this.#text(name.length, (from, to) => name.slice(from, to));
      this.#raw(':');
      this.add(field, depth + 1);
    }
    this.#raw('}');
  }

  /** Hashes bytes in their JSON form, for values from JSON and from frames. */
  #bytes(value: Uint8Array | { readonly $bytes: string }): void {
    this.#raw('{"$bytes":');
    if (value instanceof Uint8Array || !Object.hasOwn(value, '$bytes')) {
      const bytes = value instanceof Uint8Array ? value : fromBytes(value);
      const { buffer, byteOffset, length } = bytes;
      const from = Buffer.from(buffer, byteOffset, length);
      this.#text(Math.ceil((length * 4) / 3), (start, end) =>
        from
          .subarray((start * 3) / 4, Math.ceil((end * 3) / 4))
          .toString('base64')
          .slice(0, end - start),
      );
    } else {
      const text = value.$bytes;
      let { length } = text;
      while (length > 0 && text.charCodeAt(length - 1) === 0x3d) length -= 1;
      this.#text(length, (start, end) => text.slice(start, end));
    }
    this.#raw('}');
  }

  #text(length: number, slice: (from: number, to: number) => string): void {
    if (length <= 2 * endLength) {
      this.#raw(JSON.stringify(slice(0, length)));
      return;
    }
    const tail = Math.floor((length - endLength) / 4) * 4;
    this.#raw(`${JSON.stringify(slice(0, endLength))}${length}${JSON.stringify(slice(tail, length))}`);
  }
}
