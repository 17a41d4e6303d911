import { hash } from 'node:crypto';
import type { TargetKind } from '../contract/vocabulary.ts';

/**
 * A label as its labeler sent it. Absent fields stay absent, because the signature covers the fields as sent. For
 * example, a label with `neg: false` and a label without `neg` have the same identity but different signatures.
 */
export interface ReceivedLabel {
  readonly ver?: number;
  /** DID of the labeler. */
  readonly src: string;
  /** Subject of the label: a DID, or an AT-URI whose authority is a DID. */
  readonly uri: string;
  readonly cid?: string;
  readonly val: string;
  readonly neg?: boolean;
  /** Creation time that the labeler claims, verbatim. */
  readonly cts: string;
  readonly exp?: string;
  readonly sig?: Uint8Array;
  /** Fields that the lexicon does not define, encoded by the reader of the labeler. Opaque to the store. */
  readonly extra?: Uint8Array;
}

/** Maximum size of a stored label, in bytes. Admission refuses a larger label as oversized. */
export const maxLabelBytes = 16 * 1024;

/** Maximum length of a collection name (an AT Protocol NSID) in bytes. */
const maxCollectionBytes = 317;

/** Returns the total size of a label's strings, signature and `extra` in bytes. */
export function labelBytes(label: ReceivedLabel): number {
  const { src, uri, cid = '', val, cts, exp = '', sig, extra } = label;
  const longTexts = Buffer.byteLength(src) + Buffer.byteLength(uri) + Buffer.byteLength(val) + Buffer.byteLength(cts);
  const optionalTexts = (cid === '' ? 0 : Buffer.byteLength(cid)) + (exp === '' ? 0 : Buffer.byteLength(exp));
  return longTexts + optionalTexts + (sig?.length ?? 0) + (extra?.length ?? 0);
}

/**
 * Returns the reason why the store cannot hold a label, or null if it can. Admission applies the same check, so that
 * a batch is never refused because of a single label. A label is `malformed` if its uri contains no DID, if its
 * collection name is too long, if a text is not valid Unicode (the stored text would differ), or if `ver` is not an
 * integer. `bytes` is the result of `labelBytes`, if the caller knows it.
 */
export function unfit(label: ReceivedLabel, bytes = labelBytes(label)): 'malformed' | 'oversized' | null {
  if (bytes > maxLabelBytes) return 'oversized';
  const parts = splitUri(label.uri);
  if (parts === null) return 'malformed';
  // A day stores collection names in a separate table, so their length has a separate limit.
  if (parts.kind === 'record' && Buffer.byteLength(parts.collection) > maxCollectionBytes) return 'malformed';
  if (label.ver !== undefined && !Number.isSafeInteger(label.ver)) return 'malformed';
  const { src, uri, cid = '', val, cts, exp = '' } = label;
  const isText =
    src.isWellFormed() &&
    uri.isWellFormed() &&
    val.isWellFormed() &&
    cts.isWellFormed() &&
    cid.isWellFormed() &&
    exp.isWellFormed();
  return isText ? null : 'malformed';
}

/** Length of an identity in bytes. */
export const identityBytes = 16;

/**
 * Returns the label identity: labels with equal src, uri, cid, val, neg, cts and exp are the same observation. The
 * identity excludes the transport, the signature (Ozone signs a label again for each response), `ver`, `extra` and the
 * local clock, so that a label has the same identity whether it arrives in the stream or in a poll.
 */
export function identityOf(label: ReceivedLabel): Buffer {
  return Buffer.from(identityText(label), 'latin1');
}

/**
 * Returns the label identity as a text with one character per byte. The runtime returns a digest as such a text four times
 * as fast as in a buffer.
 */
export function identityText({ src, uri, cid, val, neg, cts, exp }: ReceivedLabel): string {
  const normal = JSON.stringify([src, uri, cid ?? null, val, neg ?? false, cts, exp ?? null]);
  return hash('sha256', `almanac.observation/1\n${normal}`, 'binary').slice(0, identityBytes);
}

/** Maximum length of one bucket of refused rows, in characters. */
export const maxRefusedRowsLength = 4_096;
/** Number of buckets of a source's refused rows. */
export const refusedRowBuckets = 16;

/**
 * One bucket of a source's refused rows. The instrument remembers refused rows so that a row that arrives again is
 * counted only once. A source has up to `refusedRowBuckets` buckets, so that a commit rewrites only some of them.
 */
export interface RefusedRows {
  /** DID of the labeler that was read. */
  readonly source: string;
  /** Number of the bucket, from 0. */
  readonly bucket: number;
  /**
   * Fingerprints and counts in the instrument's encoding: at most `maxRefusedRowsLength` characters, opaque to the
   * store.
   */
  readonly rows: string;
}

/** A change to one bucket of refused rows; if `rows` is null, the bucket is removed. */
export interface RefusedRowsChange {
  readonly source: string;
  readonly bucket: number;
  readonly rows: string | null;
}

/**
 * Parsing of a label's subject: the account that the label is about. A DID and all AT-URIs with that DID have the same
 * subject, so that labels of an account and labels of its records are found together.
 */

/** Parts of a label's `uri`; `joinUri` restores the exact text. */
export type UriParts =
  | { readonly kind: 'account'; readonly did: string }
  | { readonly kind: 'record'; readonly did: string; readonly collection: string; readonly rkey: string }
  /** An AT-URI whose path is not `collection/rkey`; `rest` is the text after the DID. */
  | { readonly kind: 'other'; readonly did: string; readonly rest: string };

