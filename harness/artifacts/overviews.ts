import {
  type LabelArtifact,
  type LegacyOverview,
  type RecentOverview,
  recogniseLabels,
  recogniseWeather,
  type WeatherArtifact,
  type WeatherSummary,
  type WeatherwatchSummary,
} from '../../src/artifact/recognise.ts';
import { fixture, type JsonObject } from './fixtures.ts';

/** Typed artifacts: fixtures that are parsed with the recognisers and optionally changed. */

function labels(value: JsonObject): LabelArtifact {
  const recognised = recogniseLabels(value);
  if (recognised.kind !== 'recognised') throw new Error(`the fixture is ${recognised.kind}: ${recognised.why}`);
  return recognised.artifact;
}

function weather(value: JsonObject): WeatherArtifact {
  const recognised = recogniseWeather(value);
  if (recognised.kind !== 'recognised') throw new Error(`the fixture is ${recognised.kind}: ${recognised.why}`);
  return recognised.artifact;
}

/** Returns the label overview fixture of Almanac's label instrument, with changes. */
export function aRecentOverview(changes: Partial<RecentOverview> = {}): RecentOverview {
  const artifact = labels({ ...fixture('recent'), ...changes });
  if (artifact.schema !== 'labels.recent-overview.v1') throw new Error("the fixture is not Almanac's label overview");
  return artifact.overview;
}

/** Returns the label overview fixture of the legacy producer, with changes. */
export function aLegacyOverview(changes: Partial<LegacyOverview> = {}): LegacyOverview {
  const artifact = labels({ ...fixture('legacy'), ...changes });
  if (artifact.schema !== '23') throw new Error('the fixture is not a legacy label overview');
  return artifact.overview;
}

/** Returns the weather summary fixture of Almanac's weather instrument, with changes. */
export function aWeatherSummary(changes: Partial<WeatherSummary> = {}): WeatherSummary {
  const artifact = weather({ ...fixture('weather'), ...changes });
  if (artifact.schema !== 'weather.summary.v1') throw new Error("the fixture is not Almanac's weather summary");
  return artifact.summary;
}

/** Returns the weatherwatch summary fixture, with changes. */
export function aWeatherwatchSummary(changes: Partial<WeatherwatchSummary> = {}): WeatherwatchSummary {
  const artifact = weather({ ...fixture('weatherwatch'), ...changes });
  if (artifact.schema !== 'weatherwatch.summary/v2') throw new Error('the fixture is not a weatherwatch summary');
  return artifact.summary;
}
