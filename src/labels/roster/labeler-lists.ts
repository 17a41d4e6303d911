import { readFile } from 'node:fs/promises';
import { canonicalDid, didInWords, isDid } from '../../contract/identifiers.ts';
import { isObject } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import type { HttpClient } from '../../network/http/http.ts';
import { OperatorError, systemWords } from '../../ops/errors.ts';

/** Collection of the record by which an account declares that it is a labeler. */
export const labelerCollection = 'app.bsky.labeler.service';

const pageSize = 1_000;
const maxPages = 100;
/** Maximum total length of the DIDs that one relay may list, in characters: 100,000 DIDs of 80 characters. */
const maxCharacters = 8_000_000;

/** Labelers that a relay lists. */
interface RelayListing {
  readonly dids: readonly string[];
  /** False if the list ends before the relay's last page; the listed DIDs are valid. */
  readonly complete: boolean;
}

/** Options for listing the labelers of a relay. */
interface ListOptions {
  /** Timeout of the request for each page, in milliseconds. */
  readonly timeoutMs: number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Waits before the attempts to get a page that failed, in milliseconds. */
const retryWaitsMs = [1_000, 5_000, 15_000] as const;
/** Maximum number of failed attempts in one listing; a relay that often fails is listed again in the next round. */
const maxFailures = 10;
/** Maximum wait that a relay can request, in milliseconds. */
const maxRequestedWaitMs = 60_000;

/**
 * Lists the accounts with a labeler record that a relay serves, page by page. Requests a page that fails again, because
 * the labelers after it would otherwise stay unknown until the next listing. Never rejects.
 */
export async function listLabelers(http: HttpClient, relay: string, options: ListOptions): Promise<RelayListing> {
  const dids = new Set<string>();
  const asked = new Set<string>();
  const failures = { left: maxFailures };
  let cursor = '';
  let characters = 0;
  for (let pages = 0; pages < maxPages && !asked.has(cursor); pages += 1) {
    asked.add(cursor);
    const page = await readPage(http, pageUrl(relay, cursor), options, failures);
    if (page === null) break;
    for (const did of page.dids) {
      if (dids.has(did)) continue;
      characters += did.length;
      if (characters > maxCharacters) return { dids: [...dids], complete: false };
      dids.add(did);
    }
    if (page.cursor === '') return { dids: [...dids], complete: true };
    cursor = page.cursor;
  }
  return { dids: [...dids], complete: false };
}

/** One page of a list; the cursor of the last page is empty. */
interface Page {
  readonly dids: readonly string[];
  readonly cursor: string;
}

function pageUrl(relay: string, cursor: string): URL {
  const url = new URL('/xrpc/com.atproto.sync.listReposByCollection', relay);
  url.searchParams.set('collection', labelerCollection);
  url.searchParams.set('limit', String(pageSize));
  if (cursor !== '') url.searchParams.set('cursor', cursor);
  return url;
}

/** Requests a page until it arrives; returns null after too many failures. */
async function readPage(
  http: HttpClient,
  url: URL,
  { timeoutMs, wait, signal }: ListOptions,
  failures: { left: number },
): Promise<Page | null> {
  const { relayList: limits } = inputLimits;
  for (const waitMs of [...retryWaitsMs, null]) {
    const answer = await http.getJson(url, { maxBytes: limits.bytes, shape: limits, timeoutMs, signal });
    const page = answer.kind === 'json' ? pageOf(answer.value) : null;
    if (page !== null) return page;
    failures.left -= 1;
    if (waitMs === null || failures.left <= 0 || signal.aborted) return null;
    const requestedMs = answer.kind === 'status' ? (answer.retryAfterMs ?? 0) : 0;
    await wait(Math.max(waitMs, Math.min(requestedMs, maxRequestedWaitMs)), signal);
  }
  return null;
}

/**
 * Returns the content of a page, without invalid DIDs. Returns null if the value is not a page, or if its cursor cannot
 * be followed, because such a page is not the end of the list.
 */
function pageOf(value: unknown): Page | null {
  if (!isObject(value)) return null;
  // Serializers of some languages write an empty list as null.
  const repos = value.repos === null ? [] : value.repos;
  const cursor = cursorText(value.cursor ?? '');
  if (!Array.isArray(repos) || cursor === null) return null;
  const dids = (repos as unknown[]).flatMap((repo) =>
    isObject(repo) && typeof repo.did === 'string' && isDid(repo.did) ? [canonicalDid(repo.did)] : [],
  );
  return { dids, cursor };
}

/** Returns a cursor as text; some servers send the number. Returns null for any other value. */
export function cursorText(cursor: unknown): string | null {
  if (typeof cursor === 'number' && Number.isSafeInteger(cursor)) return String(cursor);
  return typeof cursor === 'string' ? cursor : null;
}

/**
 * Returns the DIDs of a seeds file: a JSON array of objects with a `did`; other keys and repeated DIDs are ignored.
 * Throws an OperatorError if the file cannot be read or is invalid.
 */
export async function readSeeds(path: string): Promise<readonly string[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new OperatorError(
      `cannot read the seeds file ${path}: ${systemWords(error)}; choose another file with --seeds`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new OperatorError(`the seeds file ${path} is not JSON`);
  }
  if (!Array.isArray(value)) throw new OperatorError(`the seeds file ${path} is not a JSON array of {"did"} objects`);
  const dids = value.map((entry, i) => {
    if (isObject(entry) && typeof entry.did === 'string' && isDid(entry.did)) return canonicalDid(entry.did);
    throw new OperatorError(
      `the "did" of entry ${i + 1} in the seeds file ${path} is not a DID: a DID is ${didInWords}`,
    );
  });
  return [...new Set(dids)];
}
