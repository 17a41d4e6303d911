import type { Registry } from 'prom-client';
import { type HostPlace, hostPlaces, type WeatherTelemetry } from '../../weather/stream/telemetry.ts';
import { type FrameOutcome, frameOutcomes } from '../../weather/window/track.ts';
import { type Metrics, metricsIn } from '../metrics.ts';

/** Registers the metrics of the weather process. Their names and dimensions are bounded and contain no identity. */
export function weatherMetrics(registry: Registry, clock: () => number = Date.now): WeatherTelemetry {
  const metrics = metricsIn(registry);
  return { ...streamMetrics(metrics, clock), ...writingMetrics(metrics, clock), ...hostMetrics(metrics, clock) };
}

/** Returns the time since `atMs` (milliseconds since 1970) in seconds, or 0 if `atMs` is ahead of the clock. */
const secondsSince = (atMs: number, clock: () => number) => Math.max(0, clock() - atMs) / 1000;

/** Registers the metrics of the first host's stream. */
function streamMetrics(
  metrics: Metrics,
  clock: () => number,
): Pick<WeatherTelemetry, 'frames' | 'lag' | 'connected' | 'disconnected' | 'gap' | 'positionReset'> {
  const frames = metrics.counter('almanac_weather_frames_total', 'Frames received, by outcome.', 'outcome');
  for (const outcome of frameOutcomes) frames.inc({ outcome }, 0);
  let newestMs: number | null = null;
  metrics.measured(
    'almanac_weather_lag_seconds',
    "Time between the newest counted event and this machine's clock; NaN before the first event of the series.",
    (gauge) => gauge.set(newestMs === null ? Number.NaN : secondsSince(newestMs, clock)),
  );
  const connections = metrics.counter(
    'almanac_weather_connections_total',
    'Connections that were established.',
    'reader',
  );
  const reconnects = metrics.counter(
    'almanac_weather_reconnects_total',
    'Connections that ended or could not be established, by cause.',
    'reader',
    'cause',
  );
  const gap = metrics.counter(
    'almanac_weather_gap_seconds_total',
    "Time on the stream's clock that was recorded as not observed; a later backfill may fill it in.",
  );
  const resets = metrics.counter(
    'almanac_weather_position_resets_total',
    'Stream positions that were abandoned as impossible: the host sent a false position, or was reset.',
  );
  return {
    frames: (outcomes) => {
      for (const [outcome, n] of Object.entries(outcomes) as [FrameOutcome, number][]) frames.inc({ outcome }, n);
    },
    lag: (_, eventMs) => {
      newestMs = eventMs;
    },
    connected: (reader) => connections.inc({ reader }),
    disconnected: (reader, cause) => reconnects.inc({ reader, cause }),
    gap: (seconds) => gap.inc(seconds),
    positionReset: () => resets.inc(),
  };
}

/** Registers the metrics of the store and the artifact. */
function writingMetrics(
  metrics: Metrics,
  clock: () => number,
): Pick<WeatherTelemetry, 'committed' | 'notWritten' | 'published'> {
  const windows = metrics.counter('almanac_weather_window_commits_total', 'Commits of window counts.');
  const commits = metrics.histogram(
    'almanac_weather_commit_duration_seconds',
    'Duration of commits.',
    [0.001, 0.005, 0.02, 0.1, 0.5, 2],
  );
  const notWritten = metrics.counter(
    'almanac_weather_write_failures_total',
    'Commits and artifacts that could not be written.',
    'what',
  );
  for (const what of ['store', 'artifact']) notWritten.inc({ what }, 0);
  let publishedAt: number | null = null;
  metrics.measured(
    'almanac_weather_artifact_age_seconds',
    'Time since this process last wrote the artifact; NaN before the first write.',
    (gauge) => gauge.set(publishedAt === null ? Number.NaN : (clock() - publishedAt) / 1000),
  );
  return {
    committed: (additions, milliseconds) => {
      windows.inc(additions);
      commits.observe(milliseconds / 1000);
    },
    notWritten: (what) => notWritten.inc({ what }),
    published: (atMs) => {
      publishedAt = atMs;
    },
  };
}

/** Registers the metrics of both hosts, and of the choice of the published host. */
function hostMetrics(
  metrics: Metrics,
  clock: () => number,
): Pick<WeatherTelemetry, 'hostConnection' | 'hostLag' | 'publishedHost'> {
  const connected = metrics.gauge(
    'almanac_weather_host_connected',
    '1 while the live connection to the host is established, 0 otherwise.',
    'host',
  );
  const newestMs = new Map<HostPlace, number>();
  metrics.measured(
    'almanac_weather_host_lag_seconds',
    "Time between the newest counted event of the host and this machine's clock.",
    (gauge) => {
      for (const [host, atMs] of newestMs) gauge.set({ host }, secondsSince(atMs, clock));
    },
    'host',
  );
  const published = metrics.gauge(
    'almanac_weather_host_published',
    '1 for the host that the artifact describes, 0 for the other.',
    'host',
  );
  const since = metrics.gauge(
    'almanac_weather_failover_timestamp_seconds',
    'Unix time since which the second host is published; 0 while the first host is published.',
  );
  const failovers = metrics.counter(
    'almanac_weather_failovers_total',
    'Changes of the published host since this process started, by the host that is published afterwards.',
    'to',
  );
  for (const to of hostPlaces) failovers.inc({ to }, 0);
  let last: HostPlace | null = null;
  return {
    hostConnection: (host, { isConnected }) => connected.set({ host }, isConnected ? 1 : 0),
    hostLag: (host, _, eventMs) => newestMs.set(host, eventMs),
    publishedHost: (host, sinceMs) => {
      for (const place of hostPlaces) published.set({ host: place }, place === host ? 1 : 0);
      since.set(sinceMs === null ? 0 : sinceMs / 1000);
      if (last !== null && last !== host) failovers.inc({ to: host });
      last = host;
    },
  };
}
