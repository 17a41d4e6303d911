import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { scaledClock } from '../sim/clock.ts';
import { createSim, type Sim, type SimOptions } from '../sim/index.ts';
import { checkWeatherSummary, type WeatherSummary } from '../src/artifact/weather-summary.ts';
import type { Log, LogFields } from '../src/ops/log.ts';
import { coverage, union } from '../src/weather/interval.ts';
import { metricNames } from '../src/weather/metric-names.ts';
import { readSummary } from '../src/weather/read-summary.ts';
import { noTelemetry, type WeatherTelemetry } from '../src/weather/telemetry.ts';
import { createWeather, type Weather, type WeatherDeps } from '../src/weather/weather.ts';
import { windowUs } from '../src/weather/window.ts';
import { openWindowStore, storeFile, type WindowRow } from '../src/weather/window-store.ts';

/** Waits until something holds; fails with its name when it does not within the time. */
export async function until(what: string, holds: () => boolean, withinMs = 30_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`did not come about within ${withinMs} ms: ${what}`);
    await wait(10);
  }
}

/** What the instrument told its operator, in numbers. */
export interface Told {
  readonly outcomes: Record<string, number>;
  readonly causes: string[];
  readonly connections: { live: number; backfill: number };
  gapSeconds: number;
  commits: number;
  notWritten: number;
}

/** An instrument over a simulated host, both on one clock that may run faster than time. */
export interface Station {
  readonly sim: Sim;
  readonly folder: string;
  readonly told: Told;
  /** Every line of the log. */
  readonly lines: string[];
  readonly clock: () => number;
  weather(): Weather;
  /** Starts another instrument over the same folders; the one before must have stopped. */
  restart(change?: Partial<WeatherDeps>): Promise<void>;
  artifact(): WeatherSummary;
  /** Ends all and removes the folders. */
  end(): Promise<void>;
}

/** What a station is made of. */
export interface StationOptions {
  readonly sim?: SimOptions;
  /** How many seconds of the stream pass in a second. */
  readonly speed?: number;
  readonly backfillHours?: number;
  readonly deps?: Partial<WeatherDeps>;
}

const startMs = Date.parse('2026-11-20T11:30:00Z');

