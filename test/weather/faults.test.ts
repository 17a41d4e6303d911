import { describe, expect, test } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { deliveredMinutes, readStore } from '../../harness/weather/weather-kept.ts';
import { compareWithTruth, expectObserved, type Station, startStation } from '../../harness/weather/weather-station.ts';
import type { FaultName } from '../../sim/jetstream/faults.ts';
import { windowFlag } from '../../src/weather/window/window.ts';

const seeds = Array.from({ length: 10 }, (_, i) => i + 1);
/** Returns true if the host of a seed numbers its frames. Every second host does. */
const withSeq = (seed: number): boolean => seed % 2 === 0;

/** Runs a station through its backfill and then through the injected fault, until live events are counted again. */
async function through(
  seed: number,
  fault: FaultName,
  act: (station: Station) => Promise<void> | void,
): Promise<Station> {
  const station = await startStation({ sim: { seed, seqCursors: withSeq(seed), variedKeys: seed % 3 === 0 } });
  const { sim } = station;
  await until('the backfill of missed events has ended', () =>
    station.lines.some((line) => line.includes('the backfill of missed events has ended')),
  );
  // Also wait until the live reader has received the events that the host still sent to the ended backfill.
  await until(
    'one reader remains',
    () => sim.truth.deliveries.filter(({ closedAtUs }) => closedAtUs === null).length === 1,
  );
  await settled(station);
  await act(station);
  await until(`${fault} fires`, () => sim.faults.fired[fault] > 0);
  await settled(station);
  return station;
}

/**
 * Waits until the instrument has committed all events up to this call. Frames arrive in order, so this has happened
 * once a later event is committed.
 */
async function settled({ told, clock }: Station): Promise<void> {
  const nowUs = clock() * 1000;
  await until('later events are committed', () => told.committedToUs > nowUs);
}

function lossless(station: Station): Promise<unknown> {
  return compareWithTruth(station);
}

interface Case {
  readonly fault: FaultName;
  readonly act: (station: Station) => Promise<void> | void;
  readonly judge: (station: Station) => Promise<unknown>;
}

async function reconnected({ told }: Station, act: () => void): Promise<void> {
  const before = told.connections.live;
  act();
  await until('the reader connects again', () => told.connections.live > before);
}

