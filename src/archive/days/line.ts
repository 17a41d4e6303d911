import { createHash } from 'node:crypto';
import { scanJson } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import { hourOf } from './calendar.ts';
import { parsedObject } from './json.ts';

/**
 * Why an hour has no response. `unusable`: the body is not UTF-8, or a long text that is not JSON of the usual shape.
 * `withheld`: the privacy scan found an identity in the body.
 */
export const failureReasons = ['unreachable', 'too_large', 'unusable', 'withheld'] as const;
export type FailureReason = (typeof failureReasons)[number];

/** A response as it was served. */
export interface ServedResponse {
  readonly status: number;
  readonly body: Uint8Array;
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** One line of an archived file: the response of one hour, or the reason for its absence. */
export type ArchivedLine = ArchivedResponse | ArchivedFailure;

/** The response of one hour. */
export interface ArchivedResponse {
  readonly kind: 'response';
  readonly hour: string;
  readonly at: string;
  readonly status: number;
  /** The body as text, byte for byte. */
  readonly text: string;
}

/** An hour without a response. */
export interface ArchivedFailure {
  readonly kind: 'failure';
  readonly hour: string;
  readonly at: string;
  readonly failure: FailureReason;
}

const bodyKey = ',"body":';
/** Maximum length of a body that is not a JSON object, such as the error page of a proxy, in characters. */
const maxTextLength = 65_536;

/**
 * Formats the line of a response. A body that is one JSON object on one line is embedded byte for byte; any other text is
 * a JSON string in `text`. Null if the body is unusable.
 */
export function formatResponse(path: string, at: number, served: ServedResponse): string | null {
  const text = decoded(served.body);
  if (text === null) return null;
  const head = JSON.stringify({
    hour: hourOf(at),
    at: new Date(at).toISOString(),
    path,
    status: served.status,
    etag: served.etag,
    last_modified: served.lastModified,
    sha256: createHash('sha256').update(served.body).digest('hex'),
  }).slice(0, -1);
  if (isObjectOnOneLine(text, served.body)) return `${head}${bodyKey}${text}}\n`;
  return text.length > maxTextLength ? null : `${head},"text":${JSON.stringify(text)}}\n`;
}

/** Formats the line of an hour without a response. */
export function formatFailure(path: string, at: number, failure: FailureReason): string {
  const [hour, instant] = [hourOf(at), new Date(at).toISOString()];
  return `${JSON.stringify({ hour, at: instant, path, status: null, failure })}\n`;
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** U+2028 and U+2029 also end a line for some readers of JSON lines. */
function isObjectOnOneLine(text: string, bytes: Uint8Array): boolean {
  if (!text.startsWith('{') || /[\n\r\u2028\u2029]/.test(text)) return false;
  if (scanJson(bytes, inputLimits.archivedFact).fault !== null) return false;
  try {
    JSON.parse(text);
    return text.endsWith('}');
  } catch {
    return false;
  }
}

/**
 * Parses a line of the file of `path`, without its newline. Null if it is not one: of another path, with a time outside
 * its hour, or with a body that does not match its digest.
 */
export function parseLine(line: string, path: string): ArchivedLine | null {
  const head = parsedObject(Buffer.from(line));
  if (head === null || head.path !== path) return null;
  const { hour, at, status, failure } = head;
  if (typeof hour !== 'string' || typeof at !== 'string' || !isWithin(at, hour)) return null;
  if (status === null) {
    const reason = failureReasons.find((known) => known === failure);
    return reason === undefined ? null : { kind: 'failure', hour, at, failure: reason };
  }
  if (typeof status !== 'number' || !Number.isInteger(status) || status < 100 || status > 599) return null;
  const text = typeof head.text === 'string' ? head.text : bodyText(line);
  if (text === null || createHash('sha256').update(text).digest('hex') !== head.sha256) return null;
  return { kind: 'response', hour, at, status, text };
}

/** Returns the embedded body. The key cannot occur in a string before it, where JSON escapes its quotes. */
function bodyText(line: string): string | null {
  const start = line.indexOf(bodyKey);
  return start < 0 ? null : line.slice(start + bodyKey.length, -1);
}

function isWithin(at: string, hour: string): boolean {
  const instant = Date.parse(at);
  return Number.isFinite(instant) && new Date(instant).toISOString() === at && hourOf(instant) === hour;
}
