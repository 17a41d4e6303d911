import { AnswerError, NetworkError } from '../client/errors.ts';
import { type Answer, exchange } from '../client/exchange.ts';
import { retryAfterSeconds } from '../client/headers.ts';
import { type AccountRow, accountExportSchema, type ExportManifest } from '../contract/account.ts';
import type { FittingInterval } from '../contract/errors.ts';
import { accountPaths } from '../contract/identifiers.ts';
import { parseTimestamp } from '../contract/timestamp.ts';
import { createBackoff } from '../network/websocket/backoff.ts';
import { describeCode, systemCode } from '../ops/errors.ts';
import { ExportFailure } from './failure.ts';

/** Options for requests to an account-view service. */
export interface ServiceOptions {
  /** Base address of an account-view surface, without a trailing slash. */
  readonly base: string;
  readonly fetch: typeof globalThis.fetch;
  /** Timeout of one complete response, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum time without a usable response, in milliseconds. */
  readonly giveUpMs: number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Monotonic clock in milliseconds, by which `giveUpMs` is measured. */
  readonly monotonic: () => number;
  /** Returns a random number in [0, 1). */
  readonly random: () => number;
  /** Resolves after a number of milliseconds; rejects when the signal is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Called before each retry with the reason and the delay in milliseconds. */
  readonly waiting: (why: string, milliseconds: number) => void;
  /** Aborts all requests; pending calls reject with the signal's reason. */
  readonly signal: AbortSignal;
}

/** Response to a request that creates an export. */
interface Created {
  readonly kind: 'created';
  readonly manifest: ExportManifest;
  readonly cursor: string;
}

/** Row count and digest of the whole export, which the last page states. */
export interface Total {
  readonly count: number;
  readonly content_sha256: string;
}

/** A page of an export. Only the last page has a `total`; every other page has the cursor of the next one. */
export interface Page {
  readonly kind: 'page';
  readonly manifest: ExportManifest;
  readonly rows: readonly AccountRow[];
  readonly next: { readonly cursor: string } | { readonly total: Total };
}

/** An error response of the service. `intervals` lists parts that fit if the requested export is too large. */
export interface Refusal {
  readonly kind: 'refusal';
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly intervals: readonly FittingInterval[];
}

/** Maximum size of a response in bytes; far above the size of a page of 500 rows with its manifest. */
const maxBytes = 32 * 1024 * 1024;
/** Maximum delay that `Retry-After` may state, in seconds: a day, after which the limit of accounts begins again. */
const maxDelaySeconds = 86_400;
/** HTTP statuses after which a request is retried. */
const transient = [429, 502, 503, 504];

/**
 * Creates an export. Retries if the service does not respond or is busy: after the delay that `Retry-After` states, or
 * else after a random delay whose maximum doubles. Resolves with an error response that a retry would not resolve.
 * Rejects with ExportFailure: `unreachable` after the time limit, `refused` if the address is not an account-view
 * service, and `damaged` for a response that is too large, not UTF-8 or malformed.
 */
export async function createExport(
  query: Readonly<Record<string, string>>,
  options: ServiceOptions,
): Promise<Created | Refusal> {
  const reply = await request(query, options);
  if (typeof reply !== 'string') return reply;
  if (!isOfService(reply)) throw noService('does not respond with an export');
  return parseCreated(reply);
}

/** Requests a page of an export by its cursor. Resolves and rejects like `createExport`. */
export async function readPage(cursor: string, options: ServiceOptions): Promise<Page | Refusal> {
  const reply = await request({ cursor }, options);
  return typeof reply === 'string' ? parsePage(reply) : reply;
}

/** Requests `/exports`. Returns the body of a successful response, or an error response. */
async function request(query: Readonly<Record<string, string>>, options: ServiceOptions): Promise<string | Refusal> {
  const { monotonic, giveUpMs, wait, waiting, signal, random } = options;
  const backoff = createBackoff({ firstMs: 1000, capMs: 30_000, random });
  const since = monotonic();
  for (;;) {
    const outcome = await once(`${accountPaths.exports}?${new URLSearchParams(query)}`, options);
    if (typeof outcome === 'string' || outcome.kind !== 'nothing') return outcome;
    const { retryAfterMs } = outcome;
    const waitMs = retryAfterMs > 0 ? retryAfterMs : 100 + backoff.next();
    if (monotonic() - since + waitMs > giveUpMs) {
      const later = retryAfterMs > 0 ? `; retry in ${retryAfterMs / 1000} s` : '';
      throw new ExportFailure(
        'unreachable',
        `${outcome.why}; gave up: another attempt would exceed the limit of ${giveUpMs / 1000} s${later}`,
      );
    }
    waiting(outcome.why, waitMs);
    await wait(waitMs, signal);
  }
}

type Nothing = { readonly kind: 'nothing'; readonly why: string; readonly retryAfterMs: number };

async function once(
  path: string,
  { base, fetch, timeoutMs, clock, signal }: ServiceOptions,
): Promise<string | Refusal | Nothing> {
  let answer: Answer;
  try {
    answer = await exchange({ base, path, fetch, timeoutMs, maxBytes, signal, etag: null });
  } catch (error) {
    if (error instanceof NetworkError) return { kind: 'nothing', why: noAnswer(error), retryAfterMs: 0 };
    if (error instanceof AnswerError)
      throw new ExportFailure('damaged', 'the service sent a response that is too large or not valid UTF-8');
    throw error;
  }
  const { status, headers, text } = answer;
  if (status === 200) return text;
  // Every account-view service has the path `/exports`, so the server is not such a service, or the base path is
  // wrong.
  if (status === 404) throw noService(`responds with status ${status}`);
  const refusal = parseRefusal(status, text);
  if (transient.includes(status)) {
    const why = refusal ? `the service is busy (${refusal.code})` : `a proxy responds with status ${status}`;
    return { kind: 'nothing', why, retryAfterMs: (retryAfterSeconds(headers, clock(), maxDelaySeconds) ?? 0) * 1000 };
  }
  if (refusal) return refusal;
  throw noService(`responds with status ${status}`);
}

