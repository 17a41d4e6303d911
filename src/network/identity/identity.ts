import { isDid } from '../../contract/identifiers.ts';
import { inputLimits } from '../../input/limits.ts';
import { systemCode } from '../../ops/errors.ts';
import { createSharedCache, type SharedCache } from '../guard/shared-cache.ts';
import type { HttpClient, JsonAnswer } from '../http/http.ts';
import {
  type DidDocument,
  type EarlierLabelKey,
  type InvalidDocument,
  isResolvableHandle,
  parseDidDocument,
  parseEarlierLabelKeys,
} from './did-document.ts';

/** Result of resolving a DID document. */
export type Resolution =
  /**
   * The document was found. `replica` is true if the primary directory did not respond. The document then comes from a
   * replica and may be outdated.
   */
  | { readonly kind: 'resolved'; readonly document: DidDocument; readonly replica?: true }
  /** The DID does not exist (404), or was deactivated (410). */
  | { readonly kind: 'not_found'; readonly status: 404 | 410 }
  /** The DID is malformed or its method is not supported. No request was sent. */
  | { readonly kind: 'unsupported_did' }
  /** No document arrived, but a later request may succeed: `answer` is the failure of the request. */
  | { readonly kind: 'failed'; readonly answer: FailedAnswer };

/** Failure of a request for a document. */
type FailedAnswer =
  | Exclude<JsonAnswer, { kind: 'json' }>
  /**
   * The status is 200, but the JSON is not the document of the DID. This proves nothing about the DID: a directory that
   * fails may respond so to every request.
   */
  | {
      readonly kind: 'not_the_document';
      readonly reason: InvalidDocument;
    };

/** Settings of an identity resolver; all times in milliseconds. */
interface IdentityOptions {
  /** HTTP client for the directory, and for hosts of did:web unless `web` is given. */
  readonly http: HttpClient;
  /**
   * HTTP client for the hosts of did:web, with its timeout. Other parties choose these hosts, so a separate client
   * prevents hanging hosts from delaying requests to the directory.
   */
  readonly web?: { readonly http: HttpClient; readonly timeoutMs: number };
  /** URL of the primary did:plc directory. */
  readonly plcUrl?: string;
  /**
   * URLs of replicas of the directory. The resolver requests them in this order if the primary does not respond.
   * Default: no replica.
   */
  readonly plcReplicas?: readonly string[];
  /** Address policy of the guard: if loopback is allowed, documents and endpoints may use http. */
  readonly policy: { readonly allowLoopback: boolean };
  /** Lifetime of a cached resolution in milliseconds (default 300,000); failures are not cached. */
  readonly ttlMs?: number;
  /** Maximum number of cached documents (default 10,000). */
  readonly maxEntries?: number;
  /** Timeout of the request for each document, in milliseconds (default 10,000). */
  readonly timeoutMs?: number;
  /** Monotonic clock, in milliseconds. */
  readonly clock: () => number;
}

/** Options for one resolution. */
interface ResolveOptions {
  readonly signal: AbortSignal;
  /** True to ignore a cached document, for example one that proved to be outdated. */
  readonly fresh?: boolean;
  /** True if the resolution may use reserved slots. */
  readonly privileged?: boolean;
}

/** Resolves DIDs to their documents. */
export interface IdentityResolver {
  /**
   * Resolves a did:plc or did:web. Concurrent callers for one DID share one request, which ends when all of them have
   * aborted. Never rejects.
   */
  resolve(did: string, options: ResolveOptions): Promise<Resolution>;
  /**
   * Resolves with the label keys that a did:plc had before its current one, newest first, from the directory's audit
   * log. Resolves with an empty list for other methods, because they have no audit log, and with null if the directory
   * sent no usable log. Never rejects.
   */
  earlierLabelKeys(did: string, options: Omit<ResolveOptions, 'fresh'>): Promise<readonly EarlierLabelKey[] | null>;
}

/** URL of the public did:plc directory. */
const defaultPlcUrl = 'https://plc.directory';

/**
 * Maximum lifetime of a replica's document in the cache, in milliseconds; short, because the primary may have a newer
 * document.
 */
const replicaTtlMs = 60_000;

/** Creates a resolver with its own bounded cache. Closing the HTTP clients ends the resolver's pending requests. */
export function createIdentityResolver(options: IdentityOptions): IdentityResolver {
  return new DirectoryResolver(options);
}

class DirectoryResolver implements IdentityResolver {
  readonly #http: HttpClient;
  readonly #web: { readonly http: HttpClient; readonly timeoutMs: number };
  readonly #timeoutMs: number;
  readonly #primary: string;
  readonly #replicas: readonly string[];
  readonly #allowLoopback: boolean;
  readonly #cache: SharedCache<Resolution>;

