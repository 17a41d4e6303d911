import { exchange } from '../../client/exchange.ts';
import { cacheLifetimeMs, maxAgeMs } from '../../client/headers.ts';
import { describeStaleness, ReceiptJudge, type ServiceClock } from '../../client/staleness.ts';
import type { FactEnvelope } from '../../contract/envelope.ts';
import type { ErrorBody } from '../../contract/errors.ts';
import { contractIds, type FactContractId } from '../../contract/identifiers.ts';
import { cacheSeconds } from '../../contract/limits.ts';
import type { Origin } from '../../contract/vocabulary.ts';
import { isObject } from '../../input/json-budget.ts';
import type { Shown } from './model.ts';

/** Requests one fact from the API, and caches the fact as the contract requires of clients. */
interface FactWatch<E> {
  /** Requests the fact again with the validator of the cached response. Never rejects. */
  ask(): Promise<Shown<E>>;
  /** Returns the time at which the response expires, in milliseconds of the given clock. */
  dueAt(): number;
}

/** Functions on which a watch depends, provided by the browser or by a test. */
export interface WatchContext {
  readonly fetch: typeof globalThis.fetch;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  /** Clock of the service, which all watches share. */
  readonly service: ServiceClock;
  /** Origin that the page marks before the first response; undefined if it marks none. */
  readonly origin: Origin | undefined;
}

/** Timeout of a request for a fact, in milliseconds. */
const timeoutMs = 10_000;

/** Maximum size of a response, in bytes. */
const maxBytes = 4 * 1024 * 1024;

/** Delay before the next request after a request without a response, in milliseconds. */
const retryMs = 15_000;

/** Minimum interval between requests in milliseconds, even if the response expires earlier. */
const minIntervalMs = 5_000;

/**
 * Creates a watch of one fact. Unlike the client's cache, which keeps a reading after a failure, the watch discards its
 * fact after the first refusal or failure and shows it again only after a new response. A response that a cache repeats
 * although it has expired counts as a failure.
 */
export function watchFact<C extends FactContractId>(
  url: string,
  contract: C,
  { fetch, clock, service, origin: marked }: WatchContext,
): FactWatch<Extract<FactEnvelope, { contract: C }>> {
  type E = Extract<FactEnvelope, { contract: C }>;
  // Send credentials as the browser did for the page, because a proxy in front of the service may require them.
  const request = { fetch, base: '', path: url, timeoutMs, maxBytes, credentials: 'same-origin' } as const;
  let kept: { readonly etag: string; readonly envelope: E } | null = null;
  const judge = new ReceiptJudge(service, contract === contractIds.labelsOverview);
  let due = Number.NEGATIVE_INFINITY;
  // The error of a refusal states no origin, but the refused facts have the origin of the facts before them.
  let origin = marked;

  const from = () => (origin === undefined ? {} : { origin });

  /** Returns the envelope as served, or the reason why it does not describe the present. */
  function judged(envelope: E, headers: Headers, asked: number): Shown<E> {
    const staleness = judge.staleness(envelope, headers, cacheLifetimeMs(headers), clock());
    origin = envelope.provenance?.origin;
    if (staleness === null) {
      const validator = headers.get('ETag') ?? kept?.etag;
      kept = validator === undefined ? null : { etag: validator, envelope };
      due = asked + usableFor(headers);
      return { kind: 'served', envelope };
    }
    kept = null;
    due = asked + retryMs;
    return { kind: 'unreached', expired: describeStaleness(url, staleness), ...from() };
  }

  async function answer(): Promise<Shown<E>> {
    const asked = clock();
    const etag = kept?.etag ?? null;
    const { status, headers, text } = await exchange({ ...request, etag, signal: new AbortController().signal });
    if (status === 304 && kept) return judged(kept.envelope, headers, asked);
    kept = null;
    const body: unknown = JSON.parse(text);
    if (status === 200 && isEnvelope(body, contract)) return judged(body as E, headers, asked);
    const error = errorOf(body);
    judge.refused(headers, clock());
    due = asked + cacheSeconds * 1000;
    return { kind: 'refused', error, ...from() };
  }

  return {
    async ask() {
      try {
        return await answer();
      } catch {
        // Discard the fact: the network failed, the request timed out, or the response is not from this service.
        kept = null;
        due = clock() + retryMs;
        return { kind: 'unreached', ...from() };
      }
    },
    dueAt: () => due,
  };
}

/** Returns how long a response may be used after its request, in milliseconds. */
function usableFor(headers: Headers): number {
  return Math.max(minIntervalMs, maxAgeMs(headers));
}

/**
 * Returns true if a body is an envelope of the contract. The contract id includes the major version, so the page
 * supports the shape of such an envelope.
 */
function isEnvelope(body: unknown, contract: FactContractId): boolean {
  return isObject(body) && body.contract === contract && isObject(body.facts);
}

/** Returns the error in a body. Throws if the response is neither a fact nor an error that the contract defines. */
function errorOf(body: unknown): ErrorBody['error'] {
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  const { code, message, status } = error;
  if (typeof code !== 'string' || typeof message !== 'string' || typeof status !== 'number')
    throw new Error('the response is neither a fact nor an error that the contract defines');
  return error as ErrorBody['error'];
}
