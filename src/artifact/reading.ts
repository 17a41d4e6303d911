import { createHash } from 'node:crypto';
import { type JsonLimits, scanJson } from '../input/json-budget.ts';
import { inputLimits } from '../input/limits.ts';

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

/** Maximum nesting depth of arrays and objects in an artifact; the known schemas need a depth of 5. */
export const maxDepth = inputLimits.artifact.depth;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes bytes into a reading. The bytes must be strict UTF-8 and one JSON value within `limits`, `recognise` must
 * accept the value, and no key of the outermost object may occur twice. If a rule is violated, the reading states the
 * error. The caller must limit the number of bytes.
 */
export function decodeArtifact<A>(
  bytes: Uint8Array,
  modifiedAt: number,
  recognise: Recogniser<A>,
  limits: JsonLimits = inputLimits.artifact,
): Reading<A> {
  const value = parseJson(bytes, limits);
  if (value.kind === 'malformed') return value;
  const recognised = recognise(value.json);
  if (recognised.kind !== 'recognised') return recognised;
  return {
    kind: 'readable',
    artifact: recognised.artifact,
    digest: createHash('sha256').update(bytes).digest('hex'),
    modifiedAt,
  };
}

function parseJson(bytes: Uint8Array, limits: JsonLimits): { kind: 'json'; json: unknown } | Malformed {
  if (bytes.length === 0) return fault('the artifact is empty');
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return fault('the artifact is not valid UTF-8');
  }
  const shape = scanJson(bytes, limits);
  if (shape.fault === 'too_deep') return fault(`the artifact is nested deeper than ${limits.depth} levels`);
  if (shape.fault !== null) return fault('the artifact has more values, fields or digits than allowed');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return fault('the artifact is not a single JSON value');
  }
  return repeatedTopLevelKey(text) === null ? { kind: 'json', json } : fault('a top-level key occurs twice');
}

function fault(why: string): Malformed {
  return { kind: 'malformed', pointer: '', schema: null, why };
}

/**
 * Returns a top-level key that occurs twice in a JSON object; null if there is none. JSON parsers differ in which of
 * the two values they use, so two readers could interpret the same artifact differently. `JSON.parse` must already have
 * accepted the text.
 */
export function repeatedTopLevelKey(text: string): string | null {
  const seen = new Set<string>();
  let depth = 0;
  let isKey = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      if (depth === 1 && isKey) {
        const key: unknown = JSON.parse(text.slice(at, end));
        if (typeof key === 'string') {
          if (seen.has(key)) return key;
          seen.add(key);
        }
        isKey = false;
      }
      at = end - 1;
    } else if (character === '{') {
      depth++;
      isKey = depth === 1;
    } else if (character === '[') {
      depth++;
      // An array at the top level has no keys.
      if (depth === 1) return null;
    } else if (character === '}' || character === ']') depth--;
    else if (character === ',' && depth === 1) isKey = true;
  }
  return null;
}

/** Returns the index after the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}
