import { readBody } from '../client/body.ts';
import { inputLimits } from '../input/limits.ts';
import type { FailureReason, ServedResponse } from './days/line.ts';

/** Result of one request for a published body. */
export type FetchedFact =
  | {
      readonly kind: 'response';
      readonly served: ServedResponse;
      /**
       * Time of the facts API according to its `Date` header, in milliseconds since 1970; null without a valid header.
       */
      readonly date: number | null;
    }
  | { readonly kind: 'failure'; readonly failure: Extract<FailureReason, 'unreachable' | 'too_large'> };

/** Options for the requests. */
export interface FetchOptions {
  /** Address of the facts API, chosen by the operator, without a trailing slash. */
  readonly base: string;
  readonly fetch: typeof globalThis.fetch;
  readonly userAgent: string;
  /** Maximum time until the complete response has arrived, in milliseconds. */
  readonly timeoutMs: number;
  /** Aborts pending requests. */
  readonly stop: AbortSignal;
}

/**
 * Requests one path. A response with any status is a result: refusals are archived as they were served. Redirects are
 * not followed. The promise never rejects.
 */
export async function fetchFact(path: string, options: FetchOptions): Promise<FetchedFact> {
  const { base, fetch, userAgent, timeoutMs, stop } = options;
  const signal = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
  try {
    const headers = { Accept: 'application/json', 'User-Agent': userAgent };
    const response = await fetch(base + path, { headers, redirect: 'manual', signal });
    const body = await readBody(response, inputLimits.archivedFact.bytes);
    if (!body) return { kind: 'failure', failure: 'too_large' };
    const { status } = response;
    const [etag, lastModified] = ['etag', 'last-modified'].map((name) => response.headers.get(name));
    const date = Date.parse(response.headers.get('date') ?? '');
    const served = { status, body, etag: etag ?? null, lastModified: lastModified ?? null };
    return { kind: 'response', served, date: Number.isNaN(date) ? null : date };
  } catch {
    return { kind: 'failure', failure: 'unreachable' };
  }
}
