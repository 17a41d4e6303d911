import { hourMs } from '../../src/archive/days/calendar.ts';
import type { FetchedFact } from '../../src/archive/fetch-fact.ts';
import { errorBody } from '../../src/contract/errors.ts';

/** Bodies of a simulated facts service. They contain the fields from which the archive computes gaps. */

/** State of the simulated service at one time. */
export interface PublishedState {
  /** Time of the state, in milliseconds since 1970. */
  readonly now: number;
  /** Gaps of the label instrument. */
  readonly gaps?: readonly { readonly start: string; readonly end: string; readonly reason: string }[];
  /** Number of observed seconds in the last 24 hours of weather. */
  readonly observedSeconds?: number;
  /** True while the operator holds the label facts. */
  readonly isHeld?: boolean;
}

/** Returns the response of the simulated service for a path. */
export function publishedFact(path: string, state: PublishedState): FetchedFact {
  const { now, gaps = [], observedSeconds = 86_400, isHeld = false } = state;
  const [start, end] = [new Date(now - 24 * hourMs), new Date(now)].map((at) => at.toISOString());
  const window = { start, end, span_seconds: 86_400, observed_seconds: observedSeconds };
  const common = { contract: path.slice(1), retrieved_at: end };
  switch (path) {
    case '/v1/labels/overview':
      if (isHeld) return served(errorBody('source_held'), 503);
      return served({ ...common, facts: { coverage: { warmup: null, gaps } } });
    case '/v1/instruments':
      return served({ ...common, instruments: [] });
    default:
      return served({ ...common, facts: { window } });
  }
}

/** Returns a response whose body is formatted as the facts API formats it. */
export function served(body: object, status = 200): FetchedFact {
  const bytes = Buffer.from(JSON.stringify(body));
  return { kind: 'response', served: { status, body: bytes, etag: 'W/"a"', lastModified: null }, date: null };
}
