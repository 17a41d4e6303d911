/** `almanac/client`: a client of the facts API for Node and browsers, without dependencies on other packages. */
export { type Ask, type AskOptions, createFactsClient, type FactsClient, type FactsClientOptions } from './client.ts';
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