  constructor(options: IdentityOptions) {
    const { http, plcUrl = defaultPlcUrl, policy, ttlMs = 300_000, timeoutMs = 10_000, clock } = options;
    this.#http = http;
    this.#timeoutMs = timeoutMs;
    this.#web = options.web ?? { http, timeoutMs };
    this.#primary = plcUrl;
    this.#replicas = options.plcReplicas ?? [];
    this.#allowLoopback = policy.allowLoopback;
    this.#cache = createSharedCache<Resolution>({
      ttlOf: (resolution) => {
        if (resolution.kind === 'failed') return 0;
        return resolution.kind === 'resolved' && resolution.replica ? Math.min(ttlMs, replicaTtlMs) : ttlMs;
      },
      maxEntries: options.maxEntries ?? 10_000,
      clock,
      gaveUp: { kind: 'failed', answer: { kind: 'aborted' } },
    });
  }

  async resolve(did: string, { signal, fresh = false, privileged = false }: ResolveOptions): Promise<Resolution> {
    if (!isDid(did)) return { kind: 'unsupported_did' };
    return this.#cache.get(did, (shared) => this.#ask(did, { signal: shared, privileged }), { signal, fresh });
  }

  async earlierLabelKeys(
    did: string,
    { signal, privileged = false }: Omit<ResolveOptions, 'fresh'>,
  ): Promise<readonly EarlierLabelKey[] | null> {
    if (!isDid(did) || !did.startsWith('did:plc:')) return [];
    for (const url of [this.#primary, ...this.#replicas]) {
      const answer = await this.#http.getJson(`${didPlcUrl(url, did)}/log/audit`, {
        maxBytes: inputLimits.auditLog.bytes,
        shape: inputLimits.auditLog,
        timeoutMs: this.#timeoutMs,
        signal,
        peer: { source: did, privileged },
      });
      const keys = answer.kind === 'json' ? parseEarlierLabelKeys(answer.value, did) : null;
      if (keys !== null || isOurs(answer)) return keys;
    }
    return null;
  }

  async #ask(did: string, question: Question): Promise<Resolution> {
    if (did.startsWith('did:web:')) return this.#get(didWebUrl(did, this.#allowLoopback), did, question);
    const first = await this.#get(didPlcUrl(this.#primary, did), did, question);
    if (first.kind !== 'failed' || isOurs(first.answer)) return first;
    for (const replica of this.#replicas) {
      const found = await this.#get(didPlcUrl(replica, did), did, question);
      // Only the primary can prove that a document does not exist: a replica may be outdated.
      if (found.kind === 'resolved') return { ...found, replica: true };
    }
    return first;
  }

  async #get(url: string, did: string, { signal, privileged }: Question): Promise<Resolution> {
    const { http, timeoutMs } = did.startsWith('did:web:')
      ? this.#web
      : { http: this.#http, timeoutMs: this.#timeoutMs };
    const answer = await http.getJson(url, {
      maxBytes: inputLimits.didDocument.bytes,
      shape: inputLimits.didDocument,
      timeoutMs,
      signal,
      peer: { source: did, privileged },
      accept: 'application/did+ld+json, application/json',
    });
    if (answer.kind === 'status' && (answer.status === 404 || answer.status === 410)) {
      return { kind: 'not_found', status: answer.status };
    }
    if (answer.kind !== 'json') return { kind: 'failed', answer };
    const parsed = parseDidDocument(answer.value, did, { allowHttp: this.#allowLoopback });
    if (parsed.kind === 'invalid') {
      return { kind: 'failed', answer: { kind: 'not_the_document', reason: parsed.reason } };
    }
    return { kind: 'resolved', document: parsed.document };
  }
}

/** Parameters of one look-up. */
interface Question {
  readonly signal: AbortSignal;
  readonly privileged: boolean;
}

/**
 * Returns true if limits of this service or an abort ended a request, so that a request to another directory would not
 * help.
 */
function isOurs({ kind }: { readonly kind: (JsonAnswer | FailedAnswer)['kind'] }): boolean {
  return kind === 'busy' || kind === 'aborted';
}

/** Returns the URL of a did:plc document. The identifier is base32, so it needs no escaping. */
function didPlcUrl(plcUrl: string, did: string): string {
  return `${plcUrl.replace(/\/+$/, '')}/${did}`;
}

/**
 * Returns the URL of a did:web document. Only `localhost` may have a port (AT Protocol, DID); if loopback is allowed,
 * `localhost` is requested over http.
 */
function didWebUrl(did: string, allowLoopback: boolean): string {
  const host = did.slice('did:web:'.length).replace(/%3A/i, ':');
  const local = host === 'localhost' || host.startsWith('localhost:');
  return `${local && allowLoopback ? 'http' : 'https'}://${host}/.well-known/did.json`;
}

/** Result of resolving a handle. */
export type HandleResolution =
  /** The handle names the DID, and the DID's document names the handle. */
  | { readonly kind: 'resolved'; readonly did: string; readonly document: DidDocument }
  /** The text is not a handle of the public network, by its syntax or its top-level domain; no request was sent. */
  | { readonly kind: 'invalid_handle' }
  /** Neither DNS nor the host names a valid DID for the handle, or DNS names several. */
  | { readonly kind: 'not_found' }
  /**
   * The handle names a DID whose document does not claim the handle, for example because another party owns the name.
   */
  | { readonly kind: 'unconfirmed'; readonly did: string }
  /**
   * It is not known whether the handle names a DID. A later attempt may succeed, unless `redirects` is true: the host
   * redirects to another address, which is not requested.
   */
  | HandleFailure;

/** Result of a resolution that does not show whether the handle names a DID. */
interface HandleFailure {
  readonly kind: 'failed';
  readonly redirects?: true;
}

/** Dependencies of handle resolution; times in milliseconds. */
interface HandleOptions {
  readonly http: HttpClient;
  readonly identity: Pick<IdentityResolver, 'resolve'>;
  /**
   * Resolves the TXT records of a name through a resolver; the host itself is never contacted. An abort ends the query.
   */
  readonly resolveTxt: (name: string, signal: AbortSignal) => Promise<string[][]>;
  /**
   * Timeout in milliseconds, which applies separately to the DNS query and to the request to the host (default
   * 5,000).
   */
  readonly timeoutMs?: number;
}

/**
 * Resolves a handle to its account (AT Protocol, Handle). Queries DNS, and then the host if DNS names no DID. The
 * account's document must claim the handle. Never rejects.
 */
export async function resolveHandle(
  handle: string,
  { http, identity, resolveTxt, timeoutMs = 5000 }: HandleOptions,
  signal: AbortSignal,
): Promise<HandleResolution> {
  if (!isResolvableHandle(handle)) return { kind: 'invalid_handle' };
  const name = handle.toLowerCase();
  const byDns = await askDns(name, resolveTxt, timeoutMs, signal);
  const named = byDns.kind === 'did' || byDns.kind === 'several' ? byDns : await askHost(name, http, timeoutMs, signal);
  // Report a failure if one source names no DID and the other failed, because the handle may exist.
  if (byDns.kind === 'failed' && named.kind !== 'did') return byDns;
  if (named.kind === 'failed') return named;
  if (named.kind !== 'did') return { kind: 'not_found' };
  const { did } = named;
  const claimed = await identity.resolve(did, { signal });
  switch (claimed.kind) {
    case 'failed':
      return { kind: 'failed' };
    case 'not_found':
    case 'unsupported_did':
      return { kind: 'unconfirmed', did };
    case 'resolved':
      return claimed.document.handle === name
        ? { kind: 'resolved', did, document: claimed.document }
        : { kind: 'unconfirmed', did };
  }
}

type Named =
  | { readonly kind: 'did'; readonly did: string }
  | { readonly kind: 'several' }
  | { readonly kind: 'none' }
  | HandleFailure;

async function askDns(
  name: string,
  resolveTxt: HandleOptions['resolveTxt'],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Named> {
  try {
    const records = await within(timeoutMs, signal, (given) => resolveTxt(`_atproto.${name}`, given));
    const read = records.slice(0, inputLimits.dnsText.elements);
    const texts = read.map((parts) => parts.join('')).filter((text) => text.startsWith('did='));
    // Only records with a valid DID contradict each other (AT Protocol, Handle).
    const [did, ...others] = new Set(texts.map((text) => text.slice('did='.length)).filter(isDid));
    if (did === undefined) return { kind: 'none' };
    return others.length > 0 ? { kind: 'several' } : { kind: 'did', did };
  } catch (error) {
    const code = systemCode(error);
    return { kind: code === 'ENOTFOUND' || code === 'ENODATA' ? 'none' : 'failed' };
  }
}

async function askHost(name: string, http: HttpClient, timeoutMs: number, signal: AbortSignal): Promise<Named> {
  const answer = await http.getText(`https://${name}/.well-known/atproto-did`, {
    maxBytes: inputLimits.handleAnswer.bytes,
    timeoutMs,
    signal,
    accept: 'text/plain',
  });
  switch (answer.kind) {
    case 'text':
      return didIn(answer.text.trim());
    case 'status':
      // The guard does not follow redirects, so the DID at the other address is not known.
      if (answer.status >= 300 && answer.status < 400) return { kind: 'failed', redirects: true };
      return { kind: answer.status >= 500 || answer.status === 429 ? 'failed' : 'none' };
    // The host does not exist, may not be contacted, or serves other content at this path, so it names no DID.
    case 'not_text':
    case 'too_large':
    case 'refused_address':
    case 'bad_url':
      return { kind: 'none' };
    case 'dns':
      return { kind: answer.code === 'ENOTFOUND' ? 'none' : 'failed' };
    case 'tls':
    case 'connect':
    case 'timeout':
    case 'busy':
    case 'aborted':
      return { kind: 'failed' };
  }
}

function didIn(text: string): Named {
  return isDid(text) ? { kind: 'did', did: text } : { kind: 'none' };
}

/**
 * Runs work with a timeout and the caller's signal. Rejects and aborts the work after the timeout or if the caller
 * aborts.
 */
async function within<T>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const gaveUp = Promise.withResolvers<never>();
  const abort = (): void => {
    stop.abort();
    gaveUp.reject(new Error('the resolution of a handle was aborted'));
  };
  const timer = setTimeout(abort, timeoutMs);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work(stop.signal), gaveUp.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
