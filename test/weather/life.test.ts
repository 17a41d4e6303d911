import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { deliveredMinutes, minutesOf, readStore } from '../../harness/weather/weather-kept.ts';
import {
  compareWithTruth,
  type Station,
  settingsOf,
  startMs,
  startStation,
} from '../../harness/weather/weather-station.ts';
import { scaledClock } from '../../sim/clock.ts';
import { createSim, type Sim } from '../../sim/index.ts';
import { OperatorError } from '../../src/ops/errors.ts';
import type { Position } from '../../src/weather/position/position.ts';
import { openWindowStore, storeFile } from '../../src/weather/window/window-store.ts';

const open: { end(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.end();
});

async function station(options: Parameters<typeof startStation>[0] = {}): Promise<Station> {
  const started = await startStation(options);
  open.push(started);
  return started;
}

/** Returns a clock that runs 60 times as fast as real time, and a function that advances it by milliseconds. */
function skippingClock() {
  const running = scaledClock(startMs, 60);
  let skippedMs = 0;
  const skip = (milliseconds: number): void => {
    skippedMs += milliseconds;
  };
  return { clock: () => running() + skippedMs, skip };
}

function counted({ told }: Station): number {
  return told.outcomes.counted ?? 0;
}

/** Waits for the backfill of the instrument that started at line `from` of the log. */
async function filledIn({ lines }: Station, from = 0): Promise<void> {
  await until('the backfill of missed events has ended', () =>
    lines.slice(from).some((line) => line.includes('the backfill of missed events has ended')),
  );
}

/** Returns the stored position of a stopped instrument's live reader, or null if no position is stored. */
function readPosition({ folder }: Station, { endpoint }: { endpoint: string }): Position | null {
  const store = openWindowStore(folder);
  try {
    return store.series(endpoint).live;
  } finally {
    store.close();
  }
}

async function more(one: Station): Promise<void> {
  const before = counted(one);
  await until('events are committed', () => counted(one) > before + 200);
}

/**
 * Silences the host until all its events are committed, because uncommitted events would later count as growth, and
 * frames in transit are lost when the host stops. If a connection is opened during this time, the host sends again.
 */
async function commitAll({ sim, told }: Station): Promise<void> {
  const newest = (): number => sim.truth.delivered().at(-1)?.toUs ?? 0;
  for (let sentUs = -1; sentUs !== newest(); ) {
    sim.faults.silence();
    const expectedUs = newest();
    await until('all events are committed', () => told.committedToUs >= expectedUs);
    sentUs = expectedUs;
  }
}

describe('a host that becomes silent permanently', () => {
  test('is published as stale within four minutes, with counts and observed time that no longer grow', async () => {
    const { clock, skip } = skippingClock();
    const one = await station({ clock, backfillHours: 0.2 });
    await filledIn(one);
    await more(one);
    await commitAll(one);
    await one.sim.stop();
    const stoppedMs = one.clock();
    await one.weather().publish();
    const before = one.artifact();
    skip(240_000);
    await one.weather().publish();
    const after = one.artifact();
    expect(after.freshness.state).toBe('stale');
    expect(after.window.observed_seconds).toBeLessThanOrEqual(before.window.observed_seconds + 60);
    expect(after.freshness.newest_observation_end).not.toBeNull();
    expect(Date.parse(after.window.end)).toBeGreaterThanOrEqual(stoppedMs + 120_000);
    skip(160_000);
    await one.weather().publish();
    const last = one.artifact();
    expect(last.total_events).toEqual(after.total_events);
    expect(last.window.observed_seconds).toBe(after.window.observed_seconds);
    expect(last.collections).toEqual(after.collections);
  });
});

describe('an instrument that restarts while its host is unreachable', () => {
  test('reports the lag of its stored position before the first event', async () => {
    const one = await station({ speed: 60 });
    await more(one);
    await one.weather().stop();
    await one.sim.stop();
    const { timeUs = 0 } = readPosition(one, one.artifact().source) ?? {};
    one.told.lagSeconds = Number.NaN;
    one.told.lagAtUs = 0;
    await one.restart();
    await until('the host cannot be reached', () => one.told.causes.includes('connect'));
    expect(one.told.lagSeconds).toBeGreaterThan(0);
    expect(one.told.lagAtUs).toBe(timeUs);
  });
});

