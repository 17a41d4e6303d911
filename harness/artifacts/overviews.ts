import {
  type LegacyOverview,
  type RecentOverview,
  recogniseLabels,
  recogniseWeather,
  type WeatherSummary,
  type WeatherwatchSummary,
} from '../../src/artifact/recognise.ts';
import { type ArtifactFixture, fixture } from './fixtures.ts';

/** Typed artifacts: fixtures that are parsed with the recognisers and optionally changed. */

/** Returns the label overview fixture of Almanac's label instrument, with changes. */
export function aRecentOverview(changes: Partial<RecentOverview> = {}): RecentOverview {
  const { overview } = recognised('recent', changes) as { overview: RecentOverview };
  return overview;
}

/** Returns the label overview fixture of the legacy producer, with changes. */
export function aLegacyOverview(changes: Partial<LegacyOverview> = {}): LegacyOverview {
  const { overview } = recognised('legacy', changes) as { overview: LegacyOverview };
  return overview;
}

/** Returns the weather summary fixture of Almanac's weather instrument, with changes. */
export function aWeatherSummary(changes: Partial<WeatherSummary> = {}): WeatherSummary {
  const { summary } = recognised('weather', changes) as { summary: WeatherSummary };
  return summary;
}

/** Returns the weatherwatch summary fixture, with changes. */
export function aWeatherwatchSummary(changes: Partial<WeatherwatchSummary> = {}): WeatherwatchSummary {
  const { summary } = recognised('weatherwatch', changes) as { summary: WeatherwatchSummary };
  return summary;
}

const schemas = {
  recent: 'labels.recent-overview.v1',
  legacy: '23',
  weather: 'weather.summary.v1',
  weatherwatch: 'weatherwatch.summary/v2',
};

function recognised(name: ArtifactFixture, changes: object): object {
  const value = { ...fixture(name), ...changes };
  const found = name === 'recent' || name === 'legacy' ? recogniseLabels(value) : recogniseWeather(value);
  if (found.kind !== 'recognised') throw new Error(`the fixture is ${found.kind}: ${found.why}`);
  if (found.artifact.schema !== schemas[name]) throw new Error(`the fixture has the schema ${found.artifact.schema}`);
  return found.artifact;
}
