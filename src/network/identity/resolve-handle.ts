import { isDid } from '../../contract/identifiers.ts';
import { inputLimits } from '../../input/limits.ts';
import { systemCode } from '../../ops/errors.ts';
import type { HttpClient } from '../http/http.ts';
import { type DidDocument, isResolvableHandle } from './did-document.ts';
import type { IdentityResolver } from './identity.ts';

/** Result of resolving a handle. */
export type HandleResolution =
  /** The handle names the DID, and the DID's document names the handle. */
  | { readonly kind: 'resolved'; readonly did: string; readonly document: DidDocument }
  /** The text is not a handle of the public network, by its syntax or its top-level domain; no request was sent. */
  | { readonly kind: 'invalid_handle' }
  /** Neither DNS nor the host names a DID for the handle, or DNS names several DIDs. */
  | { readonly kind: 'not_found' }
  /**
   * The handle names a DID whose document does not claim the handle, for example because another party owns the name.
   */
  | { readonly kind: 'unconfirmed'; readonly did: string }
  /** The resolution failed; a later attempt may succeed. */
  | { readonly kind: 'failed' };

/** Dependencies of handle resolution; times in milliseconds. */
export interface HandleOptions {
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
  if (named.kind === 'failed' || (named.kind === 'none' && byDns.kind === 'failed')) return { kind: 'failed' };
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
  | { readonly kind: 'failed' };

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
    const [text, ...others] = new Set(texts);
    if (text === undefined) return { kind: 'none' };
    return others.length > 0 ? { kind: 'several' } : didIn(text.slice('did='.length));
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
