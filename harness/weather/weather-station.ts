import { join } from 'node:path';
import { expect } from 'vitest';
import { scaledClock } from '../../sim/clock.ts';
import type { Wire } from '../../sim/events/wire.ts';
import { createSim, type Sim, type SimOptions } from '../../sim/index.ts';
import type { WeatherSummary } from '../../src/artifact/recognise.ts';
import type { Log, LogFields } from '../../src/ops/log.ts';
import { metricNames } from '../../src/weather/classify/metric-names.ts';
import { noTelemetry, type WeatherTelemetry } from '../../src/weather/stream/telemetry.ts';
import { createWeather, type Weather } from '../../src/weather/weather.ts';
import { coverage, windowUs } from '../../src/weather/window/window.ts';
import { temporaryFolder } from '../process/at-exit.ts';
import { countDifferences } from './truth-oracle.ts';
import { everythingKept, type Kept, leaks, readArtifact, readStore, wireOf } from './weather-kept.ts';

type WeatherDeps = Parameters<typeof createWeather>[0];

/** Values that the instrument reported through its telemetry. */
interface Told {
  readonly outcomes: Record<string, number>;
  readonly causes: string[];
  readonly connections: { live: number; backfill: number };
  /** True while the live reader has an open connection. */
  isLive: boolean;
  gapSeconds: number;
  /** Last reported lag: difference between the clock and the live reader's position, in seconds. */
  lagSeconds: number;
  /** `time_us` of the position for which the lag was last reported. */
  lagAtUs: number;
  /** `time_us` of the live reader's last committed event. */
  committedToUs: number;
  notWritten: number;
}

/** An instrument that observes a simulated host. Both use the same clock, which may run faster than real time. */
export interface Station {
  readonly sim: Sim;
  readonly folder: string;
  readonly told: Told;
  /** All log lines of the instrument. */
  readonly lines: string[];
  readonly clock: () => number;
  weather(): Weather;
  /** Starts another instrument on the same directories. The previous instrument must have been stopped. */
  restart(change?: Partial<WeatherDeps>): Promise<void>;
  artifact(): WeatherSummary;
  /** Stops the instrument and the host, and removes the directories. */
  end(): Promise<void>;
}

/** Options for a station. */
export interface StationOptions {
  readonly sim?: SimOptions;
  /** Speed of the clock as a multiple of real time. */
  readonly speed?: number;
  /** Clock in milliseconds, to be used instead of a scaled clock. */
  readonly clock?: () => number;
  readonly backfillHours?: number;
  readonly dictionary?: Buffer;
  /** Protocol over which the host is read; defaults to the legacy protocol. */
  readonly wire?: Wire;
  /** True if the reader requests compressed `subscribeEvents` frames. */
  readonly compress?: boolean;
  readonly deps?: Partial<WeatherDeps>;
}

/** Start of the stations' clocks, in milliseconds since 1970. */
export const startMs = Date.parse('2026-11-20T11:30:00Z');

/** Starts a simulated host and an instrument that observes it. */
export async function startStation(options: StationOptions = {}): Promise<Station> {
  const clock = options.clock ?? scaledClock(startMs, options.speed ?? 20);
  const sim = createSim({ rate: 100, clock, ...options.sim });
  const { jetstream: legacy, jetstreamHost } = await sim.start();
  const jetstream = options.wire === 'jetstream.subscribeEvents' ? jetstreamHost : legacy;
  const { folder, remove } = temporaryFolder('weather');
  const told: Told = {
    outcomes: {},
    causes: [],
    connections: { live: 0, backfill: 0 },
    isLive: false,
    gapSeconds: 0,
    lagSeconds: Number.POSITIVE_INFINITY,
    lagAtUs: 0,
    committedToUs: 0,
    notWritten: 0,
  };
  const lines: string[] = [];
  let weather: Weather | null = null;
  let lookedAtMs = 0;
  const make = (change: Partial<WeatherDeps> = {}): Weather =>
    createWeather({
      settings: {
        ...settingsOf({ folder }),
        jetstream: [jetstream],
        backfillHours: options.backfillHours ?? 0.05,
        dictionary: options.dictionary ?? null,
        compress: options.compress ?? false,
      },
      policy: { allowLoopback: true },
      userAgent: 'Almanac/test',
      clock: () => {
        lookedAtMs = clock();
        return lookedAtMs;
      },
      random: Math.random,
      log: recordingLog(lines),
      telemetry: recordingTelemetry(told, () => lookedAtMs),
      pace: { commitMs: 50, probeMs: 100, backoff: { firstMs: 20, capMs: 100 } },
      ...options.deps,
      ...change,
    });
  const station: Station = {
    sim,
    folder,
    told,
    lines,
    clock,
    weather: () => weather ?? make(),
    restart: async (change) => {
      told.isLive = false;
      weather = make(change);
      await weather.start();
    },
    artifact: () => readArtifact(folder),
    end: async () => {
      await weather?.stop().catch(() => undefined);
      await sim.stop();
      remove();
    },
  };
  await station.restart();
  return station;
}

