/**
 * Artifact readings. An attempt to open an artifact has one of five results; only a readable artifact can be published.
 */

/** A failure to read an artifact, described for the operator's log without quoting the artifact's content. */
interface Fault {
  readonly why: string;
}

/** The artifact does not exist. */
export interface Missing extends Fault {
  readonly kind: 'missing';
}

/**
 * The artifact exists but cannot be read, for example because of its permissions or size, or because its URL cannot be
 * reached.
 */
export interface Unreadable extends Fault {
  readonly kind: 'unreadable';
}

/** The bytes are not JSON that matches a known schema; `pointer` (RFC 6901) locates the first error. */
export interface Malformed extends Fault {
  readonly kind: 'malformed';
  readonly pointer: string;
  /**
   * Schema that the artifact names; null if the bytes are not JSON, or if the error is in a line of the labelers
   * artifact.
   */
  readonly schema: string | null;
}

/** The JSON value does not name a schema that is known for this instrument. */
export interface UnknownSchema extends Fault {
  readonly kind: 'unknown_schema';
}

/** Every part of the artifact that can be published matches its schema. */
export interface Readable<A> {
  readonly kind: 'readable';
  readonly artifact: A;
  /** SHA-256 of the artifact's bytes in hexadecimal digits; equal on every node that reads the same bytes. */
  readonly digest: string;
  /** Modification time of the artifact, in milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** Reading without a publishable artifact. */
export type Refusal = Missing | Unreadable | Malformed | UnknownSchema;

/** Result of opening an artifact of type `A`. */
export type Reading<A> = Readable<A> | Refusal;

/** Result of detecting the schema of a parsed JSON value. */
export type Recognised<A> = { readonly kind: 'recognised'; readonly artifact: A } | Malformed | UnknownSchema;

/** Detects the schema of an instrument's artifact from its content alone and checks every part that is published. */
export type Recogniser<A> = (value: unknown) => Recognised<A>;

/** A source of an artifact that is read at every request, so a read must be cheap. */
export interface ArtifactSource<A> {
  /** Returns the current reading of the artifact, which is the same object until the artifact changes. */
  read(): Reading<A>;
  /**
   * Starts the background work. Resolves after the first attempt to read the artifact, or earlier if that attempt
   * takes too long.
   */
  start(): Promise<void>;
  /** Stops the background work of the source. */
  stop(): Promise<void>;
}

/** Called with the first reading and with every change, for the log. */
export type ReadingObserver<A> = (reading: Reading<A>) => void;
