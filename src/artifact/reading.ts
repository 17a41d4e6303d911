/**
 * Artifact readings. The attempt to open an artifact has one of five results, and only one of them can be published.
 */

/**
 * A failure to read an artifact, described for the operator's log. The description never contains the artifact's
 * content.
 */
interface Fault {
  readonly why: string;
}

/** Fault: the artifact does not exist. */
export interface Missing extends Fault {
  readonly kind: 'missing';
}

/**
 * Fault: the artifact exists but cannot be read, for example because of missing permissions, its size, or an
 * unreachable address.
 */
export interface Unreadable extends Fault {
  readonly kind: 'unreadable';
}

/** Fault: the bytes are not JSON that matches a known schema; `pointer` (RFC 6901) locates the first error. */
export interface Malformed extends Fault {
  readonly kind: 'malformed';
  readonly pointer: string;
  /** The schema that the artifact names, or null if the bytes are not JSON. */
  readonly schema: string | null;
}

/** Fault: the JSON value names a schema that is not known for this instrument. */
export interface UnknownSchema extends Fault {
  readonly kind: 'unknown_schema';
}

/** A reading that succeeded: every part that can be published matches its schema. */
export interface Readable<A> {
  readonly kind: 'readable';
  readonly artifact: A;
  /** SHA-256 of the artifact's bytes, in hex: equal on every node that reads the same bytes. */
  readonly digest: string;
  /** Modification time of the artifact, in milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** A result without a publishable artifact. */
export type Refusal = Missing | Unreadable | Malformed | UnknownSchema;

/** The result of opening an artifact of type `A`. */
export type Reading<A> = Readable<A> | Refusal;

/** The result of detecting the schema of one parsed JSON value. */
export type Recognised<A> = { readonly kind: 'recognised'; readonly artifact: A } | Malformed | UnknownSchema;

/** Detects the schema of an instrument's artifact from its content alone and checks every part that is published. */
export type Recogniser<A> = (value: unknown) => Recognised<A>;
