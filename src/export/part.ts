import { createHash } from 'node:crypto';
import type { AccountRow, ExportManifest } from '../contract/account.ts';
import { canonicalJson } from '../contract/encodings.ts';
import { type Micros, parseTimestamp } from '../contract/timestamp.ts';
import type { Created, Page, Total } from './answers.ts';
import { ExportFailure } from './failure.ts';
import { type AskedInterval, checkInterval } from './interval.ts';

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
export function beginPart({ manifest }: Created, asked: AskedExport, interval: AskedInterval): Part {
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
