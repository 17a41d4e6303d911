import { readBody } from '../client/body.ts';
import { cacheLifetimeMs } from '../client/headers.ts';
import { describeStaleness, ReceiptJudge, ServiceClock } from '../client/staleness.ts';
import { paths } from '../contract/identifiers.ts';
import { inputLimits } from '../input/limits.ts';
import type { FailureReason, ServedResponse } from './days/line.ts';
import { parsedObject } from './days/records.ts';

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
  | {
      readonly kind: 'failure';
      readonly failure: Extract<FailureReason, 'unreachable' | 'too_large'>;
      /** `Date` of a response that looks expired, in milliseconds since 1970. A cache may have stored it. */
      readonly expiredDate?: number;
    };

/** Options for the requests. */
interface FetchOptions {
  /** Address of the facts API, chosen by the operator, without a trailing slash. */
  readonly base: string;
  readonly fetch: typeof globalThis.fetch;
  readonly userAgent: string;
  /** Maximum time until the complete response has arrived, in milliseconds. */
  readonly timeoutMs: number;
  /** Aborts pending requests. */
  readonly stop: AbortSignal;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  /** Called with a description of each response that a cache repeated although it has expired. */
  readonly onExpired: (why: string) => void;
}

/**
 * Creates a function that requests one path. A response with any status is a result: refusals are archived as they were
 * served. Redirects are not followed. A response that a cache repeats although it has expired is not a response of the
 * service, which counts as unreachable. The promise never rejects.
 */
export function factFetcher(options: FetchOptions): (path: string) => Promise<FetchedFact> {
  const service = new ServiceClock();
  const judges = new Map<string, ReceiptJudge>();
  return async (path) => {
    const { base, fetch, userAgent, timeoutMs, stop, clock, onExpired } = options;
    const signal = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
    try {
      const sent = { Accept: 'application/json', 'User-Agent': userAgent };
      const response = await fetch(base + path, { headers: sent, redirect: 'manual', signal });
      const body = await readBody(response, inputLimits.archivedFact.bytes);
      if (!body) return { kind: 'failure', failure: 'too_large' };
      const { status, headers } = response;
      const date = Date.parse(headers.get('date') ?? '');
      const expired = status === 200 ? expiry(path, body, headers) : null;
      if (expired !== null) {
        onExpired(expired);
        return { kind: 'failure', failure: 'unreachable', ...(!Number.isNaN(date) && { expiredDate: date }) };
      }
      if (status === 503) judgeOf(path).refused(headers, clock());
      const [etag, lastModified] = ['etag', 'last-modified'].map((name) => headers.get(name));
      const served = { status, body, etag: etag ?? null, lastModified: lastModified ?? null };
      return { kind: 'response', served, date: Number.isNaN(date) ? null : date };
    } catch {
      return { kind: 'failure', failure: 'unreachable' };
    }
  };

  function judgeOf(path: string): ReceiptJudge {
    const judge = judges.get(path) ?? new ReceiptJudge(service, path === paths.labelsOverview);
    judges.set(path, judge);
    return judge;
  }

  function expiry(path: string, body: Uint8Array, headers: Headers): string | null {
    const value = parsedObject(body);
    if (value === null) return null;
    const staleness = judgeOf(path).staleness(value, headers, cacheLifetimeMs(headers), options.clock());
    return staleness === null ? null : describeStaleness(path, staleness);
  }
}