const cases: readonly Case[] = [
  {
    fault: 'drop',
    act: async (station) => {
      for (const how of ['end', 'reset', 'mid_frame'] as const)
        await reconnected(station, () => station.sim.faults.drop({ how }));
    },
    judge: lossless,
  },
  {
    fault: 'silence',
    act: (station) => reconnected(station, () => station.sim.faults.silence()),
    judge: async (station) => {
      expect(station.told.causes).toContain('silence');
      await lossless(station);
    },
  },
  {
    fault: 'half_open',
    act: (station) => reconnected(station, () => station.sim.faults.halfOpen()),
    judge: async (station) => {
      expect(station.told.causes).toContain('silence');
      await lossless(station);
    },
  },
  {
    fault: 'slow',
    act: async ({ sim }) => {
      sim.faults.slow({ framesPerSecond: 40 });
      const sent = (): number => sim.truth.deliveries.reduce((sum, { frames }) => sum + frames, 0);
      const before = sent();
      await until('some frames arrive', () => sent() > before + 100);
      sim.faults.resume();
    },
    judge: lossless,
  },
  {
    fault: 'skip',
    act: ({ sim }) => {
      sim.faults.skip({ seconds: 12 });
    },
    judge: async (station) => {
      const kept = (await lossless(station)) as { observed: readonly unknown[] };
      expect(kept.observed).toHaveLength(2);
      expect(station.told.gapSeconds).toBeGreaterThan(11.5);
    },
  },
  {
    fault: 'repeat',
    act: ({ sim }) => {
      sim.faults.repeat({ events: 250 });
    },
    judge: async (station) => {
      const { rows } = (await lossless(station)) as ReturnType<typeof readStore>;
      expect(rows.reduce((sum, { lateOrRepeat }) => sum + lateOrRepeat, 0)).toBe(250);
      expect(rows.some(({ flags }) => (flags & windowFlag.lateOrRepeat) !== 0)).toBe(true);
    },
  },
  {
    fault: 'replay_earlier',
    act: (station) =>
      reconnected(station, () => {
        station.sim.faults.replayEarlier({ seconds: 120 });
        station.sim.faults.drop();
      }),
    judge: async (station) => {
      expect(station.told.outcomes.skipped).toBeGreaterThan(5000);
      await lossless(station);
    },
  },
  {
    fault: 'clamp_cursor',
    act: async (station) => {
      const { sim } = station;
      sim.faults.refuse({ status: 503, times: 4 });
      await reconnected(station, () => {
        sim.faults.clampCursor({ seconds: 0 });
        // Silence the host instead of dropping the connection, because events in the socket would then be lost.
        sim.faults.silence();
      });
    },
    judge: async (station) => {
      const { observed } = (await lossless(station)) as ReturnType<typeof readStore>;
      expect(observed.length).toBeGreaterThanOrEqual(2);
    },
  },
  {
    fault: 'future_cursor',
    act: async (station) => {
      const { sim } = station;
      sim.faults.refuse({ status: 503, times: 4 });
      await reconnected(station, () => {
        sim.faults.futureCursor();
        sim.faults.silence();
      });
    },
    judge: lossless,
  },
  {
    fault: 'batch_time',
    act: async (station) => {
      const { sim, clock } = station;
      sim.faults.batchTime({ size: 7, seconds: 30 });
      const beginUs = clock() * 1000;
      for (const seconds of [8, 16, 24]) {
        await until('the batches come', () => clock() * 1000 > beginUs + seconds * 1e6);
        await reconnected(station, () => sim.faults.drop({ how: 'mid_frame' }));
      }
    },
    judge: lossless,
  },
  {
    fault: 'malformed',
    act: ({ sim }) => {
      sim.faults.malformed({ events: 40 });
    },
    judge: async (station) => {
      const { rows } = (await lossless(station)) as ReturnType<typeof readStore>;
      expect(rows.reduce((sum, { malformed }) => sum + malformed, 0)).toBeGreaterThan(0);
    },
  },
  {
    fault: 'unknown',
    act: ({ sim }) => {
      sim.faults.unknown({ events: 40 });
    },
    judge: lossless,
  },
  {
    fault: 'huge',
    act: ({ sim }) => {
      sim.faults.huge({ bytes: 2_000_000 });
    },
    judge: lossless,
  },
  {
    fault: 'refuse',
    act: async (station) => {
      station.sim.faults.refuse({ status: 503, times: 2 });
      await reconnected(station, () => station.sim.faults.drop());
    },
    judge: async (station) => {
      expect(station.told.causes.filter((cause) => cause === 'handshake_status')).toHaveLength(2);
      await lossless(station);
    },
  },
  {
    fault: 'reorder_at_cutover',
    act: (station) =>
      reconnected(station, () => {
        station.sim.faults.reorderAtCutover({ events: 20 });
        station.sim.faults.refuse({ status: 503, times: 4 });
        station.sim.faults.drop();
      }),
    judge: async (station) => {
      // Wait for the window in which the replay reaches the present, because that window is flagged for possible loss.
      await until('the replay has reached live traffic', () => station.told.lagSeconds < 2);
      await station.weather().stop();
      const kept = readStore(station.folder, station.artifact().source.endpoint);
      const delivered = deliveredMinutes(station.sim, kept).reduce((sum, { events }) => sum + events, 0);
      const counted = kept.rows.reduce((sum, { events }) => sum + events, 0);
      const late = kept.rows.reduce((sum, { lateOrRepeat }) => sum + lateOrRepeat, 0);
      // If frames have numbers, no event before the position is counted, because a late event cannot be distinguished
      // from a repeated event by its lower number.
      expect(counted + late).toBe(delivered);
      expect(late).toBeGreaterThan(0);
      expect(kept.rows.some(({ flags }) => (flags & windowFlag.possibleLoss) !== 0)).toBe(true);
      expectObserved(station.sim, kept);
    },
  },
];

describe.each(cases)('the instrument during the fault $fault', ({ fault, act, judge }) => {
  test.concurrent.each(seeds)(
    'counts each delivered event once or reports it as late, and does not overstate the observed time (seed %i)',
    async (seed) => {
      const station = await through(seed, fault, act);
      try {
        await judge(station);
      } finally {
        await station.end();
      }
    },
  );
});