describe('an instrument that starts with a clock that is 60 days ahead', () => {
  test('keeps its history', async () => {
    const one = await station({ speed: 60 });
    await more(one);
    await one.weather().stop();
    await one.sim.stop();
    const { endpoint } = one.artifact().source;
    const before = readStore(one.folder, endpoint);
    await one.restart({ clock: () => one.clock() + 60 * 86_400_000 });
    await one.weather().stop();
    await one.restart();
    await one.weather().stop();
    const after = readStore(one.folder, endpoint);
    expect(before.rows.length).toBeGreaterThan(0);
    expect([after.rows, after.observed]).toEqual([before.rows, before.observed]);
  });
});

describe('a host that sends only unreadable frames', () => {
  test('is treated as silent, so that its connection is closed and opened again', async () => {
    const one = await station();
    await filledIn(one);
    await more(one);
    one.sim.faults.malformed({ events: 3000 });
    await until('the connection is closed', () => one.told.causes.includes('silence'));
    await until('events after the gap are counted', () => one.told.gapSeconds > 15);
    await more(one);
    expect(one.sim.faults.fired.malformed).toBe(1);
  });
});

describe('an observation that has not begun', () => {
  test('is published without any collection, rate or count', async () => {
    const stopped: Sim = createSim();
    const { jetstream } = await stopped.start();
    await stopped.stop();
    const one = await station({ backfillHours: 1 });
    await one.weather().stop();
    rmSync(join(one.folder, storeFile));
    await one.restart({ settings: { ...settingsOf(one), jetstream: [jetstream] } });
    await until('the log reports that the instrument cannot connect', () => one.told.causes.includes('connect'));
    expect(one.artifact()).toMatchObject({
      total_events: { total: null, mean_rate_per_s: null, observed_seconds: 0 },
      collections: {},
      conditions: { state: 'station_offline', confidence: 'unsupported', as_of: null },
      freshness: { state: 'unavailable', newest_observation_end: null },
    });
  });
});

describe('a full disk', () => {
  test('stops the commits, keeps the last artifact, and loses no committed data', async () => {
    let full = false;
    const one = await station({
      deps: {
        faults: {
          beforeCommit: () => {
            if (full) throw new Sqlite.SqliteError('database or disk is full', 'SQLITE_FULL');
          },
        },
      },
    });
    await more(one);
    full = true;
    await until('the failure is reported', () => one.told.notWritten > 0);
    const committed = counted(one);
    const kept = one.artifact();
    await until('no connection is left', () => one.sim.truth.deliveries.every(({ closedAtUs }) => closedAtUs !== null));
    expect(one.lines.some((line) => line.includes('the weather store cannot be written'))).toBe(true);
    expect(counted(one)).toBe(committed);
    expect(one.artifact().total_events.total ?? 0).toBeGreaterThanOrEqual(kept.total_events.total ?? 0);
    full = false;
    await until('the log reports that the store can be written', () =>
      one.lines.some((line) => line.includes('the weather store can be written again')),
    );
    await more(one);
    await filledIn(one);
    await compareWithTruth(one);
  });
});

describe('a removed artifact directory', () => {
  test('is logged without stopping the instrument, which writes the artifact again once the directory exists again', async () => {
    const one = await station();
    await filledIn(one);
    // Retry the removal, because an artifact may be being written at that moment.
    rmSync(join(one.folder, 'artifacts'), { recursive: true, maxRetries: 10 });
    await one.weather().publish();
    expect(one.told.notWritten).toBeGreaterThan(0);
    expect(one.lines.some((line) => line.includes('the previous artifact remains in place'))).toBe(true);
    mkdirSync(join(one.folder, 'artifacts'));
    await one.weather().publish();
    expect(one.artifact().total_events.total).toBeGreaterThan(0);
    await more(one);
    await compareWithTruth(one);
  });
});

