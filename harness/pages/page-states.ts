import { youngArtifact } from '../artifacts/artifacts.ts';
import type { JsonObject } from '../artifacts/fixtures.ts';

/** Two current artifacts with which the page shows a particular state; null stands for a missing artifact. */
interface PageState {
  readonly labels: object | null;
  readonly weather: object | null;
}

const hour = 3_600_000;
const day = 24 * hour;

function ago(milliseconds: number): string {
  return new Date(Date.now() - milliseconds).toISOString();
}

const labels = (): JsonObject => youngArtifact('recent') as JsonObject;
const weather = (): JsonObject => youngArtifact('weather') as JsonObject;

function withCoverage(changes: object): JsonObject {
  const artifact = labels();
  return { ...artifact, coverage: { ...(artifact.coverage as object), ...changes } };
}

const unwatched = { total: null, mean_rate_per_s: null, observed_seconds: 0 };

/** Functions that create the states, by the name of the state. */
export const pageStates = {
  fresh: (): PageState => ({ labels: labels(), weather: weather() }),
  warming_up: () => {
    const started = ago(4.4 * day);
    const artifact = withCoverage({
      status: 'warming_up',
      observed_days: 4,
      warmup: { start: ago(30 * day), end: started, reason: 'not_observed' },
      gaps: [{ start: ago(2 * day), end: ago(2 * day - hour), reason: 'ingest_paused' }],
    });
    return {
      labels: { ...artifact, acquisition: { ...(artifact.acquisition as object), started_at: started } },
      weather: weather(),
    };
  },
  stale: () => ({ labels: youngArtifact('recent', Date.now() - 3 * hour), weather: weather() }),
  held: () => ({ labels: { ...labels(), hold: true }, weather: weather() }),
  unavailable: () => ({ labels: null, weather: weather() }),
  no_collection: () => ({ labels: withCoverage({ observed_through: null }), weather: weather() }),
  gaps: () => ({
    labels: withCoverage({
      status: 'gapped',
      gaps: Array.from({ length: 12 }, (_, at) => ({
        start: ago((28 - 2 * at) * day),
        end: ago((28 - 2 * at) * day - (at % 4 === 0 ? 30 * hour : hour)),
        reason: 'source_unavailable',
      })),
    }),
    weather: weather(),
  }),
  overflow: () => ({ labels: withCoverage({ gap_overflow: true }), weather: weather() }),
  weather_absent: () => ({ labels: labels(), weather: null }),
  weather_old: () => ({ labels: labels(), weather: youngArtifact('weather', Date.now() - 2 * hour) }),
  weather_unwatched: () => ({
    labels: labels(),
    weather: {
      ...weather(),
      window: { ...(weather().window as object), observed_seconds: 0, coverage_ratio: 0, observed_windows: 0 },
      total_events: unwatched,
      collections: {},
    },
  }),
  weather_uncomparable: () => ({
    labels: labels(),
    weather: {
      ...weather(),
      conditions: {
        state: 'unavailable',
        label: 'Conditions unavailable',
        headline: 'Not enough to compare',
        sentence:
          'The observed data cannot be compared with this hour of earlier days: absence of a reading, not calm.',
        confidence: 'unsupported',
        as_of: null,
      },
    },
  }),
  legacy: () => ({ labels: youngArtifact('legacy'), weather: youngArtifact('weatherwatch') }),
  simulated: () => ({
    labels: { ...labels(), origin: 'simulated' },
    weather: { ...weather(), origin: 'simulated' },
  }),
  nothing: () => ({ labels: null, weather: null }),
} satisfies Record<string, () => PageState>;

/** Name of a state of the page. */
export type PageStateName = keyof typeof pageStates;
