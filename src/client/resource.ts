import { AnswerError, FactsError, StaleCacheError } from './errors.ts';
import { type Answer, exchange, type Question } from './exchange.ts';
import { cacheLifetimeMs, maxAgeMs, maxValidator, retryAfterSeconds } from './headers.ts';
import {
  type Identified,
  type Kept,
  maxDeliveryOf,
  type Reading,
  receivedTick,
  supersedes,
  within,
} from './reading.ts';
import type { Error as ErrorBody, LabelFreshness } from './schemas.ts';
import { ReceiptJudge, type ServiceClock } from './staleness.ts';

/** One path of the contract, with the options for its requests. */
interface ResourceOptions extends Omit<Question, 'etag' | 'signal'> {
  /** Contract id that a response must contain. */
  readonly contract: string;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
  /** True if the service refuses the fact once its artifact exceeds the limits in `freshness`. */
  readonly hasBound: boolean;
  /** Clock of the service, for all its paths. */
  readonly clock: ServiceClock;
}

/**
 * Creates the function that requests one path. The function caches the last reading, shares one pending request among
 * its callers, and throws the last error again until the `Retry-After` of that response has passed.
 */
export function createResource<E extends Identified>(options: ResourceOptions) {
  const { path, contract, now } = options;
  const judge = new ReceiptJudge(options.clock, options.hasBound);
  let kept: Kept<E> | null = null;
  let pause: { error: FactsError | AnswerError; since: number; spanMs: number } | null = null;

  const isCurrent = ({ value, lifetimeMs }: Kept<E>, at: number): boolean =>
    judge.staleness(value, null, lifetimeMs, at) === null;

  function accepted(answer: Answer, signal: AbortSignal): Reading<E> {
    // Do not cache the response of an aborted request: a later request may already have completed.
    signal.throwIfAborted();
    const at = now();
    const { headers, status } = answer;
    const lifetimeMs = cacheLifetimeMs(headers);
    const lives = { confirmedAt: at, tick: performance.now(), maxAgeMs: maxAgeMs(headers), lifetimeMs };
    if (status === 304 && kept) {
      const confirmed: Kept<E> = { ...kept, ...lives };
      const staleness = judge.staleness(kept.value, headers, lifetimeMs, at);
      // Drop an expired reading, so that a cache cannot confirm it again.
      kept = staleness === null ? confirmed : null;
      if (staleness !== null) throw new StaleCacheError(path, staleness);
      return readingOf(confirmed, 'revalidated');
    }
    if (status !== 200) throw refused(answer, at);
    const value = parsed<E>(answer, path, contract);
    const arrival = { receivedAt: at, maxDeliveryMs: maxDeliveryOf(lifetimeMs), [receivedTick]: lives.tick };
    const next: Kept<E> = { ...lives, ...arrival, value, etag: validator(headers) };
    const staleness = judge.staleness(value, headers, lifetimeMs, at);
    if (kept && supersedes(kept, value, at) && isCurrent(kept, at)) return readingOf(kept, 'kept_newer');
    if (staleness !== null) throw new StaleCacheError(path, staleness);
    kept = next;
    return readingOf(next, 'fetched');
  }

  function refused(answer: Answer, at: number): FactsError | AnswerError {
    const wait = retryAfterSeconds(answer.headers, at);
    const error = errorIn(answer, path, wait);
    // Drop the cached reading: after the service has refused the fact, the earlier reading is no longer valid.
    if (error instanceof FactsError) {
      kept = null;
      judge.refused(answer.headers, at);
    }
    if (wait !== null) pause = { error, since: at, spanMs: wait * 1000 };
    return error;
  }

  const ask = shared(async (signal) => {
    pause = null;
    return accepted(await exchange({ ...options, etag: kept?.etag ?? null, signal }), signal);
  });

  return async (signal?: AbortSignal): Promise<Reading<E>> => {
    signal?.throwIfAborted();
    if (pause && within(pause.since, pause.spanMs, now())) throw pause.error;
    const at = now();
    if (kept && isFresh(kept, at) && isCurrent(kept, at)) return readingOf(kept, 'kept');
    return ask(signal);
  };
}

/** Returns true while no request is sent for a response. A monotonic clock counts too, because `at` may be set back. */
function isFresh({ confirmedAt, tick, maxAgeMs: span }: Kept<unknown>, at: number): boolean {
  return within(confirmedAt, span, at) && performance.now() - tick < span;
}

function readingOf<E>(kept: Kept<E>, via: Reading<E>['via']): Reading<E> {
  const { value, receivedAt, confirmedAt, maxDeliveryMs, [receivedTick]: tick } = kept;
  return { value, via, receivedAt, confirmedAt, maxDeliveryMs, [receivedTick]: tick };
}

/**
 * Parses the body of a response. Throws AnswerError if the body is not a JSON object or names another contract. The
 * client trusts the service for the remaining fields.
 */
function parsed<E extends Identified>({ text, status }: Answer, path: string, contract: string): E {
  const value = objectIn(text);
  if (value === null) throw new AnswerError(path, status, 'the response is not a JSON object');
  if (value.contract !== contract) throw new AnswerError(path, status, `the response does not conform to ${contract}`);
  return value as unknown as E;
}

function errorIn({ status, text }: Answer, path: string, wait: number | null): FactsError | AnswerError {
  const body = errorBody(text);
  return body
    ? new FactsError(path, { ...body, status }, wait)
    : new AnswerError(path, status, 'the response is not from this service', wait);
}

function errorBody(text: string): ErrorBody['error'] | null {
  const error = record(objectIn(text)?.error);
  if (error === null || typeof error.code !== 'string' || typeof error.message !== 'string') return null;
  const freshness = record(error.freshness);
  return {
    status: 0,
    code: error.code as ErrorBody['error']['code'],
    message: error.message,
    ...(typeof freshness?.state === 'string' ? { freshness: freshness as unknown as LabelFreshness } : {}),
  };
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    return record(JSON.parse(text));
  } catch {
    return null;
  }
}

function record(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

/**
 * Returns a function that shares one pending run among all callers. An aborted signal immediately rejects only its own
 * caller's promise. When the signals of all callers are aborted, the run is aborted, and the next caller starts a new
 * run.
 */
function shared<T>(run: (signal: AbortSignal) => Promise<T>): (signal?: AbortSignal) => Promise<T> {
  let current: Run<T> | null = null;

  function begin(): Run<T> {
    const stop = new AbortController();
    const begun: Run<T> = { stop, callers: 0, result: run(stop.signal) };
    const over = (): void => {
      if (current === begun) current = null;
    };
    begun.result.then(over, over);
    current = begun;
    return begun;
  }

  return (signal) =>
    new Promise<T>((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const joined = current ?? begin();
      joined.callers += 1;
      const leave = (): void => {
        reject(signal?.reason);
        joined.callers -= 1;
        if (joined.callers > 0) return;
        if (current === joined) current = null;
        joined.stop.abort(signal?.reason);
      };
      const stay = (): void => signal?.removeEventListener('abort', leave);
      signal?.addEventListener('abort', leave, { once: true });
      joined.result.then(resolve, reject).then(stay, stay);
    });
}

interface Run<T> {
  readonly stop: AbortController;
  callers: number;
  readonly result: Promise<T>;
}

/** Returns the `ETag` of a response, or null if it is absent or too long for a request header. */
function validator(headers: Headers): string | null {
  const etag = headers.get('etag');
  return etag !== null && etag.length <= maxValidator ? etag : null;
}
