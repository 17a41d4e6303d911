/** Artifact readings: the result of opening an artifact is one of five kinds, and only one of them can be published. */

/** A fault of an artifact's bytes, in words for the operator's log; it never holds the artifact's content. */
interface Fault {
  readonly why: string;
}

/** There is no artifact at that place. */
export interface Missing extends Fault {
  readonly kind: 'missing';
}

/** There is something, but its bytes cannot be had: no permission, no file, too large, an unreachable address. */
export interface Unreadable extends Fault {
  readonly kind: 'unreadable';
}

/** The bytes are no JSON of a known schema's shape; `pointer` (RFC 6901) names the first fault. */
export interface Malformed extends Fault {
  readonly kind: 'malformed';
  readonly pointer: string;
  /** The schema that it claims; null when the bytes are no JSON value at all. */
  readonly schema: string | null;
}

/** One JSON value, but of no schema that this instrument is known to write. */
export interface UnknownSchema extends Fault {
  readonly kind: 'unknown_schema';
}

/** The artifact was read whole, and every part of it that is ever published has the right shape. */
export interface Readable<A> {
  readonly kind: 'readable';
  readonly artifact: A;
  /** SHA-256 of the artifact's bytes, in hex: the same on every node that reads the same bytes. */
  readonly digest: string;
  /** Modification time of the artifact, in milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** A refusal: why there is nothing to publish. */
export type Refusal = Missing | Unreadable | Malformed | UnknownSchema;

/** The result of opening an artifact of type `A`. */
export type Reading<A> = Readable<A> | Refusal;

/** The result of detecting the schema of one parsed JSON value. */
export type Recognised<A> = { readonly kind: 'recognised'; readonly artifact: A } | Malformed | UnknownSchema;

/** Recognises an instrument's artifact by content alone and checks every part of it that is published. */
export type Recogniser<A> = (value: unknown) => Recognised<A>;
