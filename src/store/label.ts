import { hash } from 'node:crypto';
import { splitUri } from './subject.ts';

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

export { type SignatureVerdict, signatureVerdicts } from '../contract/vocabulary.ts';

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
