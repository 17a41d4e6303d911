import { splitUri } from './subject.ts';

/**
 * A label as its labeler sent it. A field that was absent is absent here: the signature covers the fields as they
 * were, so `neg: false` and no `neg` are two different labels to a verifier (and one to our identity).
 */
export interface ReceivedLabel {
  readonly ver?: number;
  /** DID of the labeler. */
  readonly src: string;
  /** The label's subject: a DID, or an AT-URI whose authority is a DID. */
  readonly uri: string;
  readonly cid?: string;
  readonly val: string;
  readonly neg?: boolean;
  /** Creation time that the labeler claims, verbatim. */
  readonly cts: string;
  readonly exp?: string;
  readonly sig?: Uint8Array;
  /** Fields that the lexicon does not name, in the reader's own encoding; opaque here. */
  readonly extra?: Uint8Array;
}

export { type SignatureVerdict, signatureVerdicts } from '../contract/vocabulary.ts';

/** Most bytes of one label in the store; admission refuses larger ones as oversized. */
export const maxLabelBytes = 16 * 1024;

/** Longest name of a collection, in bytes (AT Protocol, NSID). */
const maxCollectionBytes = 317;

/** Bytes of a label's fields. */
export function labelBytes(label: ReceivedLabel): number {
  let bytes = (label.sig?.length ?? 0) + (label.extra?.length ?? 0);
  for (const text of texts(label)) bytes += Buffer.byteLength(text);
  return bytes;
}

/**
 * Why the store cannot hold a label: admission asks first, refuses the label under that reason, and so never has a
 * batch refused for it. `malformed`: its uri names no DID, or a collection longer than any, a text is no Unicode (it would not come back as it was),
 * `ver` is no integer.
 */
export function unfit(label: ReceivedLabel): 'malformed' | 'oversized' | null {
  if (labelBytes(label) > maxLabelBytes) return 'oversized';
  const parts = splitUri(label.uri);
  if (parts === null) return 'malformed';
  // A day keeps each collection's name apart, so that it must not be as long as a label.
  if (parts.kind === 'record' && Buffer.byteLength(parts.collection) > maxCollectionBytes) return 'malformed';
  if (label.ver !== undefined && !Number.isSafeInteger(label.ver)) return 'malformed';
  return texts(label).every((text) => text.isWellFormed()) ? null : 'malformed';
}

function texts({ src, uri, cid, val, cts, exp }: ReceivedLabel): string[] {
  const all = [src, uri, val, cts];
  if (cid !== undefined) all.push(cid);
  if (exp !== undefined) all.push(exp);
  return all;
}