/** Returns the failure for an address that is not an account-view service. */
function noService(does: string): ExportFailure {
  return new ExportFailure(
    'refused',
    `the address ${does}, so it is not an account-view service; set the URL of an account-view service with --from`,
  );
}

function noAnswer({ reason, cause }: NetworkError): string {
  if (reason === 'timeout') return 'the service does not respond in time';
  const code = systemCode(cause instanceof Error ? cause.cause : cause);
  return `the service cannot be reached${code === null ? '' : `: ${describeCode(code)}`}`;
}

/** Maximum nesting depth of objects and arrays in a response; far above the depth of a page with its manifest. */
const maxDepth = 32;
/** Maximum number of intervals in an error response. */
const maxIntervals = 10_000;

/**
 * Returns true if the text looks like a response of an account-view service, intact or damaged, and not like a web
 * page or a response of another API.
 */
function isOfService(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  try {
    const object = recordOf(JSON.parse(text));
    return object !== null && ('manifest' in object || 'cursor' in object);
  } catch {
    // The text is probably a JSON object that was truncated or altered in transit.
    return true;
  }
}

/**
 * Parses the response to a request that creates an export. Ignores unknown properties, which later versions of v1 may
 * add. Throws ExportFailure `damaged`.
 */
function parseCreated(text: string): Created {
  const { manifest, cursor } = objectOf(text);
  return { kind: 'created', manifest: manifestOf(manifest), cursor: textOf(cursor, 'cursor') };
}

/** Parses a page of an export. Throws ExportFailure `damaged`. */
function parsePage(text: string): Page {
  const { manifest, rows, terminal, next_cursor, count, content_sha256 } = objectOf(text);
  if (!Array.isArray(rows) || typeof terminal !== 'boolean')
    throw damaged('a page without rows or without a terminal flag');
  if (terminal && (!Number.isSafeInteger(count) || next_cursor !== null))
    throw damaged('a last page with a cursor or without a row count');
  return {
    kind: 'page',
    manifest: manifestOf(manifest),
    rows: rows.map(rowOf),
    next: terminal
      ? { total: { count: Number(count), content_sha256: textOf(content_sha256, 'content_sha256') } }
      : { cursor: textOf(next_cursor, 'next_cursor') },
  };
}

/**
 * Parses an error response. Returns null if the body was not sent by the service but, for example, by a proxy. Throws
 * ExportFailure `damaged` if the response lists too many or malformed parts.
 */
function parseRefusal(status: number, text: string): Refusal | null {
  let error: unknown;
  try {
    error = recordOf(JSON.parse(text))?.error;
  } catch {
    return null;
  }
  const { code, message, intervals } = recordOf(error) ?? {};
  if (typeof code !== 'string' || typeof message !== 'string') return null;
  const parts = Array.isArray(intervals) ? intervals : [];
  if (parts.length > maxIntervals) throw damaged('more parts than an account can have');
  return { kind: 'refusal', status, code, message, intervals: parts.map(intervalOf) };
}

function manifestOf(value: unknown): ExportManifest {
  const manifest = recordOf(value);
  if (manifest?.schema !== accountExportSchema)
    throw damaged(`a response without a manifest of the schema ${accountExportSchema}`);
  const interval = recordOf(manifest.interval);
  const usable =
    [interval?.start, interval?.end, manifest.frontier, manifest.expires_at].every(isInstant) &&
    typeof manifest.account === 'string' &&
    typeof manifest.clipped === 'boolean' &&
    Number.isSafeInteger(manifest.count_bound) &&
    recordOf(manifest.filters) !== null &&
    typeof recordOf(manifest.coverage)?.status === 'string' &&
    typeof recordOf(manifest.acquisition)?.generation_id === 'string';
  if (!usable) throw damaged('a manifest without a required field');
  return manifest as unknown as ExportManifest;
}

const rowTexts = ['labeler_did', 'uri', 'value', 'action', 'source_timestamp', 'observed_at', 'signature'];
const rowChoices = ['cid', 'expires_at'];

function rowOf(value: unknown): AccountRow {
  const row = recordOf(value);
  const whole =
    row !== null &&
    rowTexts.every((name) => typeof row[name] === 'string') &&
    rowChoices.every((name) => !Object.hasOwn(row, name) || typeof row[name] === 'string') &&
    isInstant(row.observed_at);
  if (!whole) throw damaged('a row without a required field');
  return row as unknown as AccountRow;
}

function intervalOf(value: unknown): FittingInterval {
  const interval = recordOf(value);
  if (!isInstant(interval?.start) || !isInstant(interval?.end)) throw damaged('a part without a start or an end');
  return interval as unknown as FittingInterval;
}

function objectOf(text: string): Record<string, unknown> {
  let object: Record<string, unknown> | null = null;
  try {
    object = recordOf(JSON.parse(text));
  } catch {
    // The check below reports invalid JSON like any other text that is not an object.
  }
  if (!object) throw damaged('a response that is not one JSON object');
  if (isDeep(object, maxDepth)) throw damaged('a response that is nested too deeply');
  return object;
}

function isDeep(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((member) => isDeep(member, depth - 1));
}

function recordOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function isInstant(value: unknown): boolean {
  return parseTimestamp(value) !== null;
}

function textOf(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw damaged(`a response without ${name}`);
}

function damaged(what: string): ExportFailure {
  return new ExportFailure('damaged', `the service sent ${what}`);
}
