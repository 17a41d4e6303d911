import { createHash } from 'node:crypto';
import type { AccountRow, ExportManifest } from '../contract/account.ts';
import { canonicalJson } from '../contract/encodings.ts';
import type { FittingInterval } from '../contract/errors.ts';
import { type Micros, parseInstant, parseTimestamp } from '../contract/timestamp.ts';
import { ExportFailure } from './failure.ts';
import type { Page, Total } from './service.ts';

/** Requested interval: the last `days`, or an explicit start (inclusive) and end (exclusive) as text. */
export type AskedInterval =
  | { readonly kind: 'days'; readonly days: number }
  | { readonly kind: 'explicit'; readonly start: string; readonly end: string }
  /**
   * A part of a larger interval. Only the first part may start before the window, and only the last part may end
   * after the window.
   */
  | {
      readonly kind: 'part';
      readonly start: string;
      readonly end: string;
      readonly first: boolean;
      readonly last: boolean;
    };

/** A part of an export that is being downloaded. Validates every row. */
export interface Part {
  readonly manifest: ExportManifest;
  /** Number of accepted rows. */
  readonly count: number;
  /** Validates a page and its rows; returns each row with its canonical text. Throws ExportFailure `damaged`. */
  accept(page: Page): { readonly row: AccountRow; readonly text: string }[];
  /**
   * Compares the row count and the digest with the values in the last page. Throws ExportFailure `damaged` if they
   * differ.
   */
  verify(total: Total): void;
}

/** Account and filters of the requested export. The manifest must state the same account and filters. */
interface AskedExport {
  readonly account: string;
  readonly filters: ExportManifest['filters'];
}

/**
 * Starts a part after the service has created its export. Throws ExportFailure `damaged` if the manifest does not match
 * the request.
 */
export function beginPart(manifest: ExportManifest, asked: AskedExport, interval: AskedInterval): Part {
  const same = manifest.account === asked.account && canonicalJson(manifest.filters) === canonicalJson(asked.filters);
  if (!same) throw damaged('does not match the requested account and filters');
  checkInterval(interval, manifest);
  const identity = identityOf(manifest);
  const start = instant(manifest.interval.start);
  const end = Math.min(instant(manifest.interval.end), instant(manifest.frontier));
  const chain: Chain = startChain(manifest);
  let before = Number.NEGATIVE_INFINITY;

  function check(row: AccountRow): void {
    const at = instant(row.observed_at);
    if (at <= before || at < start || at >= end) throw damaged('has rows out of order or outside its interval');
    before = at;
    if (!isAbout(row.uri, asked.account)) throw damaged('has rows of another account');
  }

  return {
    manifest,
    get count() {
      return chain.count;
    },
    accept({ manifest: repeated, rows }) {
      if (identityOf(repeated) !== identity) throw damaged('contains pages of another export');
      if (chain.count + rows.length > manifest.count_bound) throw damaged('has more rows than its manifest allows');
      return rows.map((row) => {
        check(row);
        return { row, text: chain.add(row) };
      });
    },
    verify({ count, content_sha256 }) {
      if (count !== chain.count) throw damaged(`has ${chain.count} rows, but the service counted ${count}`);
      if (content_sha256 !== chain.sha256) throw damaged('does not have the digest that the service computed');
    },
  };
}

/** Returns true if a URI is the account's DID or an AT-URI of the account. */
function isAbout(uri: string, account: string): boolean {
  if (uri === account) return true;
  const beginning = `at://${account}`;
  return uri.startsWith(beginning) && !/^[A-Za-z0-9._:%-]/.test(uri.slice(beginning.length));
}

/**
 * Returns the manifest fields that identify an export, as a string. Omits other fields, such as the coverage, which
 * may differ between pages.
 */
function identityOf({
  account,
  interval,
  filters,
  frontier,
  created_at,
  expires_at,
  acquisition,
}: ExportManifest): string {
  return canonicalJson([account, interval, filters, frontier, created_at, expires_at, acquisition.generation_id]);
}

