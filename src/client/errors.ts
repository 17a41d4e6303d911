import type { Error as ErrorBody, LabelFreshness } from './schemas.ts';
import { describeStaleness, type Staleness } from './staleness.ts';

/** Error code of the service. The list is closed for one version of the service; a later version may add codes. */
export type FactsErrorCode = ErrorBody['error']['code'] | (string & {});

/**
 * An error response of the service: a refused fact (503), or a request that the service cannot serve. The caller must
 * not replace the error with a zero or an earlier reading.
 */
export class FactsError extends Error {
  readonly kind = 'refused';
  override readonly name = 'FactsError';
  readonly path: string;
  readonly status: number;
  readonly code: FactsErrorCode;
  /**
   * Freshness of a refused label artifact, with the reason for the refusal. Null if the service could not read an
   * artifact, and for any other error.
   */
  readonly freshness: LabelFreshness | null;
  /** Seconds to wait before a retry, if the service states them. */
  readonly retryAfterSeconds: number | null;

  constructor(path: string, error: ErrorBody['error'], retryAfterSeconds: number | null) {
    super(error.message);
    this.path = path;
    this.status = error.status;
    this.code = error.code;
    this.freshness = error.freshness ?? null;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Error for a missing response: the client knows neither the state of the fact nor whether the service refused it. If
 * the reason is `unreachable`, `cause` is the platform's error.
 */
export class NetworkError extends Error {
  readonly kind = 'network';
  override readonly name = 'NetworkError';
  readonly path: string;
  readonly reason: 'unreachable' | 'timeout';

  constructor(path: string, reason: 'unreachable' | 'timeout', options?: { cause: unknown }) {
    super(
      reason === 'timeout' ? `${path}: no complete response in time` : `${path}: the service cannot be reached`,
      options,
    );
    this.path = path;
    this.reason = reason;
  }
}

/**
 * Error for a response that does not conform to this contract: a proxy's error page, a response that is too large or
 * not JSON, or a response of another contract.
 */
export class AnswerError extends Error {
  readonly kind = 'answer';
  override readonly name = 'AnswerError';
  readonly path: string;
  readonly status: number;
  /** Seconds to wait before a retry, if the response states them. */
  readonly retryAfterSeconds: number | null;

  constructor(path: string, status: number, why: string, retryAfterSeconds: number | null = null) {
    super(`${path}: ${why} (status ${status})`);
    this.path = path;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Error for a response that does not describe the present: a cache between this client and the service serves expired
 * responses, or this client's clock is wrong. The message states both, with the remedy. The caller must not replace the
 * error with a zero or an earlier reading.
 */
export class StaleCacheError extends Error {
  readonly kind = 'stale_cache';
  readonly code = 'served_by_stale_cache';
  override readonly name = 'StaleCacheError';
  readonly path: string;
  /** Evidence: the reason, the age and its limit, and the clock that determined the age. */
  readonly staleness: Staleness;

  constructor(path: string, staleness: Staleness) {
    super(describeStaleness(path, staleness));
    this.path = path;
    this.staleness = staleness;
  }
}
