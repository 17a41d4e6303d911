import type { Json, JsonObject, Reading } from './values.ts';
import * as rule from './values.ts';

/** A model of the weather summaries of Almanac and of the legacy observatory. */

const collections = [
  ...['post.create', 'post.create.reply', 'post.create.quote', 'post.delete', 'like.create', 'like.delete'],
  ...['repost.create', 'repost.delete', 'follow.create', 'follow.delete', 'block.create', 'block.delete'],
  ...['listitem.create', 'listitem.delete', 'profile.update', 'identity.event', 'account.event'],
];
const states = [
  ...['station_offline', 'unavailable', 'lull', 'calm', 'active', 'unsettled', 'turbulent', 'storm', 'severe_storm'],
];
const rateOrNull = rule.nullOr(rule.rate);

export function summaryReading(artifact: JsonObject): Reading {
  const origin = artifact.origin === undefined ? 'live' : rule.word(['live', 'simulated', 'sample'])(artifact.origin);
  const source = rule.fields<Json>(rule.object(artifact.source), { endpoint: rule.text, method: rule.text });
  const window = rule.fields<Json>(rule.object(artifact.window), {
    start: rule.time,
    end: rule.time,
    bucket_seconds: rule.count,
    span_seconds: rule.rate,
    observed_seconds: rule.rate,
    coverage_ratio: rateOrNull,
    observed_windows: rule.count,
    unobserved_windows: rule.count,
  });
  const totals = rule.fields<Json>(rule.object(artifact.total_events), {
    total: rule.nullOr(rule.count),
    mean_rate_per_s: rateOrNull,
    observed_seconds: rule.rate,
  });
  rule.inOrder(rule.instant(window.start), rule.instant(window.end));
  return weather('weather', artifact, {
    origin,
    version: 'weather.summary.v1',
    endpoint: source.endpoint ?? '',
    conditions: conditions(artifact.conditions),
    window,
    totals,
    collections: entries(artifact.collections),
    freshness: freshness(rule.object(artifact.freshness), 'max_age_seconds'),
  });
}

export function weatherwatchReading(artifact: JsonObject): Reading {
  const interval = rule.object(artifact.interval);
  rule.inOrder(interval.first_bucket_start, interval.last_bucket_end);
  const window = {
    start: unixTime(interval.first_bucket_start),
    end: unixTime(interval.last_bucket_end),
    ...rule.fields<Json>(interval, {
      span_seconds: rule.rate,
      observed_seconds: rule.rate,
      coverage_ratio: rateOrNull,
    }),
  };
  return weather('weatherwatch', artifact, {
    origin: null,
    version: 'weatherwatch.summary/v2',
    endpoint: rule.text(artifact.source_endpoint),
    conditions: rule.nullOr(conditions)(artifact.conditions),
    window,
    totals: rule.fields<Json>(rule.object(artifact.total_events), { total: rule.count, mean_rate_per_s: rateOrNull }),
    collections: entries(artifact.metrics),
    freshness: freshness(rule.object(artifact.freshness), 'current_threshold_seconds'),
  });
}

interface Parts {
  readonly origin: string | null;
  readonly version: string;
  readonly endpoint: Json;
  readonly conditions: JsonObject | null;
  readonly window: JsonObject;
  readonly totals: JsonObject;
  readonly collections: JsonObject;
  readonly freshness: JsonObject;
}

function weather(schema: 'weather' | 'weatherwatch', artifact: JsonObject, parts: Parts): Reading {
  const { origin, window } = parts;
  const totals = totalsOf(parts.totals, window);
  return {
    schema,
    generatedAt: artifact.generated_at,
    origin: origin ?? 'live',
    provenance: {
      instrument: 'weather',
      method: 'jetstream_windows',
      artifact_schema_version: parts.version,
      ...(origin === null ? {} : { origin }),
      does_not_measure: withTurnover(rule.list(artifact.does_not_measure, rule.text)),
      ...publicEndpoint(parts.endpoint),
      measures: rule.text(artifact.measures),
    },
    facts: {
      '/v1/weather/conditions': { conditions: parts.conditions, window, total_events: totals },
      '/v1/weather/metrics': { window, collections: parts.collections, total_events: totals },
    },
    caveats: [],
    label: null,
    freshness: parts.freshness,
  };
}