function instant(text: string): Micros {
  const at = parseTimestamp(text);
  if (at === null) throw damaged('has a row or an interval with an invalid time');
  return at;
}

function damaged(what: string): ExportFailure {
  return new ExportFailure('damaged', `the export ${what}: it was altered in transit, or the service has a bug`);
}

/** Digest of the part of an export received so far; after the last row it equals the export's `content_sha256`. */
interface Chain {
  /** Adds a row to the digest; returns the row's canonical text. */
  add(row: object): string;
  /** Number of added rows. */
  readonly count: number;
  /** Current digest, in lower-case hex. */
  readonly sha256: string;
}

/** Creates the digest chain of an export from its manifest. */
export function startChain(manifest: object): Chain {
  let digest = createHash('sha256').update(canonicalJson(manifest)).digest();
  let count = 0;
  return {
    add(row) {
      const text = canonicalJson(row);
      digest = createHash('sha256').update(digest).update(text).digest();
      count += 1;
      return text;
    },
    get count() {
      return count;
    },
    get sha256() {
      return digest.toString('hex');
    },
  };
}

/** Returns the query parameters of an interval. */
export function intervalQuery(asked: AskedInterval): Record<string, string> {
  return asked.kind === 'days' ? { days: String(asked.days) } : { start: asked.start, end: asked.end };
}

/**
 * Throws ExportFailure unless the export's interval is the requested one, or is a part of the requested one and
 * marked as clipped. A part of a larger interval may be clipped only at the outer ends of that interval. If a number
 * of days was requested, checks only that the interval is neither empty nor longer than that number of days.
 */
export function checkInterval(asked: AskedInterval, { interval, clipped }: ExportManifest): void {
  const [start, end] = [boundOf(interval.start), boundOf(interval.end)];
  if (start >= end) throw other();
  if (asked.kind === 'days') {
    if (end - start > asked.days * 86_400_000_000) throw other();
    return;
  }
  const [wantedStart, wantedEnd] = [boundOf(asked.start), boundOf(asked.end)];
  if (start < wantedStart || end > wantedEnd) throw other();
  if (!clipped && (start !== wantedStart || end !== wantedEnd)) throw other();
  if (asked.kind !== 'part') return;
  if ((start !== wantedStart && !asked.first) || (end !== wantedEnd && !asked.last)) throw other();
}

/**
 * Returns the parts that the service lists; an empty list if it lists no parts. Throws ExportFailure unless there
 * are several parts, which are adjacent and together cover the requested interval.
 */
export function partsOf(asked: AskedInterval, intervals: readonly FittingInterval[]): AskedInterval[] {
  const [first] = intervals;
  if (!first) return [];
  // The only part would be the requested interval, and would be refused again.
  if (intervals.length === 1)
    throw new ExportFailure('damaged', 'the service listed a single part, which is too large');
  let end: Micros = boundOf(first.start);
  for (const part of intervals) {
    if (boundOf(part.start) !== end || boundOf(part.end) <= end) throw apart();
    end = boundOf(part.end);
  }
  if (asked.kind === 'days') {
    if (end - boundOf(first.start) !== asked.days * 86_400_000_000) throw apart();
  } else if (boundOf(first.start) !== boundOf(asked.start) || end !== boundOf(asked.end)) throw apart();
  const whole = asked.kind === 'part' ? asked : { first: true, last: true };
  return intervals.map((part, index) => ({
    kind: 'part',
    start: part.start,
    end: part.end,
    first: whole.first && index === 0,
    last: whole.last && index === intervals.length - 1,
  }));
}

function boundOf(text: string): Micros {
  const at = parseInstant(text);
  if (at === null) throw other();
  return at;
}

function other(): ExportFailure {
  return new ExportFailure('damaged', 'the service sent an export for a different interval than requested');
}

function apart(): ExportFailure {
  return new ExportFailure('damaged', 'the service listed parts that do not cover the requested interval');
}
