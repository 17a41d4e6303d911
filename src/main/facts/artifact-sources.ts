import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileSource } from '../../artifact/file-source.ts';
import { hoursSource } from '../../artifact/hours/hours.ts';
import { recogniseLabelsHours } from '../../artifact/hours/labels-hours.ts';
import { recogniseWeatherHours } from '../../artifact/hours/weather-hours.ts';
import type { ArtifactSource, Reading, Recogniser } from '../../artifact/reading.ts';
import {
  type LabelArtifact,
  recogniseLabels,
  recogniseWeather,
  type WeatherArtifact,
} from '../../artifact/recognise.ts';
import { UrlSource } from '../../artifact/url-source.ts';
import { artifactNames } from '../../artifact/write.ts';
import type { HoursSources } from '../../facts/hours/shown-hours.ts';
import { httpSchemes } from '../../input/url.ts';
import { makeFolder, OperatorError, systemWords } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import { operatorUrl, userAgentFor } from '../shared-settings.ts';
import { defaultData } from './facts-settings.ts';

/** Locations of the artifacts of both instruments, with the limits for reading them. */
export interface ArtifactSettings {
  readonly artifacts: string | null;
  readonly labelsArtifact: string | null;
  readonly weatherArtifact: string | null;
  readonly contact: string | null;
  readonly maxArtifactBytes: number;
  readonly pollSeconds: number;
  readonly unreachableSeconds: number;
}

/** Dependencies of the artifact sources. */
interface SourceContext {
  readonly log: Log;
  readonly clock: () => number;
  readonly observed?: (instrument: string, reading: Reading<unknown>) => void;
}

/**
 * Creates the artifact sources of both instruments for a facts process. Throws OperatorError if a directory, a file or
 * a URL cannot be used.
 */
export function artifactSources(
  settings: ArtifactSettings,
  { log, clock, observed }: SourceContext,
): { labels: ArtifactSource<LabelArtifact>; weather: ArtifactSource<WeatherArtifact> } {
  const folder = usableFolder(settings);
  const source = <A>(
    instrument: 'labels' | 'weather',
    place: string | null,
    recognise: Recogniser<A>,
    isHeld: (artifact: A) => boolean = () => false,
  ) => {
    const observe = (reading: Reading<A>): void => {
      logReading(instrument, reading, log);
      observed?.(instrument, reading);
    };
    const common = { recognise, maxBytes: settings.maxArtifactBytes, clock, observe };
    const url = place === null ? null : httpUrl(`${instrument}-artifact`, place);
    if (url) {
      return new UrlSource({
        ...common,
        isHeld,
        url,
        userAgent: userAgentFor(settings),
        pollMs: settings.pollSeconds * 1000,
        timeoutMs: 10_000,
        graceMs: settings.unreachableSeconds * 1000,
        firstAnswerMs: 2_000,
      });
    }
    return fileSource({
      ...common,
      path: place === null ? join(folder, artifactNames[instrument]) : usableFile(place),
    });
  };
  return {
    labels: source('labels', settings.labelsArtifact, recogniseLabels, isHeld),
    weather: source('weather', settings.weatherArtifact, recogniseWeather),
  };
}

function isHeld(artifact: LabelArtifact): boolean {
  return artifact.schema === 'labels.recent-overview.v1' && artifact.overview.hold === true;
}

/**
 * Creates the sources of the hours files, which an instrument writes into the directory of its artifact. A source is
 * null if its artifact is at a URL.
 */
export function hoursSources(settings: ArtifactSettings, clock: () => number): HoursSources {
  const folderOf = (flag: string, place: string | null): string | null => {
    if (place === null) return usableFolder(settings);
    return httpUrl(flag, place) === null ? dirname(place) : null;
  };
  const weather = folderOf('weather-artifact', settings.weatherArtifact);
  const labels = folderOf('labels-artifact', settings.labelsArtifact);
  return {
    weather:
      weather === null
        ? null
        : hoursSource({ path: join(weather, artifactNames.weatherHours), recognise: recogniseWeatherHours, clock }),
    labels:
      labels === null
        ? null
        : hoursSource({ path: join(labels, artifactNames.labelsHours), recognise: recogniseLabelsHours, clock }),
  };
}

/**
 * Logs every change of a reading in one line that states the problem with the artifact, never the artifact's content.
 */
function logReading(instrument: string, reading: Reading<unknown>, log: Log): void {
  if (reading.kind === 'readable') {
    log.info('the artifact is readable', { instrument, digest: reading.digest.slice(0, 12) });
    return;
  }
  const pointer = reading.kind === 'malformed' ? reading.pointer : undefined;
  log.warn('the artifact is refused', { instrument, reading: reading.kind, why: reading.why, pointer });
}

/** Returns the URL of an artifact, or null if `place` is a path. Throws OperatorError if the URL is invalid. */
export function httpUrl(flag: string, place: string): URL | null {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(place)) return null;
  return operatorUrl(flag, place, { schemes: httpSchemes, admits: ['fragment'] });
}

/**
 * Returns the artifact directory. Creates the default directory if it is used but missing. Throws OperatorError if
 * the directory cannot be used.
 */
export function usableFolder({
  artifacts,
  labelsArtifact,
  weatherArtifact,
}: Pick<ArtifactSettings, 'artifacts' | 'labelsArtifact' | 'weatherArtifact'>): string {
  if (artifacts === null) {
    const folder = join(defaultData, 'artifacts');
    if (labelsArtifact === null || weatherArtifact === null) makeFolder(folder);
    return folder;
  }
  requireFolder(artifacts);
  return artifacts;
}

/**
 * Returns the path unchanged. The artifact itself need not exist yet. Throws OperatorError if its directory does not
 * exist or the artifact cannot be read.
 */
export function usableFile(path: string): string {
  requireFolder(dirname(path));
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats && !stats.isFile()) throw new OperatorError(`not a file: ${path}`);
    if (stats) accessSync(path, constants.R_OK);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot read the artifact ${path}: ${systemWords(error)}`);
  }
  return path;
}

function requireFolder(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new OperatorError(`no such directory: ${path}`);
  if (!stats.isDirectory()) throw new OperatorError(`not a directory: ${path}`);
}
