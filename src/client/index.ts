import type { Reading } from './reading.ts';
import { createResource } from './resource.ts';
import type { InstrumentIndex, LabelsOverview, WeatherConditionsEnvelope, WeatherMetricsEnvelope } from './schemas.ts';
import { ServiceClock } from './staleness.ts';

/** `almanac/client`: a client of the facts API for Node and browsers, without dependencies on other packages. */
export { type AgedFact, type Currency, currentAge, weatherCurrency } from './currency.ts';
export { AnswerError, FactsError, type FactsErrorCode, NetworkError, StaleCacheError } from './errors.ts';
export type { Reading } from './reading.ts';
export type {
  Acquisition,
  CollectionMetrics,
  Coverage,
  CoverageSources,
  Gap,
  InstrumentEntry,
  InstrumentIndex,
  LabelCounts,
  LabelFreshness,
  LabelsOverview,
  LegacyLabelFacts,
  RecentLabelFacts,
  WeatherConditions,
  WeatherConditionsEnvelope,
  WeatherConditionsFacts,
  WeatherFreshness,
  WeatherMetricsEnvelope,
  WeatherMetricsFacts,
  WeatherWindow,
} from './schemas.ts';
export type { Staleness } from './staleness.ts';

/** Options for a facts client. */
export interface FactsClientOptions {
  /** Function that sends requests; default: the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Timeout of a whole response, in milliseconds; default 10,000. */
  readonly timeoutMs?: number;
  /** Maximum size of a response, in bytes; default 4 MiB. */
  readonly maxBytes?: number;
  /** Clock in milliseconds since 1970; default `Date.now`. */
  readonly now?: () => number;
}

/** Options for one request of a facts client. */
export interface AskOptions {
  /** Signal that ends this caller's wait: the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * A function that requests one path. Rejects with FactsError, NetworkError, AnswerError, StaleCacheError or the signal's
 * reason.
 */
export type Ask<E> = (options?: AskOptions) => Promise<Reading<E>>;

/**
 * A client for the facts of one service. Calls within a response's `max-age` send no request, so frequent calls are
 * cheap.
 */
export interface FactsClient {
  /** Requests all instruments, with the paths of their facts. */
  readonly instruments: Ask<InstrumentIndex>;
  /** Requests observed label events, with coverage and freshness. */
  readonly labelsOverview: Ask<LabelsOverview>;
  /** Requests network conditions as text. */
  readonly weatherConditions: Ask<WeatherConditionsEnvelope>;
  /** Requests observed events and rates by collection. */
  readonly weatherMetrics: Ask<WeatherMetricsEnvelope>;
}

/**
 * Creates a client of the service at a base address, such as `https://facts.example/atproto`. Throws TypeError for an
 * invalid address.
 */
export function createFactsClient(baseUrl: string | URL, options: FactsClientOptions = {}): FactsClient {
  const shared = {
    base: baseOf(baseUrl),
    // Call `fetch` as a plain function: a browser's `fetch` throws for any receiver other than its window.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    timeoutMs: options.timeoutMs ?? 10_000,
    maxBytes: options.maxBytes ?? 4 * 1024 * 1024,
    now: options.now ?? Date.now,
    clock: new ServiceClock(),
  } as const;
  function asking<E extends { readonly contract: string }>(
    path: string,
    contract: E['contract'],
    hasBound = false,
  ): Ask<E> {
    const resource = createResource<E>({ ...shared, path, contract, hasBound });
    return ({ signal } = {}) => resource(signal);
  }
  return {
    instruments: asking<InstrumentIndex>('/v1/instruments', 'atproto.facts.instruments/v1'),
    labelsOverview: asking<LabelsOverview>('/v1/labels/overview', 'atproto.facts.labels.overview/v1', true),
    weatherConditions: asking<WeatherConditionsEnvelope>(
      '/v1/weather/conditions',
      'atproto.facts.weather.conditions/v1',
    ),
    weatherMetrics: asking<WeatherMetricsEnvelope>('/v1/weather/metrics', 'atproto.facts.weather.metrics/v1'),
  };
}

/**
 * Returns the base address without query, fragment and trailing slashes. Throws TypeError for an invalid address. The
 * client must not import other parts of the project, so this function does not use the URL rules of `src/input/url.ts`.
 */
function baseOf(baseUrl: string | URL): string {
  const url = URL.canParse(String(baseUrl)) ? new URL(baseUrl) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '' || url.password !== '') {
    throw new TypeError('the base URL must be an http or https URL without credentials, such as https://facts.example');
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}
