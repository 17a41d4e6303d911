import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { simulationClock } from '../../harness/process/clock-setting.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { until } from '../../harness/process/until.ts';
import { createSim, type Sim } from '../../sim/index.ts';
import type { LabelerEnvelope } from '../../src/contract/labelers.ts';
import { parseTimestamp } from '../../src/contract/timestamp.ts';

/** Simulated seconds per real second. Every clock and timer of the observatory runs at this speed. */
const speed = 8;
const minuteMs = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'almanac-states-'));
let observatory: Server | null = null;
let sim: Sim | null = null;

afterEach(async () => {
  await observatory?.stop();
  await sim?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts the observatory on a simulated network, with the intervals used for the live network. */
async function observe(clock: ReturnType<typeof simulationClock>, network: Sim): Promise<Server> {
  const { jetstream, plc, relays, seeds } = await network.start();
  clock.run(speed);
  return startServer(['up', '--data', join(folder, 'data'), '--port', '0', '--account-port', '0'], {
    ...clock.env,
    SCALED_TIMERS: 'true',
    ALMANAC_JETSTREAM: jetstream,
    ALMANAC_ALLOW_LOOPBACK: 'true',
    ALMANAC_PLC: plc ?? '',
    ALMANAC_RELAY: relays.join(','),
    ALMANAC_SEEDS: seeds ?? '',
    ALMANAC_MIN_FREE_MEGABYTES: '0',
  });
}

it('a new labeler is shown as read within two minutes, and a labeler that goes down is shown as unavailable within 17 minutes', async () => {
  const clock = simulationClock(join(folder, 'clock.json'));
  const network = createSim({
    ...{ rate: 3, historyHours: 0, labelers: 3, labelRate: 1, relays: 1, clock: clock.now },
    // No service names the last labeler before the labeler writes its declaration.
    shapeLabeler: ({ index }) => ({
      software: 'skyware',
      didWeb: false,
      rate: 0.3,
      ...(index === 2 ? { seeded: false, relays: [], unannounced: true } : {}),
    }),
  });
  sim = network;
  const [old, , late] = network.labelers.list;
  if (!old || !late) throw new Error('the network has three labelers');
  const running = await observe(clock, network);
  observatory = running;

  const documentOf = async (did: string): Promise<LabelerEnvelope | null> => {
    const response = await fetch(`${running.url}/labelers/${did}.json`);
    return response.status === 200 ? ((await response.json()) as LabelerEnvelope) : null;
  };
  /** Waits for a state. Returns the time at which it was published, in milliseconds. */
  const published = async (did: string, state: string): Promise<number> => {
    let found: LabelerEnvelope | null = null;
    await until(
      `${did} is ${state}`,
      async () => {
        found = await documentOf(did);
        return found?.facts.state === state;
      },
      240_000,
    );
    return (parseTimestamp((found as LabelerEnvelope | null)?.generated_at) ?? 0) / 1_000;
  };

  await published(old.did, 'established');
  expect(await documentOf(late.did)).toBeNull();
  const declaredAt = clock.now();
  network.labelers.declare(late.did, 'create');
  expect((await published(late.did, 'established')) - declaredAt).toBeLessThanOrEqual(2 * minuteMs);

  const downAt = clock.now();
  await old.faults.dead();
  expect((await published(old.did, 'unavailable')) - downAt).toBeLessThanOrEqual(17 * minuteMs);
  expect((await documentOf(old.did))?.facts).toMatchObject({
    problem: 'connection_failed',
    remedy: expect.any(String),
  });
  expect((await documentOf(late.did))?.facts.state).toBe('established');
});
