import type { LabelsHours } from '../../artifact/hours/labels-hours.ts';
import type { WeatherHours } from '../../artifact/hours/weather-hours.ts';
import type { Reading } from '../../artifact/reading.ts';
import type { ArtifactSource } from '../../artifact/source.ts';
import { errorTable } from '../../contract/errors.ts';
import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import type { Outcome } from '../resource.ts';
import { oncePer } from '../resource.ts';
import type { PageChart } from './hours-chart.ts';
import { labelsChart } from './labels-chart.ts';
import { weatherChart } from './weather-chart.ts';

/** Sources of the hours files of both instruments; null if the service does not know where they are. */
export interface HoursSources {
  readonly weather: ArtifactSource<WeatherHours> | null;
  readonly labels: ArtifactSource<LabelsHours> | null;
}

/** Charts made from an hours file, or the reason in words why none may be drawn. */
export type ShownHours<C> =
  | { readonly kind: 'drawn'; readonly charts: C }
  | { readonly kind: 'refused'; readonly why: string };

/** Charts of the weather: of all events, and of each collection when it is requested. */
export interface WeatherCharts {
  readonly all: PageChart;
  readonly collections: readonly CollectionName[];
  of(collection: CollectionName): PageChart;
}

/** The charts of both instruments at one instant. The objects stay the same until their files or refusals change. */
export interface HoursCharts {
  readonly weather: ShownHours<WeatherCharts>;
  readonly labels: ShownHours<PageChart>;
}

/**
 * Maximum time in milliseconds by which an hours file may be older than the fact with which it is drawn. An instrument
 * writes both in turn, so a larger difference means that one of them is no longer written.
 */
const maxLagMs = 15 * 60_000;

/**
 * Creates a function that returns the charts of the hours files. Nothing is drawn if the fact of the instrument is
 * refused, or if the file is absent, invalid, held, of another network or of another time than the fact.
 */
export function hoursCharts({ weather, labels }: HoursSources) {
  const weatherOf = oncePer(drawnWeather);
  const labelsOf = oncePer(drawnLabels);
  const refusal = sameRefusals();
  return ({
    conditions,
    labels: overview,
  }: {
    readonly conditions: Outcome;
    readonly labels: Outcome;
  }): HoursCharts => {
    const weatherWhy = refusedWhy(conditions, weather?.read());
    const labelsReading = labels?.read();
    const labelsWhy = refusedWhy(overview, labelsReading) ?? heldWhy(overview, labelsReading);
    return {
      weather: weatherWhy === null ? weatherOf(artifactOf(weather?.read())) : refusal(weatherWhy),
      labels: labelsWhy === null ? labelsOf(artifactOf(labelsReading)) : refusal(labelsWhy),
    };
  };
}

/** Returns a function that returns the same object for the same reason, so that callers can compare objects. */
function sameRefusals() {
  const known = new Map<string, ShownHours<never>>();
  return (why: string): ShownHours<never> => {
    const found = known.get(why) ?? { kind: 'refused' as const, why };
    // The reasons come from a closed list of texts.
    known.set(why, found);
    return found;
  };
}

function artifactOf<A>(reading: Reading<A> | undefined): A {
  if (reading?.kind !== 'readable') throw new Error('the hours file must be readable here');
  return reading.artifact;
}

type HoursFile = Pick<LabelsHours | WeatherHours, 'generated_at' | 'origin'>;

function refusedWhy(outcome: Outcome, reading: Reading<HoursFile> | undefined): string | null {
  if (outcome.kind === 'refused') return errorTable[outcome.code].message;
  if (reading === undefined || reading.kind === 'missing')
    return 'This service has no file with the counts of each hour.';
  if (reading.kind !== 'readable') return 'The file with the counts of each hour cannot be read.';
  const { envelope } = outcome.representation;
  const { artifact } = reading;
  if ((artifact.origin ?? 'live') !== (envelope.provenance.origin ?? 'live')) {
    return 'The file with the counts of each hour is of another network than the facts.';
  }
  const factAt = envelope.generated_at === null ? Number.NaN : Date.parse(envelope.generated_at);
  // A comparison with an unknown time is false, and then nothing is drawn.
  if (Math.abs(factAt - Date.parse(artifact.generated_at)) <= maxLagMs) return null;
  return 'The file with the counts of each hour was not written at the time of the facts.';
}

function heldWhy(outcome: Outcome, reading: Reading<LabelsHours> | undefined): string | null {
  if (outcome.kind === 'refused' || reading?.kind !== 'readable') return null;
  const { artifact } = reading;
  if (artifact.hold === true) return errorTable.source_held.message;
  const { facts } = outcome.representation.envelope;
  const epoch = 'acquisition' in facts ? facts.acquisition.generation_id : null;
  return epoch === artifact.generation_id
    ? null
    : 'The file with the counts of each hour is of another epoch than the facts.';
}

function drawnWeather({ series }: WeatherHours): ShownHours<WeatherCharts> {
  // The series of two hosts or two protocols are never added up, so only that of the summary is drawn.
  const published = series.find((one) => one.published);
  if (!published)
    return { kind: 'refused', why: 'The file with the counts of each hour has no series of the observed host.' };
  return {
    kind: 'drawn',
    charts: {
      all: weatherChart(published),
      collections: collectionNames.filter((name) => published.collections[name] !== undefined),
      of: (collection) => weatherChart(published, collection),
    },
  };
}

function drawnLabels(file: LabelsHours): ShownHours<PageChart> {
  return { kind: 'drawn', charts: labelsChart(file) };
}
