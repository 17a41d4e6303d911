import type Type from 'typebox';
import { LabelsOverview, WeatherConditionsEnvelope, WeatherMetricsEnvelope } from '../envelope.ts';
import { ErrorBody } from '../errors.ts';
import { LabelFreshness, WeatherFreshness } from '../freshness.ts';
import { Health, InstrumentEntry, InstrumentIndex } from '../instruments.ts';
import * as labels from '../labels.ts';
import * as weather from '../weather.ts';
import { openApiFrame } from './frame.ts';
import { parameterComponents, pathItems } from './paths.ts';
import { headerComponents, responseComponents } from './responses.ts';

/** OpenAPI 3.1 document of the facts API, built from the schemas of its types. */

const schemas: Record<string, Type.TSchema> = {
  InstrumentIndex,
  InstrumentEntry,
  LabelsOverview,
  RecentLabelFacts: labels.RecentLabelFacts,
  LegacyLabelFacts: labels.LegacyLabelFacts,
  LegacyObservation: labels.LegacyObservation,
  NetworkWeather: labels.NetworkWeather,
  Acquisition: labels.Acquisition,
  Coverage: labels.Coverage,
  CoverageSources: labels.CoverageSources,
  LabelCounts: labels.LabelCounts,
  Gap: labels.Gap,
  LabelFreshness,
  WeatherConditionsEnvelope,
  WeatherMetricsEnvelope,
  WeatherConditionsFacts: weather.WeatherConditionsFacts,
  WeatherMetricsFacts: weather.WeatherMetricsFacts,
  WeatherConditions: weather.WeatherConditions,
  WeatherWindow: weather.WeatherWindow,
  TotalEvents: weather.TotalEvents,
  CollectionMetrics: weather.CollectionMetrics,
  WeatherFreshness,
  Health,
  Error: ErrorBody,
};

const description = `Public, anonymous, read-only aggregate facts about the AT Protocol network, as independent instruments observed it.

Every fact carries the limits of its observation: coverage, freshness and, for labels, adequacy. Absence of evidence is reported as absence, never as a confident zero. A refused fact is a 503 with an Error object: keep the error, and never substitute zeros or an older reading.

No key, no account, no cookies. Query parameters are ignored. Within v1 meanings do not change, and a field is added only on purpose, with a new version of this document. Each response names its contract; check it in your client. The policy at \`policy\` below the base address lists what may change, how changes are announced and how long old forms remain supported.`;

/** Builds the OpenAPI document. `version` is the version of the package. */
export function openApiDocument(version: string): object {
  return openApiFrame({
    title: 'Almanac: public observation facts',
    version,
    summary: 'Observations of the AT Protocol network, with their limits.',
    description,
    tags: [
      { name: 'facts', description: 'Observations.' },
      { name: 'service', description: 'The service itself.' },
    ],
    paths: pathItems,
    schemas,
    responses: responseComponents,
    headers: headerComponents,
    parameters: parameterComponents,
  });
}
