import { type AccountRow, accountExportSchema, type ExportManifest } from '../contract/account.ts';
import type { FittingInterval } from '../contract/errors.ts';
import { parseTimestamp } from '../contract/timestamp.ts';
import { ExportFailure } from './failure.ts';

/** Response to a request that creates an export. */
export interface Created {
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
  readonly manifest: ExportManifest;
  readonly rows: readonly AccountRow[];
  readonly next: { readonly cursor: string } | { readonly total: Total };
}

/** An error response of the service. `intervals` lists parts that fit if the requested export is too large. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly intervals: readonly FittingInterval[];
}

/** Maximum nesting depth of objects and arrays in a response; far above the depth of a page with its manifest. */
const maxDepth = 32;
/** Maximum number of intervals in an error response. */
const maxIntervals = 10_000;

/**
 * Returns true if the text looks like a response of an account-view service, intact or damaged, and not like a web
 * page or a response of another API.
 */
export function isOfService(text: string): boolean {
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
export function parseCreated(text: string): Created {
  const { manifest, cursor } = objectOf(text);
  return { manifest: manifestOf(manifest), cursor: textOf(cursor, 'cursor') };
}

/** Parses a page of an export. Throws ExportFailure `damaged`. */
export function parsePage(text: string): Page {
  const { manifest, rows, terminal, next_cursor, count, content_sha256 } = objectOf(text);
  if (!Array.isArray(rows) || typeof terminal !== 'boolean')
    throw damaged('a page without rows or without a terminal flag');
  if (terminal && (!Number.isSafeInteger(count) || next_cursor !== null))
    throw damaged('a last page with a cursor or without a row count');
  return {
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
export function parseRefusal(status: number, text: string): Refusal | null {
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
  return { status, code, message, intervals: parts.map(intervalOf) };
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
