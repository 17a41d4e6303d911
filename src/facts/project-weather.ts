import type { CollectionSummary, WeatherArtifact, WeatherSummary, WeatherwatchSummary } from '../artifact/recognise.ts';
import type { WeatherFreshness, WeatherProvenance } from '../contract/envelope.ts';
import { formatTimestamp, usableTimestamp } from '../contract/timestamp.ts';
import { type CollectionName, collectionNames, type Origin } from '../contract/vocabulary.ts';
import type { CollectionMetrics, TotalEvents, WeatherConditions, WeatherWindow } from '../contract/weather.ts';
import { httpSchemes, parseUrl, publicUrl, socketSchemes } from '../input/url.ts';

import { caveatsOfOrigin } from './shown-facts.ts';

/** Published parts of a weather artifact, from which both weather facts are built. */
interface WeatherParts {
  readonly conditions: WeatherConditions | null;
  readonly window: WeatherWindow;
  readonly totalEvents: TotalEvents;
  readonly collections: Partial<Record<CollectionName, CollectionMetrics | null>>;
  readonly freshness: WeatherFreshness;
  readonly provenance: WeatherProvenance;
  readonly caveats: string[];
}

const weatherCaveats = [
  'Counts cover what one stream host delivered to one observer. They are never an estimate of what occurred.',
  'Rates divide by observed time; unobserved time is omitted, never interpolated.',
  'Events are counted, not accounts: participant turnover is unavailable by construction.',
  'A re-delivery under a new position cannot be distinguished from a new event.',
  'The instrument computed the freshness at generated_at: add age_seconds to get the age now.',
] as const;

const aheadCaveat = "generated_at is ahead of this service's clock: one of the two clocks is wrong.";

/**
 * Projects either weather artifact to its published parts, field by field (contract, weather facts). The caveats are: the
 * caveat of an origin other than `live`, the fixed ones, which state what the instrument cannot observe in principle, one
 * about the clocks if `isAhead`, and the artifact's own. `isAhead` is true if `generated_at` is in the future.
 */
export function projectWeather(artifact: WeatherArtifact, isAhead: boolean): WeatherParts {
  const parts = artifact.schema === 'weather.summary.v1' ? ours(artifact.summary) : weatherwatch(artifact.summary);
  const origin = caveatsOfOrigin(originOfWeather(artifact));
  return { ...parts, caveats: [...origin, ...weatherCaveats, ...(isAhead ? [aheadCaveat] : []), ...parts.caveats] };
}

/** Returns the origin of a weather artifact. The legacy producer states no origin and observes the live network. */
export function originOfWeather(artifact: WeatherArtifact): Origin {
  return artifact.schema === 'weather.summary.v1' ? (artifact.summary.origin ?? 'live') : 'live';
}

function ours(summary: WeatherSummary): WeatherParts {
  const { window, total_events: total, freshness } = summary;
  return {
    conditions: conditions(summary.conditions),
    window: {
      start: window.start,
      end: window.end,
      bucket_seconds: window.bucket_seconds,
      span_seconds: window.span_seconds,
      observed_seconds: window.observed_seconds,
      coverage_ratio: window.coverage_ratio,
      observed_windows: window.observed_windows,
      unobserved_windows: window.unobserved_windows,
    },
    totalEvents: {
      ...totals(total, total.observed_seconds > 0 && window.observed_seconds > 0),
      observed_seconds: total.observed_seconds,
    },
    collections: collections(summary.collections),
    freshness: {
      state: freshness.state,
      newest_observation_end: usableTimestamp(freshness.newest_observation_end),
      newest_complete_observation_end: usableTimestamp(freshness.newest_complete_observation_end),
      age_seconds: freshness.age_seconds,
      max_age_seconds: freshness.max_age_seconds,
      basis: freshness.basis,
    },
    provenance: {
      instrument: 'weather',
      method: 'jetstream_windows',
      artifact_schema_version: summary.schema,
      origin: summary.origin ?? 'live',
      ...publicEndpoint(summary.source.endpoint),
      ...(summary.source.wire === undefined ? {} : { wire: summary.source.wire }),
      measures: summary.measures,
      does_not_measure: withTurnover(summary.does_not_measure),
    },
    caveats: summary.caveats ?? [],
  };
}