/**
 * Returns the endpoint without credentials and query. Returns an object without an endpoint if the text is not a URL.
 */
function publicEndpoint(endpoint: Json): JsonObject {
  const parts = /^(wss?:\/\/|https?:\/\/)(?:[^/@]*@)?([^/@?#\s]+)([^?#\s]*)(?:\?[^#\s]*)?$/.exec(rule.text(endpoint));
  return parts ? { source_endpoint: `${parts[1]}${parts[2]}${parts[3]}` } : {};
}

/** Adds participant turnover to the list of unsupported statements: the instrument counts events, not accounts. */
function withTurnover(listed: string[]): string[] {
  return listed.includes('participant turnover') ? listed : [...listed, 'participant turnover'];
}

function conditions(value: Json | undefined): JsonObject {
  return rule.fields<Json>(rule.object(value), {
    state: rule.word(states),
    label: rule.text,
    headline: rule.text,
    sentence: rule.text,
    confidence: rule.word(['supported', 'thin', 'unsupported']),
    as_of: (as_of) => rule.timeOrNull(writtenOrNull(as_of ?? null)),
  });
}

/** Returns the entries whose names are known. A collection that was never observed may be null. */
function entries(value: Json | undefined): JsonObject {
  const known = Object.entries(rule.object(value)).filter(([name]) => collections.includes(name));
  const entry = (item: Json | undefined): JsonObject =>
    rule.fields<Json>(rule.object(item), {
      total: rule.count,
      mean_rate_per_s: rateOrNull,
      observed_seconds: rule.rate,
      observed_windows: rule.count,
      unobserved_windows: rule.count,
    });
  return Object.fromEntries(known.map(([name, item]) => [name, observed(rule.nullOr(entry)(item))]));
}

/** Returns null instead of zero counts for a collection that was never observed. */
function observed(entry: JsonObject | null): JsonObject | null {
  return entry?.observed_seconds === 0 || entry?.observed_windows === 0 ? null : entry;
}

/** Returns the totals, with null counts and rates if nothing in the window was observed. */
function totalsOf(totals: JsonObject, window: JsonObject): JsonObject {
  const unobserved = totals.observed_seconds === 0 || window.observed_seconds === 0;
  return unobserved ? { ...totals, total: null, mean_rate_per_s: null } : totals;
}

/** Returns the freshness with null for absent times. The legacy observatory may omit every field except the state. */
function freshness(from: JsonObject, maxAge: string): JsonObject {
  const mayLack = maxAge === 'current_threshold_seconds';
  const lenient = <T>(item: (value: Json | undefined) => T) => {
    const found = rule.nullOr(item);
    return (value: Json | undefined): T | null => (mayLack ? found(value ?? null) : item(value));
  };
  const orNull = (value: Json | undefined): string | null =>
    rule.timeOrNull(mayLack ? writtenOrNull(value ?? null) : writtenOrNull(value));
  return {
    state: rule.word(['current', 'partial', 'stale', 'unavailable'])(from.state),
    newest_observation_end: orNull(from.newest_observation_end),
    newest_complete_observation_end: orNull(from.newest_complete_observation_end),
    age_seconds: rule.nullOr(rule.number)(mayLack ? (from.age_seconds ?? null) : from.age_seconds),
    basis: lenient(rule.text)(from.basis),
    max_age_seconds: lenient(rule.rate)(from[maxAge]),
  };
}

const writtenOrNull = rule.nullOr(rule.text);

/** End of the year 9999 in seconds since 1970. RFC 3339 cannot represent a later time. */
const lastSecond = 253_402_300_799;

function unixTime(value: Json | undefined): string | null {
  return rule.nullOr((seconds) => `@${BigInt(rule.atMost(rule.count(seconds), lastSecond)) * 1_000_000_000n}`)(value);
}
