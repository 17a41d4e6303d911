import type { FactEnvelope } from '../../contract/envelope.ts';
import type { ErrorBody } from '../../contract/errors.ts';
import type { FactContractId } from '../../contract/identifiers.ts';
import { cacheSeconds } from '../../contract/limits.ts';
import { isObject } from '../../input/json-object.ts';
import type { Shown } from './model.ts';

/** One fact of the API, cached as the contract requires of clients. */
export interface FactWatch<E> {
  /** Requests the fact again with the validator of the cached response; never rejects. */
  ask(): Promise<Shown<E>>;
  /** Time at which the response expires, in milliseconds of the given clock. */
  dueAt(): number;
}

/** Dependencies of a watch: the browser's, or a test's. */
export interface WatchContext {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** Timeout of a request, in milliseconds. */
const timeoutMs = 10_000;

/** Delay before a retry without a response, in milliseconds. */
const retryMs = 15_000;

/** Minimum interval between requests, whatever a response states about its age, in milliseconds. */
const leastMs = 5_000;

/**
 * Watches one fact: sends its validator back, uses a response until it expires, and discards it after the first
 * refusal or failure. Discarded data is never shown again without a new response.
 */
export function watchFact<C extends FactContractId>(
  url: string,
  contract: C,
  { fetch, clock }: WatchContext,
): FactWatch<Extract<FactEnvelope, { contract: C }>> {
  type E = Extract<FactEnvelope, { contract: C }>;
  let kept: { readonly etag: string; readonly envelope: E } | null = null;
  let due = Number.NEGATIVE_INFINITY;

  async function answer(): Promise<Shown<E>> {
    const asked = clock();
    const headers: Record<string, string> = kept ? { 'If-None-Match': kept.etag } : {};
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) });
    if (response.status === 304 && kept) {
      due = asked + usableFor(response.headers);
      return { kind: 'served', envelope: kept.envelope };
    }
    kept = null;
    const body: unknown = await response.json();
    if (response.status === 200 && isEnvelope(body, contract)) {
      const etag = response.headers.get('ETag');
      const envelope = body as E;
      if (etag !== null) kept = { etag, envelope };
      due = asked + usableFor(response.headers);
      return { kind: 'served', envelope };
    }
    const error = errorOf(body);
    if (error === null) throw new Error('neither a fact nor an error of the contract');
    due = asked + cacheSeconds * 1000;
    return { kind: 'refused', error };
  }

  return {
    async ask() {
      try {
        return await answer();
      } catch {
        // No network, a timeout, or a response that is not from this service: the fact is unknown.
        kept = null;
        due = clock() + retryMs;
        return { kind: 'unreached' };
      }
    },
    dueAt: () => due,
  };
}

/** Time for which a response may be used after its request: `max-age` less the time it spent in a cache. */
function usableFor(headers: Headers): number {
  const most = Number(/(?:^|[\s,])max-age=(\d+)/i.exec(headers.get('Cache-Control') ?? '')?.[1] ?? 0);
  const lain = Number(headers.get('Age') ?? 0);
  return Math.max(leastMs, (most - (Number.isFinite(lain) ? lain : 0)) * 1000);
}

/** The contract's id contains its major version: an envelope with this id has the shape that this page supports. */
function isEnvelope(body: unknown, contract: FactContractId): boolean {
  return isObject(body) && body.contract === contract && isObject(body.facts);
}

function errorOf(body: unknown): ErrorBody['error'] | null {
  if (!isObject(body) || !isObject(body.error)) return null;
  const { code, message, status } = body.error;
  if (typeof code !== 'string' || typeof message !== 'string' || typeof status !== 'number') return null;
  return body.error as ErrorBody['error'];
}
