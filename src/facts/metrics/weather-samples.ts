import { currencies } from '../../client/currency.ts';
import type { WeatherConditionsEnvelope, WeatherMetricsEnvelope } from '../../contract/envelope.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { collectionNames, conditionStates, confidences } from '../../contract/vocabulary.ts';
import { currencyOf, isNow } from '../page/currency.ts';
import { families } from './families.ts';
import type { Dimensions, MetricSamples } from './open-metrics.ts';

/** Adds the samples of the weather conditions. Adds no sample if the conditions are absent or no longer current. */
export function addConditions(samples: MetricSamples, envelope: WeatherConditionsEnvelope, origin: Dimensions): void {
  const { conditions } = envelope.facts;
  if (conditions === null || !isNow(currencyOf(envelope))) return;
  samples.addState(families.condition, origin, conditionStates, conditions.state);
  samples.addState(families.confidence, origin, confidences, conditions.confidence);
}

/**
 * Adds the samples of the window, totals and collections. A fact that is served but no longer current has only its
 * state and its ages, because a scraper would store old numbers with the time of the scrape.
 */
export function addMetrics(samples: MetricSamples, envelope: WeatherMetricsEnvelope, origin: Dimensions): void {
  const { window, total_events: total, collections } = envelope.facts;
  if (!isNow(currencyOf(envelope))) return;
  samples.add(families.span, origin, window.span_seconds);
  samples.add(families.windowEnd, origin, unixSeconds(window.end));
  samples.add(families.observed, origin, window.observed_seconds);
  samples.add(families.coverageRatio, origin, window.coverage_ratio);
  samples.add(families.events, origin, total.total);
  samples.add(families.rate, origin, total.mean_rate_per_s);
  for (const collection of collectionNames) {
    const entry = collections[collection];
    samples.add(families.collectionEvents, { ...origin, collection }, entry?.total);
    samples.add(families.collectionRate, { ...origin, collection }, entry?.mean_rate_per_s);
    samples.add(families.collectionObserved, { ...origin, collection }, entry?.observed_seconds);
  }
}

/**
 * Adds the state of a weather fact and the age of its newest observation. Facts that are no longer current also have
 * these samples. An unknown age adds no sample.
 */
export function addWeatherAge(
  samples: MetricSamples,
  envelope: WeatherConditionsEnvelope | WeatherMetricsEnvelope,
  dimensions: Dimensions,
): void {
  samples.addState(families.currency, dimensions, currencies, currencyOf(envelope));
  const { age_seconds: then } = envelope.freshness;
  if (envelope.age_seconds === null || then === null) return;
  samples.add(families.observationAge, dimensions, envelope.age_seconds + then);
}

/** Converts a timestamp of the contract to seconds since 1970; null if the time is unknown. */
export function unixSeconds(timestamp: string | null): number | null {
  const micros = timestamp === null ? null : parseTimestamp(timestamp);
  return micros === null ? null : micros / 1e6;
}
