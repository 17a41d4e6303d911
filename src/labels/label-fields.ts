import { encode, fromBytes, isBytes } from '@atcute/cbor';
import { type ReceivedLabel, unfit } from '../store/label.ts';

/** Longest `val`, in bytes (lexicon). */
export const maxValueBytes = 128;

/** Fields of a label that the lexicon names. */
export const labelFields: ReadonlySet<string> = new Set([
  'ver',
  'src',
  'uri',
  'cid',
  'val',
  'neg',
  'cts',
  'exp',
  'sig',
]);

/** The label's fields, present or absent as they were, or why it is none. */
export function readLabel(value: Readonly<Record<string, unknown>>): ReceivedLabel | 'malformed' | 'oversized' {
  const { ver, src, uri, cid, val, neg, cts, exp } = value;
  if (typeof src !== 'string' || typeof uri !== 'string' || typeof val !== 'string') return 'malformed';
  if (!optional(ver, 'number') || !optional(cid, 'string') || !optional(neg, 'boolean') || !optional(exp, 'string')) {
    return 'malformed';
  }
  if (Buffer.byteLength(val) > maxValueBytes) return 'oversized';
  const sig = readSignature(value.sig);
  const extra = readExtra(value);
  if (sig === null || extra === null) return 'malformed';
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

/** Bytes of a CBOR frame, or the `$bytes` of JSON: one class in the decoder, so one way to read both. */
function readSignature(value: unknown): Uint8Array | undefined | null {
  if (value === undefined) return undefined;
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  if (!isBytes(value)) return null;
  try {
    // Copied: what a frame gave shares the frame's memory.
    return Uint8Array.from(fromBytes(value));
  } catch {
    return null;
  }
}

/** The fields that the lexicon does not name, as DAG-CBOR: the signature covers them too. */
function readExtra(value: Readonly<Record<string, unknown>>): Uint8Array | undefined | null {
  const names = Object.keys(value).filter((name) => !labelFields.has(name));
  if (names.length === 0) return undefined;
  try {
    return encode(Object.fromEntries(names.map((name) => [name, value[name]])));
  } catch {
    return null;
  }
}

function optional<T extends 'number' | 'string' | 'boolean'>(
  value: unknown,
  type: T,
): value is undefined | { number: number; string: string; boolean: boolean }[T] {
  return value === undefined || typeof value === type;
}

/** Whether a decoded value has fields at all. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
