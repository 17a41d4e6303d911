import { hoursLimits } from '../../src/artifact/hours/hours.ts';
import type { LabelsHours } from '../../src/artifact/hours/labels-hours.ts';
import type { WeatherHours } from '../../src/artifact/hours/weather-hours.ts';
import { collectionNames } from '../../src/contract/vocabulary.ts';
import { simulatedFiles } from '../archive/simulated-hours.ts';

/** Generates hours files, optionally with one unobserved hour. */

/** Options for a generated hours file. */
interface HoursFixtureOptions {
  /** Generation time of the file, in milliseconds since 1970. */
  readonly generatedAt: number;
  /** Index of the hour that was not observed; by default all hours were observed. */
  readonly unobserved?: number;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;

/** Returns the unobserved hour of a file. */
function gapsOf({ generatedAt, unobserved }: HoursFixtureOptions) {
  if (unobserved === undefined) return [];
  const start = (Math.floor((generatedAt - minuteMs) / hourMs) - (hoursLimits.hours - 1 - unobserved)) * hourMs;
  return [{ start, end: start + hourMs }];
}

/** Generates an hours file of the weather instrument with one series. */
export function weatherHoursFixture(options: HoursFixtureOptions): WeatherHours {
  const { weather } = simulatedFiles(options.generatedAt, {
    weather: gapsOf(options),
    collections: collectionNames,
    count: (name, at) =>
      name === 'total' ? at * 1_000 : at * ((collectionNames as readonly string[]).indexOf(name) + 1),
  });
  const series = weather.series.map(({ observed_since: _, ...one }) => one);
  return { ...weather, origin: 'simulated', series };
}

/**
 * Generates an hours file of the label instrument. In hour `at`, every labeler has `at` applications and one removal.
 */
export function labelsHoursFixture(
  options: HoursFixtureOptions & { readonly labelers: readonly string[] },
): LabelsHours {
  const { labels } = simulatedFiles(options.generatedAt, {
    labels: gapsOf(options),
    labelers: options.labelers.toSorted(),
    count: (name, at) => (name === 'removal' ? 1 : at),
  });
  return { ...labels, origin: 'simulated' };
}