/** Starts a simulated host and an instrument that observes it. */
export async function startStation(options: StationOptions = {}): Promise<Station> {
  const clock = scaledClock(startMs, options.speed ?? 20);
  const sim = createSim({ rate: 100, clock, ...options.sim });
  const { jetstream } = await sim.start();
  const folder = mkdtempSync(join(tmpdir(), 'almanac-weather-'));
  const told: Told = {
    outcomes: {},
    causes: [],
    connections: { live: 0, backfill: 0 },
    gapSeconds: 0,
    commits: 0,
    notWritten: 0,
  };
  const lines: string[] = [];
  let weather: Weather | null = null;
  const make = (change: Partial<WeatherDeps> = {}): Weather =>
    createWeather({
      settings: {
        jetstream,
        data: folder,
        artifacts: join(folder, 'artifacts'),
        publishSeconds: 1,
        backfillHours: options.backfillHours ?? 0.05,
        backfillBytes: 1e9,
      },
      policy: { allowLoopback: true },
      clock,
      random: Math.random,
      log: recordingLog(lines),
      telemetry: recordingTelemetry(told),
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
      weather = make(change);
      await weather.start();
    },
    artifact: () => readArtifact(folder),
    end: async () => {
      await weather?.stop().catch(() => undefined);
      await sim.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await station.restart();
  return station;
}

/** The artifact in the folder, which must be whole and of its schema. */
export function readArtifact(folder: string): WeatherSummary {
  const checked = checkWeatherSummary(
    JSON.parse(readFileSync(join(folder, 'artifacts', 'weather-summary.json'), 'utf8')),
  );
  if (!checked.ok) throw new Error(`the artifact is malformed at ${checked.pointer}`);
  return checked.value;
}

/** What a stopped instrument left in its store. */
export interface Kept {
  readonly endpoint: string;
  /** The latest `time_us` counted. */
  readonly toUs: number;
  /** Where the first observed span begins. */
  readonly fromUs: number;
  readonly rows: readonly WindowRow[];
  readonly observedSeconds: number;
  /** Spans that were watched; sorted and disjoint. */
  readonly observed: readonly { from: number; to: number }[];
  /** The summary once all of it lies in closed windows. */
  readonly summary: WeatherSummary;
}

/** Reads the store of a stopped instrument. */
export function readStore(folder: string, endpoint: string): Kept {
  const store = openWindowStore(folder);
  try {
    const series = store.series(endpoint);
    const everything = { from: 0, to: Number.MAX_SAFE_INTEGER };
    const observed = union(store.observed(series.id, everything));
    const toUs = series.live?.timeUs ?? 0;
    return {
      endpoint,
      toUs,
      fromUs: observed[0]?.from ?? 0,
      rows: store.windows(series.id, everything, metricNames),
      observed,
      observedSeconds: observed.reduce((sum, { from, to }) => sum + to - from, 0) / 1e6,
      summary: readSummary({ store, endpoint, origin: 'simulated', nowUs: toUs + 3 * windowUs }),
    };
  } finally {
    store.close();
  }
}

/** The minutes of a store: every count by name, and how many events were not counted. */
export function minutesOf({ rows }: Kept) {
  return rows
    .filter(({ events }) => events > 0)
    .map(({ startUs, events, counts }) => ({
      startUs,
      events,
      metrics: Object.fromEntries(metricNames.map((name, i) => [name, counts[i] ?? 0])),
    }));
}

/** The minutes that the host delivered, up to what was counted. */
export function deliveredMinutes(sim: Sim, { fromUs, toUs }: Kept) {
  return sim.truth
    .deliveredMinutes(fromUs, toUs + 1)
    .filter(({ events }) => events > 0)
    .map(({ startUs, events, metrics }) => ({ startUs, events, metrics }));
}

/** Stops the instrument and compares all that it kept with what the host delivered. */
export async function compareWithTruth(station: Station): Promise<Kept> {
  const { sim, folder } = station;
  await station.weather().stop();
  const kept = readStore(folder, station.artifact().source.endpoint);
  expect(minutesOf(kept)).toEqual(deliveredMinutes(sim, kept));
  expectObserved(sim, kept);
  expectPublished(kept);
  return kept;
}

/** Observed seconds: the delivered stretches, within a second an hour. */
export function expectObserved(sim: Sim, kept: Kept): void {
  const wanted = sim.truth.deliveredSeconds(kept.fromUs, kept.toUs + 1);
  const allowed = Math.max(0.01, (kept.toUs - kept.fromUs) / 3_600_000_000);
  expect(Math.abs(kept.observedSeconds - wanted)).toBeLessThanOrEqual(allowed);
}

/** The published totals are the sums of the minutes, and nothing between them. */
function expectPublished({ rows, observedSeconds, observed, summary }: Kept): void {
  expect(summary.total_events.total).toBe(rows.reduce((sum, { events }) => sum + events, 0));
  expect(summary.window.observed_seconds).toBeCloseTo(observedSeconds, 5);
  const start = Date.parse(summary.window.start) * 1000;
  const watched = coverage(observed, start, windowUs, 1440).filter((us) => us > 0).length;
  expect(summary.window.observed_windows).toBe(watched);
  for (const [name, collection] of Object.entries(summary.collections)) {
    const place = metricNames.findIndex((metric) => metric === name);
    expect([name, collection?.total]).toEqual([name, rows.reduce((sum, { counts }) => sum + (counts[place] ?? 0), 0)]);
  }
}

/** All bytes that a station left behind: store, write-ahead log, artifact, log lines. */
export function everythingKept({ folder, lines }: Pick<Station, 'folder' | 'lines'>): { name: string; text: string }[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  expect(files.some((path) => path.endsWith(storeFile))).toBe(true);
  return [
    ...files.map((path) => ({ name: path, text: readFileSync(path, 'latin1') })),
    { name: 'log', text: lines.join('\n') },
  ];
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

function recordingTelemetry(told: Told): WeatherTelemetry {
  return {
    ...noTelemetry,
    frames: (outcomes) => {
      for (const [outcome, n] of Object.entries(outcomes)) told.outcomes[outcome] = (told.outcomes[outcome] ?? 0) + n;
    },
    connected: (role) => {
      told.connections[role] += 1;
    },
    disconnected: (_, cause) => told.causes.push(cause),
    gap: (seconds) => {
      told.gapSeconds += seconds;
    },
    committed: () => {
      told.commits += 1;
    },
    notWritten: () => {
      told.notWritten += 1;
    },
  };
}
