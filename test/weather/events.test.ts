import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../../harness/process/until.ts';
import { deliveredMinutes, minutesOf, readStore } from '../../harness/weather/weather-kept.ts';
import {
  compareWithTruth,
  type Station,
  type StationOptions,
  settingsOf,
  startStation,
} from '../../harness/weather/weather-station.ts';
import type { FaultName } from '../../sim/jetstream/faults.ts';
import { dictionaryFile } from '../../src/weather/stream/dictionary.ts';
import { windowFlag } from '../../src/weather/window/window.ts';

const dictionary = readFileSync(new URL('../fixtures/jetstream/dictionary.zstd', import.meta.url));
const open: Station[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.end();
});

/** Starts a station over the subscribeEvents method and waits for the end of its backfill. */
async function station(options: StationOptions = {}): Promise<Station> {
  const one = await startStation({ wire: 'jetstream.subscribeEvents', ...options });
  open.push(one);
  await until('the backfill of missed events has ended', () =>
    one.lines.some((line) => line.includes('the backfill of missed events has ended')),
  );
  await until(
    'one reader remains',
    () => one.sim.truth.deliveries.filter(({ closedAtUs }) => closedAtUs === null).length === 1,
  );
  await settled(one);
  return one;
}

/** Waits until all events up to this call have been committed. */
async function settled({ told, clock }: Station): Promise<void> {
  const nowUs = clock() * 1000;
  await until('later events are committed', () => told.committedToUs > nowUs);
}

async function reconnected({ told }: Station, act: () => void): Promise<void> {
  const before = told.connections.live;
  act();
  await until('the reader connects again', () => told.connections.live > before);
}

async function fired({ sim }: Station, fault: FaultName): Promise<void> {
  await until(`${fault} fires`, () => sim.faults.fired[fault] > 0);
}

function leftOut({ rows }: ReturnType<typeof readStore>): number {
  return rows.reduce((sum, row) => sum + row.leftOut, 0);
}

describe('a subscribeEvents host', () => {
  test.each([1, 2, 3])(
    'is counted and observed exactly despite drops, repeats, refusals and unreadable frames (seed %i)',
    async (seed) => {
      const one = await station({ sim: { seed, variedKeys: seed === 3, isUnwitnessed: seed === 2 } });
      const { faults } = one.sim;
      for (const how of ['end', 'reset', 'mid_frame'] as const) await reconnected(one, () => faults.drop({ how }));
      faults.repeat({ events: 100 });
      faults.malformed({ events: 40 });
      faults.unknown({ events: 70 });
      await settled(one);
      faults.refuse({ status: 503, times: 2 });
      await reconnected(one, () => faults.goingAway());
      await reconnected(one, () => faults.tooSlow());
      await settled(one);
      expect(one.told.causes).toContain('consumer_too_slow');
      expect(one.told.causes.filter((cause) => cause === 'handshake_status')).toHaveLength(2);
      const { rows, endpoint, summary } = await compareWithTruth(one);
      expect(rows.reduce((sum, { lateOrRepeat }) => sum + lateOrRepeat, 0)).toBe(100);
      expect(endpoint).toMatch(/\/xrpc\/network\.bsky\.jetstream\.subscribeEvents$/);
      expect(summary.source.wire).toBe('jetstream.subscribeEvents');
    },
  );

  test('is counted exactly despite a re-sync, whose rows do not count, and a restart during the re-sync', async () => {
    const one = await station();
    one.sim.faults.resync({ rows: 400 });
    await until('some rows came', () => (one.told.outcomes.resync ?? 0) > 100);
    await one.weather().stop();
    await one.restart();
    await until('all rows came', () => (one.told.outcomes.resync ?? 0) >= 401);
    await settled(one);
    const { rows, summary } = await compareWithTruth(one);
    expect(rows.reduce((sum, { resync }) => sum + resync, 0)).toBe(401);
    expect(summary.caveats).toContainEqual(expect.stringMatching(/^401 rows that repeat records/));
  });

  test('is counted exactly if it omits event numbers, and the omitted numbers are reported', async () => {
    const one = await station();
    one.sim.faults.skip({ events: 37 });
    await settled(one);
    const kept = await compareWithTruth(one);
    expect(leftOut(kept)).toBe(37);
    expect(kept.rows.some(({ flags }) => (flags & windowFlag.leftOut) !== 0)).toBe(true);
    expect(kept.summary.caveats).toContainEqual(expect.stringMatching(/left out 37 of its event numbers/));
  });

  test('is read from the present after it has downloaded the repositories, which it sends as if they were events', async () => {
    const one = await station();
    const before = one.lines.length;
    one.sim.faults.refuse({ status: 503, message: 'service not ready: bootstrap in progress', times: 3 });
    await reconnected(one, () => one.sim.faults.drop());
    await settled(one);
    const lines = one.lines.slice(before).join('\n');
    expect(lines).toContain('the host is downloading the repositories');
    expect(lines).not.toContain('the backfill of missed events has started');
    const { observed } = await compareWithTruth(one);
    expect(observed).toHaveLength(2);
  });

  test.each(['jetstream.legacy', 'jetstream.subscribeEvents'] as const)(
    'is counted exactly over %s if its history begins with a download of the repositories',
    async (wire) => {
      // The download takes 100 of the 144 seconds of history, so that a slow start still reads its rows.
      const sim = { historyHours: 0.04, downloadedRows: 10_000, seqCursors: true };
      const one = await station({ wire, sim, speed: 1 });
      const { rows, fromUs } = await compareWithTruth(one);
      const { resync } = one.sim.truth.deliveredBetween(0, fromUs, wire);
      expect(resync).toBeGreaterThan(1_000);
      expect(rows.reduce((sum, row) => sum + row.resync, 0)).toBe(0);
    },
  );

  test('is counted exactly after a position in its future, which is abandoned with a recorded gap', async () => {
    const one = await station();
    one.sim.faults.refuse({ status: 503, times: 4 });
    one.sim.faults.futureCursor();
    await reconnected(one, () => one.sim.faults.silence());
    await fired(one, 'future_cursor');
    await settled(one);
    expect(one.lines.some((line) => line.includes('the position is abandoned'))).toBe(true);
    const { observed } = await compareWithTruth(one);
    expect(observed.length).toBeGreaterThanOrEqual(2);
  });

  test('is counted exactly after its position has expired, with the lost part of the history as a gap', async () => {
    const one = await station();
    one.sim.faults.refuse({ status: 503, times: 4 });
    one.sim.faults.clampCursor({ seconds: 0.5 });
    await reconnected(one, () => one.sim.faults.silence());
    await fired(one, 'clamp_cursor');
    await settled(one);
    expect(one.lines.some((line) => line.includes('CursorTooOld'))).toBe(true);
    await compareWithTruth(one);
  });

  test('is counted exactly if its history is compacted, with the compacted share reported', async () => {
    const one = await station({ speed: 1, backfillHours: 4.2, sim: { rate: 2, compactedShare: 0.3 } });
    await one.weather().stop();
    // Compaction removes events, but does not reduce the observed time.
    const kept = readStore(one.folder, one.artifact().source.endpoint);
    expect(minutesOf(kept)).toEqual(deliveredMinutes(one.sim, kept));
    expect(kept.summary.caveats).toContainEqual(
      expect.stringMatching(/^[0-9.]+ % of the observed time was read from history older than 4 hours/),
    );
  });

  test('is counted exactly with compressed frames and its own dictionary, which is kept with the store', async () => {
    const one = await station({ compress: true, sim: { rate: 20, zstdDictionary: dictionary } });
    await settled(one);
    const path = join(one.folder, dictionaryFile(one.artifact().source.endpoint));
    expect(readFileSync(path).equals(dictionary)).toBe(true);
    expect(one.lines.filter((line) => line.includes('"compressed":true'))).toHaveLength(1);
    await one.weather().stop();
    await one.restart();
    await until(
      'the host is read again',
      () => one.lines.filter((line) => line.includes('"compressed":true')).length === 2,
    );
    await settled(one);
    // Delete the dictionary, because its bytes come from the host and may contain any text.
    rmSync(path);
    await compareWithTruth(one);
    expect(one.told.outcomes.parse_error).toBe(0);
  });
});