/** Returns the settings for a station's directories. The caller adds the host. */
export function settingsOf({ folder }: Pick<Station, 'folder'>) {
  return {
    data: folder,
    artifacts: join(folder, 'artifacts'),
    publishSeconds: 1,
    backfillHours: 0.05,
    backfillBytes: 1e9,
    dictionary: null,
    compress: false,
  };
}

/**
 * Stops the instrument, compares everything that it stored with the events that the host delivered, and expects no
 * identity in its files and log.
 */
export async function compareWithTruth(station: Station): Promise<Kept> {
  const { sim, folder } = station;
  await station.weather().stop();
  const kept = readStore(folder, station.artifact().source.endpoint);
  expect(countDifferences(sim, kept)).toEqual([]);
  expectObserved(sim, kept);
  expectPublished(kept);
  expect(leaks(everythingKept(station))).toEqual([]);
  return kept;
}

/** Expects the observed time to equal the delivered time, with a tolerance of one second per hour. */
export function expectObserved(sim: Sim, kept: Kept): void {
  const wanted = sim.truth.deliveredSeconds(kept.fromUs, kept.toUs + 1, wireOf(kept));
  const allowed = Math.max(0.01, (kept.toUs - kept.fromUs) / 3_600_000_000);
  expect(Math.abs(kept.observedSeconds - wanted)).toBeLessThanOrEqual(allowed);
}

/** Expects the published totals to equal the sums of the stored minutes. */
function expectPublished({ rows, observedSeconds, observed, summary }: Kept): void {
  expect(summary.total_events.total).toBe(rows.reduce((sum, { events }) => sum + events, 0));
  expect(summary.window.observed_seconds).toBeCloseTo(observedSeconds, 5);
  const start = Date.parse(summary.window.start) * 1000;
  const watched = coverage(observed, start, windowUs, 1440).filter((us) => us > 0).length;
  expect(summary.window.observed_windows).toBe(watched);
  for (const [name, collection] of Object.entries(summary.collections)) {
    const place = metricNames.indexOf(name as (typeof metricNames)[number]);
    const counted = rows.reduce((sum, { counts }) => sum + (counts[place] ?? 0), 0);
    // Expect null instead of zero for a collection without any event.
    expect([name, collection?.total ?? null]).toEqual([name, counted > 0 ? counted : null]);
  }
}

function recordingLog(lines: string[]): Log {
  const write =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push(JSON.stringify({ level, message, ...fields }));
    };
  const log: Log = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    with: () => log,
  };
  return log;
}

/**
 * Creates telemetry that records the last reported values. `lookedAt` returns the clock value from which the instrument
 * computed the lag.
 */
function recordingTelemetry(told: Told, lookedAt: () => number): WeatherTelemetry {
  // Ignore the lag reported at the start of a session: some events at the position are possibly still uncounted.
  let isCommit = false;
  return {
    ...noTelemetry,
    committed: () => {
      isCommit = true;
    },
    frames: (outcomes) => {
      for (const [outcome, n] of Object.entries(outcomes)) told.outcomes[outcome] = (told.outcomes[outcome] ?? 0) + n;
    },
    connected: (role) => {
      told.connections[role] += 1;
      if (role === 'live') told.isLive = true;
    },
    disconnected: (role, cause) => {
      told.causes.push(cause);
      if (role === 'live') told.isLive = false;
    },
    gap: (seconds) => {
      told.gapSeconds += seconds;
    },
    lag: (seconds) => {
      told.lagSeconds = seconds;
      told.lagAtUs = Math.round((lookedAt() / 1000 - seconds) * 1e6);
      if (isCommit) told.committedToUs = told.lagAtUs;
      isCommit = false;
    },
    notWritten: () => {
      told.notWritten += 1;
    },
  };
}