function weatherwatch(summary: WeatherwatchSummary): WeatherParts {
  const { interval, total_events: total, freshness } = summary;
  return {
    conditions: summary.conditions && conditions(summary.conditions),
    window: {
      start: fromUnixSeconds(interval.first_bucket_start),
      end: fromUnixSeconds(interval.last_bucket_end),
      span_seconds: interval.span_seconds,
      observed_seconds: interval.observed_seconds,
      coverage_ratio: interval.coverage_ratio,
    },
    totalEvents: totals(total, interval.observed_seconds > 0),
    collections: collections(summary.metrics),
    freshness: {
      state: freshness.state,
      newest_observation_end: usableTimestamp(freshness.newest_observation_end),
      newest_complete_observation_end: usableTimestamp(freshness.newest_complete_observation_end),
      age_seconds: freshness.age_seconds ?? null,
      max_age_seconds: freshness.current_threshold_seconds ?? null,
      basis: freshness.basis ?? null,
    },
    provenance: {
      instrument: 'weather',
      method: 'jetstream_windows',
      artifact_schema_version: summary.schema,
      ...publicEndpoint(summary.source_endpoint),
      measures: summary.measures,
      does_not_measure: withTurnover(summary.does_not_measure),
    },
    caveats: [],
  };
}

function conditions(seen: WeatherSummary['conditions']): WeatherConditions {
  return {
    state: seen.state,
    label: seen.label,
    headline: seen.headline,
    sentence: seen.sentence,
    confidence: seen.confidence,
    as_of: usableTimestamp(seen.as_of),
  };
}

/** Returns the total and its rate; both are null if no time was observed. */
function totals(
  { total, mean_rate_per_s }: { total: number | null; mean_rate_per_s: number | null },
  watched: boolean,
): TotalEvents {
  return watched ? { total, mean_rate_per_s } : { total: null, mean_rate_per_s: null };
}

/** Returns the published collections. A collection that was not observed is null, never zero. */
function collections(seen: Partial<Record<CollectionName, CollectionSummary | null>>): WeatherParts['collections'] {
  const published: WeatherParts['collections'] = {};
  for (const name of collectionNames) {
    const entry = Object.hasOwn(seen, name) ? seen[name] : undefined;
    if (entry === undefined) continue;
    published[name] =
      entry === null || entry.observed_seconds === 0 || entry.observed_windows === 0 ? null : metrics(entry);
  }
  return published;
}

function metrics(entry: CollectionSummary): CollectionMetrics {
  return {
    total: entry.total,
    mean_rate_per_s: entry.mean_rate_per_s,
    observed_seconds: entry.observed_seconds,
    observed_windows: entry.observed_windows,
    unobserved_windows: entry.unobserved_windows,
  };
}

/**
 * Adds participant turnover to the list of what is not measured, because every weather artifact counts events, not
 * accounts.
 */
function withTurnover(list: readonly string[]): string[] {
  const turnover = 'participant turnover';
  return list.includes(turnover) ? list.slice() : [...list, turnover];
}

/**
 * Returns the address of the observed stream or page without credentials, query and fragment, which the operator may
 * have configured. Returns no address if the endpoint is not a valid URL of a stream or page, because any part of it
 * may contain a secret.
 */
function publicEndpoint(endpoint: string): { readonly source_endpoint?: string } {
  const verdict = parseUrl(endpoint, { schemes: endpointSchemes, admits: ['credentials', 'fragment'] });
  if (verdict.kind === 'refused') return {};
  const { url } = verdict;
  if (`${url.username}${url.password}${url.search}${url.hash}` === '') return { source_endpoint: endpoint };
  return { source_endpoint: publicUrl(url) };
}

const endpointSchemes: readonly string[] = [...socketSchemes, ...httpSchemes];

function fromUnixSeconds(seconds: number | null): string | null {
  return seconds === null ? null : formatTimestamp(seconds * 1000);
}
