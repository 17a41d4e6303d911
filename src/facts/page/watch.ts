import type { FactEnvelope } from '../../contract/envelope.ts';
import type { ErrorBody } from '../../contract/errors.ts';
import type { FactContractId } from '../../contract/identifiers.ts';
import { cacheSeconds } from '../../contract/limits.ts';
import type { Shown } from './model.ts';

/** One fact of the API, kept as a reader of the contract keeps it. */
export interface FactWatch<E> {
  /** Asks again, by the validator of what is kept; never rejects. */
  ask(): Promise<Shown<E>>;
  /** Time at which the response expires, in milliseconds of the given clock. */
  dueAt(): number;
}

/** Dependencies of a watch: the browser's own, or a test's. */
export interface WatchContext {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** Timeout of a request, in milliseconds. */
const timeoutMs = 10_000;

/** A service that gave no answer is asked again after this time, in milliseconds. */
const retryMs = 15_000;

/** Nothing is asked for more often than this, whatever an answer says of its age, in milliseconds. */
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
        // No network, no answer in time, or the answer of something that is not the service: nothing is known.
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

/** The contract's id carries its major version: what it names has the shape that this page knows. */
function isEnvelope(body: unknown, contract: FactContractId): boolean {
  return isObject(body) && body.contract === contract && isObject(body.facts);
}

function errorOf(body: unknown): ErrorBody['error'] | null {
  if (!isObject(body) || !isObject(body.error)) return null;
  const { code, message, status } = body.error;
  if (typeof code !== 'string' || typeof message !== 'string' || typeof status !== 'number') return null;
  return body.error as ErrorBody['error'];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
