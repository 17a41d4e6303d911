import { accessSync, constants, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileSource } from '../../artifact/file-source.ts';
import { hoursSource } from '../../artifact/hours/hours.ts';
import { recogniseLabelsHours } from '../../artifact/hours/labels-hours.ts';
import { recogniseWeatherHours } from '../../artifact/hours/weather-hours.ts';
import { type LabelersReading, LabelersSource } from '../../artifact/labelers/labelers-source.ts';
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
import { labelEvidence } from '../../facts/judge.ts';
import { type Catalogue, prepareCatalogue } from '../../facts/labelers/catalogue.ts';
import { httpSchemes } from '../../input/url.ts';
import { makeFolder, OperatorError, systemWords } from '../../ops/errors.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import { operatorUrl, userAgentFor } from '../shared-settings.ts';
import { defaultData, type FactsValues } from './facts-settings.ts';

const monotonic = (): number => performance.now();

/**
 * Creates the sources of the artifacts and of the hours files of both instruments for a facts process. Throws
 * OperatorError if a directory, a file or a URL cannot be used.
 */
export function artifactSources(
  settings: FactsValues,
  log: Log,
  observed?: (instrument: string, reading: Reading<unknown>) => void,
): { labels: ArtifactSource<LabelArtifact>; weather: ArtifactSource<WeatherArtifact>; hours: HoursSources } {
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
    const common = { recognise, maxBytes: settings.maxArtifactBytes, clock: Date.now, observe };
    const url = place === null ? null : httpUrl(`${instrument}-artifact`, place);
    if (url) {
      return new UrlSource({
        ...common,
        monotonic,
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
    labels: source('labels', settings.labelsArtifact, recogniseLabels, (artifact) => labelEvidence(artifact).held),
    weather: source('weather', settings.weatherArtifact, recogniseWeather),
    hours: hoursSources(settings),
  };
}

/**
 * Creates the sources of the hours files, which an instrument writes into the directory of its artifact. A source is
 * null if its artifact is at a URL.
 */
function hoursSources(settings: FactsValues): HoursSources {
  const source = <A>(instrument: 'labels' | 'weather', place: string | null, recognise: Recogniser<A>) => {
    if (place !== null && httpUrl(`${instrument}-artifact`, place) !== null) return null;
    const folder = place === null ? usableFolder(settings) : dirname(place);
    return hoursSource({ path: join(folder, artifactNames[`${instrument}Hours`]), recognise, clock: Date.now });
  };
  return {
    weather: source('weather', settings.weatherArtifact, recogniseWeatherHours),
    labels: source('labels', settings.labelsArtifact, recogniseLabelsHours),
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

/** Interval between two checks of the artifact's files, in milliseconds. */
const filePollMs = 500;
/** Time for which the previous pair of files is still served while newer files are being read, in milliseconds. */
const fileGraceMs = 5_000;
/**
 * Time for which the previous pair is still served, in addition to the poll interval, if the artifact is at a URL, in
 * milliseconds.
 */
const urlGraceMs = 10_000;

/**
 * Creates the source of the labelers artifact, and returns the maximum time by which the artifact may lag behind the
 * overview. `polled` is called after every attempt to read the artifact. Throws OperatorError if its URL is invalid, if
 * its directory does not exist, or if its file cannot be read.
 */
export function labelersArtifact(
  settings: FactsValues,
  log: Log,
  polled: () => void,
): { readonly source: LabelersSource<Catalogue>; readonly graceMs: number } {
  const url = settings.labelersArtifact === null ? null : httpUrl('labelers-artifact', settings.labelersArtifact);
  const pollMs = url === null ? filePollMs : settings.pollSeconds * 1000;
  return {
    source: new LabelersSource({
      from: url === null ? pathsOf(settings) : urlsOf(url, settings),
      prepare: () => prepareCatalogue((leak) => log.error('a handle of a labeler is withheld', { leak })),
      pollMs,
      firstReadingMs: 2_000,
      monotonic,
      observe: (reading) => logLabelers(reading, log),
      failed: (error) => log.error('the labelers artifact could not be processed', errorFields(error)),
      polled,
    }),
    graceMs: url === null ? fileGraceMs : pollMs + urlGraceMs,
  };
}

function pathsOf(settings: FactsValues) {
  const { labelersArtifact: place } = settings;
  const labelers = place === null ? join(usableFolder(settings), artifactNames.labelers) : usableFile(place);
  return { labelers, definitions: join(dirname(labelers), artifactNames.labelerDefinitions) };
}

function urlsOf(url: URL, settings: FactsValues) {
  return {
    urls: { labelers: url, definitions: new URL(artifactNames.labelerDefinitions, url) },
    userAgent: userAgentFor(settings),
    timeoutMs: 30_000,
    graceMs: settings.unreachableSeconds * 1000,
    clock: Date.now,
    monotonic,
  };
}

/**
 * Logs every change of the reading in one line that states the problem with the artifact, never the artifact's content.
 */
function logLabelers(reading: LabelersReading<Catalogue>, log: Log): void {
  const artifact = 'labelers';
  if (reading.kind === 'readable') {
    const [newest] = reading.sets;
    log.info('the artifact is readable', { artifact, digest: newest?.digest.slice(0, 12) });
    return;
  }
  const { kind, why } = reading;
  const place =
    reading.kind === 'malformed' ? { file: reading.file, line: reading.line, pointer: reading.pointer } : {};
  log.warn('the artifact is refused', { artifact, reading: kind, why, ...place });
}

/** Returns the URL of an artifact, or null if `place` is a path. Throws OperatorError if the URL is invalid. */
function httpUrl(flag: string, place: string): URL | null {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(place)) return null;
  return operatorUrl(flag, place, { schemes: httpSchemes, admits: ['fragment'] });
}

/**
 * Returns the artifact directory. Creates the default directory if it is used but missing. Throws OperatorError if
 * the directory cannot be used.
 */
function usableFolder({ artifacts, labelsArtifact, weatherArtifact }: FactsValues): string {
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
function usableFile(path: string): string {
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
