import { join } from 'node:path';
import type { HoursReading, HoursReadings } from '../../archive/hours/hour-lists.ts';
import { hoursSource } from '../../artifact/hours/hours.ts';
import { recogniseLabelsHours } from '../../artifact/hours/labels-hours.ts';
import { recogniseWeatherHours } from '../../artifact/hours/weather-hours.ts';
import type { ArtifactSource, Reading } from '../../artifact/reading.ts';
import { artifactNames } from '../../artifact/write.ts';
import type { Log } from '../../ops/log.ts';

/**
 * Returns a function that reads the hours files in a directory of artifacts. The function returns null if no directory
 * is given.
 */
export function hoursReader(artifacts: string | null, log: Log): () => HoursReadings | null {
  if (artifacts === null) return () => null;
  const clock = Date.now;
  const weatherPath = join(artifacts, artifactNames.weatherHours);
  const labelsPath = join(artifacts, artifactNames.labelsHours);
  const weather = hoursSource({ path: weatherPath, recognise: recogniseWeatherHours, clock });
  const labels = hoursSource({ path: labelsPath, recognise: recogniseLabelsHours, clock });
  const logged = new Map<string, string>();
  const read = <A>(source: ArtifactSource<A>, path: string): HoursReading<A> => {
    const reading = source.read();
    const why = reading.kind === 'readable' ? '' : reading.why;
    if (why !== '' && logged.get(path) !== why)
      log.warn('an hours file cannot be read or is invalid, so its hours are not archived', { path, why });
    logged.set(path, why);
    return hoursReadingOf(reading);
  };
  return () => ({ weather: read(weather, weatherPath), labels: read(labels, labelsPath) });
}

/** Converts the reading of an hours file to the form that an archiver stores. */
export function hoursReadingOf<A>(reading: Reading<A>): HoursReading<A> {
  if (reading.kind === 'readable') return reading;
  return { kind: 'failure', reason: reading.kind === 'unknown_schema' ? 'malformed' : reading.kind };
}
