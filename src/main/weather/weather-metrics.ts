import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type HostPlace, hostPlaces, type WeatherTelemetry } from '../../weather/stream/telemetry.ts';
import { type FrameOutcome, frameOutcomes } from '../../weather/window/track.ts';

/** Registers the metrics of the weather process. Their names and dimensions are bounded and contain no identity. */
export function weatherMetrics(registry: Registry, clock: () => number = Date.now): WeatherTelemetry {
  const registers = [registry];
  return { ...streamMetrics(registers, clock), ...writingMetrics(registers, clock), ...hostMetrics(registers, clock) };
}

type Registers = Registry[];

/** Returns the time since `atMs` (milliseconds since 1970) in seconds, or 0 if `atMs` is ahead of the clock. */
const secondsSince = (atMs: number, clock: () => number) => Math.max(0, clock() - atMs) / 1000;

/** Registers the metrics of the first host's stream. */
function streamMetrics(
  registers: Registers,
  clock: () => number,
): Pick<WeatherTelemetry, 'frames' | 'lag' | 'connected' | 'disconnected' | 'gap' | 'positionReset'> {
  const frames = new Counter({
    name: 'almanac_weather_frames_total',
    help: 'Frames received, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of frameOutcomes) frames.inc({ outcome }, 0);
  let newestMs: number | null = null;
  new Gauge({
    name: 'almanac_weather_lag_seconds',
    help: "Time between the newest counted event and this machine's clock; NaN before the first event of the series.",
    registers,
    collect() {
      this.set(newestMs === null ? Number.NaN : secondsSince(newestMs, clock));
    },
  });
  const connections = new Counter({
    name: 'almanac_weather_connections_total',
    help: 'Connections that were established.',
    labelNames: ['reader'],
    registers,
  });
  const reconnects = new Counter({
    name: 'almanac_weather_reconnects_total',
    help: 'Connections that ended or could not be established, by cause.',
    labelNames: ['reader', 'cause'],
    registers,
  });
  const gap = new Counter({
    name: 'almanac_weather_gap_seconds_total',
    help: "Time on the stream's clock that was recorded as not observed; a later backfill may fill it in.",
    registers,
  });
  const resets = new Counter({
    name: 'almanac_weather_position_resets_total',
    help: 'Stream positions that were abandoned as impossible: the host sent a false position, or was reset.',
    registers,
  });
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
  registers: Registers,
  clock: () => number,
): Pick<WeatherTelemetry, 'committed' | 'notWritten' | 'published'> {
  const windows = new Counter({
    name: 'almanac_weather_window_commits_total',
    help: 'Commits of window counts.',
    registers,
  });
  const commits = new Histogram({
    name: 'almanac_weather_commit_duration_seconds',
    help: 'Duration of commits.',
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2],
    registers,
  });
  const notWritten = new Counter({
    name: 'almanac_weather_write_failures_total',
    help: 'Commits and artifacts that could not be written.',
    labelNames: ['what'],
    registers,
  });
  let publishedAt: number | null = null;
  new Gauge({
    name: 'almanac_weather_artifact_age_seconds',
    help: 'Time since this process last wrote the artifact; NaN before the first write.',
    registers,
    collect() {
      this.set(publishedAt === null ? Number.NaN : (clock() - publishedAt) / 1000);
    },
  });
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
  registers: Registers,
  clock: () => number,
): Pick<WeatherTelemetry, 'hostConnection' | 'hostLag' | 'publishedHost'> {
  const connected = new Gauge({
    name: 'almanac_weather_host_connected',
    help: '1 while the live connection to the host is established, 0 otherwise.',
    labelNames: ['host'],
    registers,
  });
  const newestMs = new Map<HostPlace, number>();
  new Gauge({
    name: 'almanac_weather_host_lag_seconds',
    help: "Time between the newest counted event of the host and this machine's clock.",
    labelNames: ['host'],
    registers,
    collect() {
      for (const [host, atMs] of newestMs) this.set({ host }, secondsSince(atMs, clock));
    },
  });
  const published = new Gauge({
    name: 'almanac_weather_host_published',
    help: '1 for the host that the artifact describes, 0 for the other.',
    labelNames: ['host'],
    registers,
  });
  const since = new Gauge({
    name: 'almanac_weather_failover_timestamp_seconds',
    help: 'Unix time since which the second host is published; 0 while the first host is published.',
    registers,
  });
  const failovers = new Counter({
    name: 'almanac_weather_failovers_total',
    help: 'Changes of the published host since this process started, by the host that is published afterwards.',
    labelNames: ['to'],
    registers,
  });
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
