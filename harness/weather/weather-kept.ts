import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Wire } from '../../sim/events/wire.ts';
import type { Sim } from '../../sim/index.ts';
import type { Certainty } from '../../sim/truth.ts';
import { decodeHours } from '../../src/artifact/hours/hours.ts';
import {
  recogniseWeatherHours,
  type WeatherHourSeries,
  type WeatherHours,
} from '../../src/artifact/hours/weather-hours.ts';
import { checkWeatherSummary, type WeatherSummary } from '../../src/artifact/recognise.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import { metricNames } from '../../src/weather/classify/metric-names.ts';
import { createHoursReader } from '../../src/weather/publish/hours.ts';
import { createSeriesReader } from '../../src/weather/publish/read-summary.ts';
import { union, type WindowRow, windowUs } from '../../src/weather/window/window.ts';
import { openWindowStore, storeFile } from '../../src/weather/window/window-store.ts';

/** Reads the artifact in a directory and checks that it is complete and matches its schema. */
export function readArtifact(folder: string): WeatherSummary {
  const checked = checkWeatherSummary(
    JSON.parse(readFileSync(join(folder, 'artifacts', 'weather-summary.json'), 'utf8')),
  );
  if (!checked.ok) throw new Error(`the artifact is malformed at ${checked.pointer}`);
  return checked.value;
}

/** Reads the hours file in a directory and checks that it is complete and matches its schema. */
export function readHours(folder: string): WeatherHours {
  const path = join(folder, 'artifacts', artifactNames.weatherHours);
  const reading = decodeHours(readFileSync(path), recogniseWeatherHours);
  if (reading.kind !== 'readable') throw new Error(`the hours file is ${reading.kind}: ${reading.why}`);
  return reading.artifact;
}

/** Content of a stopped instrument's store. */
export interface Kept {
  readonly endpoint: string;
  /** Latest `time_us` among the counted events. */
  readonly toUs: number;
  /**
   * Number of counted events at `toUs`, or null if the position is not a time. An instrument may stop between two events
   * with the same `time_us`.
   */
  readonly countedAtEnd: number | null;
  /** Start of the first observed span, in microseconds since 1970. */
  readonly fromUs: number;
  readonly rows: readonly WindowRow[];
  readonly observedSeconds: number;
  /** Observed spans in microseconds since 1970, sorted and disjoint. */
  readonly observed: readonly { from: number; to: number }[];
  /** Summary that was generated after all observed minutes belonged to closed windows. */
  readonly summary: WeatherSummary;
  /** Hours of this host that were generated at the same time as the summary. */
  readonly hours: WeatherHourSeries | undefined;
}

/** Reads the store of a stopped instrument. */
export function readStore(folder: string, endpoint: string): Kept {
  const store = openWindowStore(folder);
  try {
    const series = store.series(endpoint);
    const everything = { from: 0, to: Number.MAX_SAFE_INTEGER };
    const observed = union(store.observed(series.id, everything));
    const toUs = series.live?.timeUs ?? 0;
    const source = {
      ...{ store, nowUs: toUs + 3 * windowUs, origin: 'simulated' as const },
      endpoint: { name: endpoint, wire: wireOf({ endpoint }) },
    };
    const summary = createSeriesReader().read(source).summary;
    return {
      endpoint,
      toUs,
      countedAtEnd: series.live?.kind === 'time' ? series.live.counted : null,
      fromUs: observed[0]?.from ?? 0,
      rows: store.windows(series.id, everything, metricNames),
      observed,
      observedSeconds: observed.reduce((sum, { from, to }) => sum + to - from, 0) / 1e6,
      summary,
      hours: createHoursReader().read({ ...source, endpoints: [source.endpoint], published: endpoint }).series[0],
    };
  } finally {
    store.close();
  }
}

/** Returns the minutes with events in a store: the start, the number of events, and every count by name. */
export function minutesOf({ rows }: Pick<Kept, 'rows'>) {
  return rows
    .filter(({ events }) => events > 0)
    .map(({ startUs, events, counts }) => ({
      startUs,
      events,
      metrics: Object.fromEntries(metricNames.map((name, i) => [name, counts[i] ?? 0])),
    }));
}

/** Returns the protocol over which a series was read. */
export function wireOf({ endpoint }: Pick<Kept, 'endpoint'>): Wire {
  return endpoint.endsWith('/subscribe') ? 'jetstream.legacy' : 'jetstream.subscribeEvents';
}

/** The part of a store that determines which delivered events the store must contain. */
type Observed = Pick<Kept, 'endpoint' | 'fromUs' | 'toUs'>;

/** Returns the number of re-sync rows that the host delivered within the observed spans. */
export function deliveredResync(sim: Pick<Sim, 'truth'>, kept: Observed, certainty?: Certainty): number {
  return sim.truth.deliveredBetween(kept.fromUs, kept.toUs + 1, wireOf(kept), certainty).resync;
}

/** Returns the counts of the delivered minutes, up to the last counted event. */
export function deliveredMinutes(sim: Pick<Sim, 'truth'>, kept: Observed, certainty?: Certainty) {
  return sim.truth
    .deliveredMinutes(kept.fromUs, kept.toUs + 1, wireOf(kept), certainty)
    .filter(({ events }) => events > 0)
    .map(({ startUs, events, metrics }) => ({ startUs, events, metrics }));
}

/** Content of a file or log, with its name. */
interface Place {
  readonly name: string;
  readonly text: string;
}

/** The directory and the log lines that a run left behind. */
interface Left {
  readonly folder: string;
  readonly lines: readonly string[];
}

/**
 * Returns everything that a station stored or logged: store, write-ahead log, artifact and log lines. Throws if the
 * directory has no store.
 */
export function everythingKept({ folder, lines }: Left): Place[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  if (!files.some((path) => path.endsWith(storeFile))) throw new Error('there is no store to scan');
  return [
    ...files.map((path) => ({ name: path, text: readFileSync(path, 'latin1') })),
    { name: 'log', text: lines.join('\n') },
  ];
}

/** Patterns of identities: DIDs, AT-URIs, CIDs, and handles with common endings. */
const identityShapes = [/did:(?:plc|web|key):/, /at:\/\//, /bafy/, /\.bsky\.(?:social|app)\b/];

/** Returns the names of the places that contain an identity or one of `values`. */
export function leaks(places: readonly Place[], values: readonly string[] = []): string[] {
  return places
    .filter(
      ({ text }) => values.some((value) => text.includes(value)) || identityShapes.some((shape) => shape.test(text)),
    )
    .map(({ name }) => name);
}