const did = /^did:[a-z0-9]+:[A-Za-z0-9._:%-]+$/;
const prefix = 'at://';

/**
 * Splits a label's `uri`; returns null if it contains no DID (for example, an AT-URI with a handle, or a web address).
 */
export function splitUri(uri: string): UriParts | null {
  if (!uri.startsWith(prefix)) return did.test(uri) ? { kind: 'account', did: uri } : null;
  const slash = uri.indexOf('/', prefix.length);
  const authority = slash === -1 ? uri.slice(prefix.length) : uri.slice(prefix.length, slash);
  if (!did.test(authority)) return null;
  const end = slash === -1 ? -1 : uri.indexOf('/', slash + 1);
  // The path of a record has exactly two slashes, and its parts are not empty.
  const isRecord = end > slash + 1 && end < uri.length - 1 && uri.indexOf('/', end + 1) === -1;
  if (!isRecord) return { kind: 'other', did: authority, rest: uri.slice(prefix.length + authority.length) };
  return { kind: 'record', did: authority, collection: uri.slice(slash + 1, end), rkey: uri.slice(end + 1) };
}

/**
 * Returns true for an address inside a space, `at://DID/space/…`. The records of a space are not public, and a
 * published label would reveal that a record exists.
 */
export function isSpaceUri(uri: string): boolean {
  return /^at:\/\/[^/]+\/space(?:\/|$)/.test(uri);
}

/** Joins the parts of a `uri` into the exact original text. */
export function joinUri(parts: UriParts): string {
  if (parts.kind === 'account') return parts.did;
  return parts.kind === 'record'
    ? `${prefix}${parts.did}/${parts.collection}/${parts.rkey}`
    : `${prefix}${parts.did}${parts.rest}`;
}

/** NSID of the collection of posts. */
export const postCollection = 'app.bsky.feed.post';

/** Returns the target kind of a label with this `uri`. An AT-URI that is not a single record counts as a record. */
export function targetOf(uri: string): TargetKind {
  const parts = splitUri(uri);
  if (parts?.kind === 'account') return 'account';
  return parts?.kind === 'record' && parts.collection === postCollection ? 'post' : 'record';
}

/** Compact forms of texts that labels contain. Each form restores the exact text; a text without the form is kept. */

const base32 = 'abcdefghijklmnopqrstuvwxyz234567';
const base32Values = new Int8Array(128).fill(-1);
for (let i = 0; i < base32.length; i++) base32Values[base32.charCodeAt(i)] = i;

/** Length of the bytes of a CID that `packCid` converts. */
export const cidBytes = 36;

/**
 * Decodes the text from index `from` to its end: base32 of RFC 4648 in lower case without padding, as used in DIDs and
 * CIDs. Returns null unless that part is a canonical encoding.
 */
export function decodeBase32(text: string, from: number): Buffer | null {
  const length = text.length - from;
  const bytes = Buffer.allocUnsafe((length * 5) >> 3);
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let i = from; i < text.length; i++) {
    const value = base32Values[text.charCodeAt(i)] ?? -1;
    if (value < 0) return null;
    held = ((held << 5) | value) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = held >> bits;
    }
  }
  // Leftover bits must be zero and fewer than the five bits of a character. Otherwise several texts would decode to the
  // same bytes.
  return bits < 5 && (held & ((1 << bits) - 1)) === 0 ? bytes : null;
}

/** Encodes bytes as base32. */
export function encodeBase32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += base32.charAt((held >> bits) & 31);
    }
  }
  return bits > 0 ? text + base32.charAt((held << (5 - bits)) & 31) : text;
}

/** Converts the base32 text of a CID with 36 bytes to these bytes; returns null for any other text. */
export function packCid(cid: string): Buffer | null {
  if (cid.length !== 59 || !cid.startsWith('b')) return null;
  const bytes = decodeBase32(cid, 1);
  return bytes && bytes.length === cidBytes ? bytes : null;
}

/** Returns the text of a CID that `packCid` converted. */
export function unpackCid(bytes: Uint8Array): string {
  return `b${encodeBase32(bytes)}`;
}

/** Form of a time that is the same after parsing and formatting, apart from the ranges of its numbers. */
const timeForm = '0000-00-00T00:00:00.000Z';
/** First year that `Date.UTC` takes as it is. */
const firstYear = 1000;

/**
 * Returns a time from the year 1000 in milliseconds, or null if formatting the number would not reproduce the exact
 * text. Compares numbers instead of formatting the time, which takes eight times as long.
 */
export function exactMillis(text: string): number | null {
  if (text.length !== timeForm.length) return null;
  for (let i = 0; i < timeForm.length; i++) {
    const code = text.charCodeAt(i);
    const expected = timeForm.charCodeAt(i);
    if (expected === 48 ? code < 48 || code > 57 : code !== expected) return null;
  }
  const year = 100 * digits(text, 0) + digits(text, 2);
  const month = digits(text, 5);
  const day = digits(text, 8);
  const [hour, minute, second] = [digits(text, 11), digits(text, 14), digits(text, 17)];
  if (year < firstYear || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return null;
  if (day > daysIn(year, month)) return null;
  return Date.UTC(year, month - 1, day, hour, minute, second, 10 * digits(text, 20) + text.charCodeAt(22) - 48);
}

/** Returns the number of two digits. */
function digits(text: string, from: number): number {
  return 10 * text.charCodeAt(from) + text.charCodeAt(from + 1) - 11 * 48;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