describe('a host without the method or without its dictionary', () => {
  test('is logged in one line with its legacy address if it lacks the method', async () => {
    const one = await startStation({ wire: 'jetstream.subscribeEvents', sim: { hasMethod: false } });
    open.push(one);
    await until('the handshake is refused', () => one.told.causes.length > 0);
    expect(one.lines.join('\n')).toMatch(/responds with 404: .* specify ws:\/\/127\.0\.0\.1:\d+\/subscribe"/);
  });

  test('is read without compression if it lacks the dictionary', async () => {
    const one = await station({ compress: true });
    expect(one.lines.some((line) => line.includes('the host sent no usable dictionary'))).toBe(true);
    await compareWithTruth(one);
  });
});

describe('a series of the legacy protocol', () => {
  test('remains published while both protocols of its host are observed', async () => {
    const one = await station({ wire: 'jetstream.legacy' });
    await one.weather().stop();
    const before = one.artifact();
    const { endpoint } = before.source;
    const host = endpoint.replace('/subscribe', '');
    const settings = { ...settingsOf(one), jetstream: [host] };
    await one.restart({ settings });
    await until('both protocols are read', () => openWires(one).length === 2);
    const over = (): number =>
      one.lines.filter((line) => line.includes('the backfill of missed events has ended')).length;
    await until('the reader of the current protocol has filled in earlier time', () => over() === 2);
    await settled(one);
    await one.weather().stop();
    const after = one.artifact();
    expect(after.source).toEqual({ endpoint, method: 'jetstream', wire: 'jetstream.legacy' });
    expect(after.caveats).toContainEqual(expect.stringContaining('has 0 of the 7 earlier days'));
    expect(after.window.observed_seconds).toBeGreaterThanOrEqual(before.window.observed_seconds);
    for (const name of [endpoint, `${host}/xrpc/network.bsky.jetstream.subscribeEvents`]) {
      const kept = readStore(one.folder, name);
      expect(minutesOf(kept)).toEqual(deliveredMinutes(one.sim, kept));
    }
  });
});

function openWires({ sim }: Station): string[] {
  const open = sim.truth.deliveries.filter(({ closedAtUs }) => closedAtUs === null);
  return [...new Set(open.map(({ filter }) => filter.wire))];
}
