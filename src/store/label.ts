/**
 * A label as its labeler sent it. A field that was absent is absent here: the signature covers the fields as they
 * were, so `neg: false` and no `neg` are two different labels to a verifier (and one to our identity).
 */
export interface ReceivedLabel {
  readonly ver?: number;
  /** DID of the labeler. */
  readonly src: string;
  /** What the label is about: a DID, or an AT-URI whose authority is a DID. */
  readonly uri: string;
  readonly cid?: string;
  readonly val: string;
  readonly neg?: boolean;
  /** When the labeler says that it made the label, verbatim. */
  readonly cts: string;
  readonly exp?: string;
  readonly sig?: Uint8Array;
  /** Fields that the lexicon does not name, in the reader's own encoding; opaque here. */
  readonly extra?: Uint8Array;
}

/** What was found when the label's signature was checked; `unverified` when no key could be had. */
export const signatureVerdicts = ['verified', 'invalid', 'unsigned', 'unverified'] as const;
export type SignatureVerdict = (typeof signatureVerdicts)[number];

/** Most bytes of one label in the store; admission refuses larger ones as oversized. */
export const maxLabelBytes = 16 * 1024;

/** An upper bound on the bytes that a label takes, without encoding it. */
export function labelBytes(label: ReceivedLabel): number {
  const text = label.src.length + label.uri.length + label.val.length + label.cts.length;
  const optional = (label.cid?.length ?? 0) + (label.exp?.length ?? 0);
  // Three bytes are the most that UTF-8 needs for one UTF-16 unit.
  return 3 * (text + optional) + (label.sig?.length ?? 0) + (label.extra?.length ?? 0);
}
