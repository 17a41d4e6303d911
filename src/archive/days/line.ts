import { paths } from '../../contract/identifiers.ts';
import { isObject, scanJson } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import { dayOf, hourOf } from './calendar.ts';
import { parsedObject, sha256Of, utf8Text } from './records.ts';

/** Paths of the archived facts, relative to the address of the facts API, by fact name. */
export const archivedFacts = {
  instruments: paths.instruments,
  'labels-overview': paths.labelsOverview,
  'weather-conditions': paths.weatherConditions,
  'weather-metrics': paths.weatherMetrics,
} as const;

/** Name of an archived fact. */
export type FactName = keyof typeof archivedFacts;

/** Names of all archived facts. */
export const factNames = Object.keys(archivedFacts) as FactName[];

/** Returns the name of a fact's file in the directory of a day. */
export function lineFileOf(name: FactName): string {
  return `${name}.jsonl`;
}

/**
 * Reasons why an hour has no response. `unusable`: the body is not UTF-8, or is too long and not a JSON object.
 * `withheld`: the privacy scan found an identity in the body, or the operator withdrew the file.
 */
export const failureReasons = ['unreachable', 'too_large', 'unusable', 'withheld'] as const;
/** Reason why an hour has no response. */
export type FailureReason = (typeof failureReasons)[number];

/** A response of the facts API as it was served. */
export interface ServedResponse {
  readonly status: number;
  readonly body: Uint8Array;
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** One line of an archived file: the response of one hour, or the reason why there is none. */
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
interface ArchivedFailure {
  readonly kind: 'failure';
  readonly hour: string;
  readonly at: string;
  readonly failure: FailureReason;
}

const bodyKey = ',"body":';
/** Maximum length of a body that is not a JSON object, such as a proxy's error page, in characters. */
const maxTextLength = 65_536;

/**
 * Formats the line of a response. A body that is a JSON object on one line is embedded byte for byte; any other text
 * becomes a JSON string in `text`. Returns null if the body is unusable.
 */
export function formatResponse(path: string, at: number, served: ServedResponse): string | null {
  const text = utf8Text(served.body);
  if (text === null) return null;
  const head = JSON.stringify({
    hour: hourOf(at),
    at: new Date(at).toISOString(),
    path,
    status: served.status,
    etag: served.etag,
    last_modified: served.lastModified,
    sha256: sha256Of(served.body),
  }).slice(0, -1);
  if (isObjectOnOneLine(text, served.body)) return `${head}${bodyKey}${text}}\n`;
  return text.length > maxTextLength ? null : `${head},"text":${JSON.stringify(text)}}\n`;
}

/** Formats the line of an hour without a response. */
export function formatFailure(path: string, at: number, failure: FailureReason): string {
  const [hour, instant] = [hourOf(at), new Date(at).toISOString()];
  return `${JSON.stringify({ hour, at: instant, path, status: null, failure })}\n`;
}

/**
 * Returns true for a JSON object without line breaks. U+2028 and U+2029 also end a line for some JSON Lines readers.
 */
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
 * Parses one line, without its newline, of the file that archives `path`. Returns null if the line is malformed,
 * belongs to another path, has a time outside its hour, or has a body that does not match its digest.
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
  if (text === null || sha256Of(Buffer.from(text)) !== head.sha256) return null;
  return { kind: 'response', hour, at, status, text };
}

/**
 * Returns the embedded body; null if the line has none. `bodyKey` cannot occur in an earlier string of the line,
 * because JSON escapes the quotes in strings.
 */
function bodyText(line: string): string | null {
  const start = line.indexOf(bodyKey);
  return start < 0 ? null : line.slice(start + bodyKey.length, -1);
}

function isWithin(at: string, hour: string): boolean {
  const instant = Date.parse(at);
  return Number.isFinite(instant) && new Date(instant).toISOString() === at && hourOf(instant) === hour;
}

/**
 * Parses the file of one fact and day. Returns null if a line is incomplete or malformed, belongs to another day, or is
 * not later than the line before it.
 */
export function parseLines(text: string, name: FactName, day: string): ArchivedLine[] | null {
  if (text === '') return [];
  if (!text.endsWith('\n')) return null;
  const lines: ArchivedLine[] = [];
  for (const part of text.slice(0, -1).split('\n')) {
    const line = parseLine(part, archivedFacts[name]);
    const last = lines.at(-1);
    if (line === null || dayOf(Date.parse(line.hour)) !== day) return null;
    if (last && last.hour >= line.hour) return null;
    lines.push(line);
  }
  return lines;
}

/** Hour of a line, and the time of its request in milliseconds since 1970. */
export interface LastLine {
  readonly hour: string;
  readonly at: number;
}

/** Returns the last complete line of a file; an empty hour and the time 0 if there is none. */
export function lastLineIn(text: string): LastLine {
  const [last] = completeLines(text).slice(-1);
  return (last === undefined ? null : timesOf(last)) ?? { hour: '', at: 0 };
}

/** Returns the complete lines of a file, without those whose requests are later than `until` (milliseconds since 1970). */
export function withoutLater(text: string, until: number): string {
  const kept = completeLines(text).filter((line) => (timesOf(line)?.at ?? 0) <= until);
  return kept.map((line) => `${line}\n`).join('');
}

function completeLines(text: string): string[] {
  const end = text.lastIndexOf('\n');
  return end < 0 ? [] : text.slice(0, end).split('\n');
}

function timesOf(line: string): LastLine | null {
  const [, hour, at] = /^\{"hour":"([^"]{20})","at":"([^"]{24})"/.exec(line) ?? [];
  return hour === undefined || at === undefined ? null : { hour, at: Date.parse(at) };
}

/** Returns the error code of a response in which the facts API refuses a fact; null for any other response. */
export function refusalCode({ status, text }: { readonly status: number; readonly text: string }): string | null {
  if (status === 200) return null;
  try {
    const body: unknown = JSON.parse(text);
    const error = isObject(body) ? body.error : null;
    const code = isObject(error) ? error.code : null;
    return typeof code === 'string' ? code : null;
  } catch {
    return null;
  }
}