describe('a damaged store', () => {
  test('stops the instrument immediately with an error', async () => {
    let broken = false;
    const one = await station({
      deps: {
        faults: {
          beforeCommit: () => {
            if (broken) throw new Sqlite.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT');
          },
        },
      },
    });
    await more(one);
    broken = true;
    const fault = await one.weather().failed.catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(OperatorError);
    expect(String(fault)).toContain('is damaged');
    expect(one.lines.some((line) => line.includes('the weather instrument stopped after an error'))).toBe(true);
  });

  test('prevents the instrument from starting', async () => {
    const one = await station();
    await more(one);
    await one.weather().stop();
    const path = join(one.folder, storeFile);
    const bytes = readFileSync(path);
    bytes.fill(0x5a, 4096);
    writeFileSync(path, bytes);
    await expect(one.restart()).rejects.toThrow(/is damaged/);
  });
});

describe('a data directory that is in use', () => {
  test('is refused to a second instrument with a one-line error', async () => {
    const one = await station();
    await expect(one.restart()).rejects.toThrow(
      /^another almanac weather process writes to .*; stop it, or choose another directory with --data$/,
    );
  });
});

describe('two observed hosts', () => {
  test('have two series, and a summary describes only one of them, never their sum', async () => {
    const one = await station();
    await filledIn(one);
    await more(one);
    await one.weather().stop();
    const first = readStore(one.folder, one.artifact().source.endpoint);
    const other = createSim({ seed: 9, rate: 160, clock: one.clock });
    const { jetstream } = await other.start();
    const settings = { ...settingsOf(one), jetstream: [jetstream] };
    try {
      const before = one.lines.length;
      await one.restart({ settings });
      expect(one.artifact()).toMatchObject({ source: { endpoint: jetstream }, total_events: { total: null } });
      await filledIn(one, before);
      await more(one);
      await one.weather().stop();
      const second = readStore(one.folder, jetstream);
      expect(minutesOf(second)).toEqual(deliveredMinutes(other, second));
      expect(minutesOf(readStore(one.folder, first.endpoint))).toEqual(minutesOf(first));
      await one.restart();
      expect(one.artifact().source.endpoint).toBe(first.endpoint);
      await until(
        'the first host is read on',
        () => one.lines.filter((line) => line.includes('"from":"cursor"')).length >= 2,
      );
      await more(one);
      const resumed = await compareWithTruth(one);
      expect(resumed.rows.length).toBeGreaterThanOrEqual(first.rows.length);
    } finally {
      await other.stop();
    }
  });
});

describe('the time of a long stop', () => {
  test('is filled in up to the length of the backfill, and the rest is recorded as a gap', async () => {
    const { clock, skip } = skippingClock();
    const one = await station({ clock, backfillHours: 0.3 });
    await filledIn(one);
    await more(one);
    await one.weather().stop();
    skip(25 * 60_000);
    const before = one.lines.length;
    const startedMs = one.clock();
    await one.restart();
    await until('the backfill has started', () =>
      one.lines.slice(before).some((line) => line.includes('the backfill of missed events has started')),
    );
    const begunMs = one.clock();
    await filledIn(one, before);
    await more(one);
    await one.weather().stop();
    const { observed, rows } = readStore(one.folder, one.artifact().source.endpoint);
    expect(observed).toHaveLength(2);
    const happened = observed.map(({ from, to }) => one.sim.truth.countsBetween(from, to).events);
    expect(rows.reduce((sum, { events }) => sum + events, 0)).toBe(happened.reduce((sum, events) => sum + events, 0));
    const [first, second] = observed;
    const gapMinutes = ((second?.from ?? 0) - (first?.to ?? 0)) / 60e6;
    expect(gapMinutes).toBeGreaterThan(5);
    // The gap consists of eighteen minutes before the backfill, and the time until the backfill's first event.
    const reachMs = 0.3 * 3_600_000;
    expect((second?.from ?? 0) / 1000).toBeGreaterThanOrEqual(Math.floor(startedMs - reachMs));
    expect((second?.from ?? 0) / 1000).toBeLessThan(begunMs - reachMs + 1_000);
  });
});
