import type { Reading } from './reading.ts';
import { createResource } from './resource.ts';
import type { InstrumentIndex, LabelsOverview, WeatherConditionsEnvelope, WeatherMetricsEnvelope } from './schemas.ts';

/** Options of a client. */
export interface FactsClientOptions {
  /** The platform's own unless given. */
  readonly fetch?: typeof globalThis.fetch;
  /** A whole answer must arrive within this, in milliseconds; 10,000 unless given. */
  readonly timeoutMs?: number;
  /** Largest answer that is read, in bytes; 4 MiB unless given. */
  readonly maxBytes?: number;
  /** Milliseconds since 1970; `Date.now` unless given. */
  readonly now?: () => number;
}

/** Options of one request. */
export interface AskOptions {
  /** Takes this caller out: its promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Asks one path. Rejects with FactsError, NetworkError, AnswerError or the signal's reason. */
export type Ask<E> = (options?: AskOptions) => Promise<Reading<E>>;

/** The facts of one service. Asking as often as one likes is polite: within `max-age` nothing is sent. */
export interface FactsClient {
  /** Every instrument, and what can be read of it. */
  readonly instruments: Ask<InstrumentIndex>;
  /** Observed label events, with coverage and freshness. */
  readonly labelsOverview: Ask<LabelsOverview>;
  /** Network conditions, in words. */
  readonly weatherConditions: Ask<WeatherConditionsEnvelope>;
  /** Observed events and rates by collection. */
  readonly weatherMetrics: Ask<WeatherMetricsEnvelope>;
}

/** A client of the service at a base address, such as `https://facts.example/atproto`. Throws TypeError for any other. */
export function createFactsClient(baseUrl: string | URL, options: FactsClientOptions = {}): FactsClient {
  const shared = {
    base: baseOf(baseUrl),
    // Called as a plain function: a browser's own refuses any other receiver than its window.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    timeoutMs: options.timeoutMs ?? 10_000,
    maxBytes: options.maxBytes ?? 4 * 1024 * 1024,
    now: options.now ?? Date.now,
  } as const;
  function asking<E extends { readonly contract: string }>(path: string, contract: E['contract']): Ask<E> {
    const resource = createResource<E>({ ...shared, path, contract });
    return ({ signal } = {}) => resource(signal);
  }
  return {
    instruments: asking<InstrumentIndex>('/v1/instruments', 'atproto.facts.instruments/v1'),
    labelsOverview: asking<LabelsOverview>('/v1/labels/overview', 'atproto.facts.labels.overview/v1'),
    weatherConditions: asking<WeatherConditionsEnvelope>(
      '/v1/weather/conditions',
      'atproto.facts.weather.conditions/v1',
    ),
    weatherMetrics: asking<WeatherMetricsEnvelope>('/v1/weather/metrics', 'atproto.facts.weather.metrics/v1'),
  };
}

function baseOf(baseUrl: string | URL): string {
  const { protocol, origin, pathname, username, password } = new URL(baseUrl);
  if (!['http:', 'https:'].includes(protocol) || username !== '' || password !== '') {
    throw new TypeError('the base URL must be an http or https URL without a user');
  }
  return origin + pathname.replace(/\/+$/, '');
}
