import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../process/until.ts';
import { readStore } from '../weather/weather-kept.ts';
import {
  alteredRelay,
  type Case,
  replaceJetstream,
  restartInstruments,
  seconds,
  startInstruments,
  stopInstruments,
} from './case.ts';
import { metricOf } from './peers.ts';
import { endpointOf, type Scene } from './scene.ts';

const equal = 'equal';
const gap = 'equal, or unobserved';

function remove(folder: string): void {
  rmSync(folder, { recursive: true });
}

const histories: readonly Case[] = [
  {
    ...{ name: "Jetstream's directory lost", expected: gap, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(6);
      await replaceJetstream(scene, 'SIGTERM', remove);
      await seconds(10);
    },
  },
  {
    ...{ name: 'Jetstream rolled back to an older copy', expected: gap, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(3);
      await rollBack(scene, () => seconds(8));
      await seconds(8);
    },
  },
  {
    ...{
      name: 'Jetstream rolled back while Almanac is stopped: a cursor in its future',
      expected: gap,
      options: { rate: 50 },
    },
    act: async (scene) => {
      await seconds(3);
      await rollBack(scene, async () => {
        await seconds(8);
        await stopInstruments(scene, 'stop');
      });
      startInstruments(scene);
      await seconds(8);
    },
  },
  {
    ...{ name: 'a cursor of another instance, which is longer', expected: gap, options: { rate: 50, accounts: 400 } },
    act: async (scene) => {
      await seconds(3);
      await stopInstruments(scene, 'stop');
      await replaceJetstream(scene, 'SIGTERM', remove);
      await seconds(12);
      startInstruments(scene);
      await seconds(8);
    },
  },
  {
    ...{ name: 'a cursor of another instance, which is shorter', expected: gap, options: { rate: 50, accounts: 10 } },
    act: async (scene) => {
      await seconds(15);
      await stopInstruments(scene, 'stop');
      await replaceJetstream(scene, 'SIGTERM', remove);
      startInstruments(scene);
      await seconds(8);
    },
  },
  {
    ...{ name: 'a cursor from before the lookback, not sealed', expected: 'CursorTooOld, a gap', options: lookback('4s') },
    act: async (scene) => {
      await seconds(4);
      await stopInstruments(scene, 'stop');
      for (let round = 0; round < 3; round += 1) {
        await replaceJetstream(scene, 'SIGTERM');
        await seconds(4);
      }
      startInstruments(scene);
      await seconds(8);
    },
  },
  {
    ...{
      name: 'a cursor from before the lookback, in sealed segments',
      expected: 'CursorTooOld, or another start without a notice; a gap',
      options: lookback('4s', '--compaction-interval', '1s'),
    },
    act: async (scene) => {
      await seconds(4);
      await stopInstruments(scene, 'stop');
      await seconds(14);
      startInstruments(scene);
      await seconds(8);
    },
  },
  {
    ...{ name: 'no lookback, Almanac restarted', expected: gap, options: lookback('0') },
    act: async (scene) => {
      await seconds(5);
      await restartInstruments(scene, 'stop', 3);
      await seconds(8);
    },
  },
];

function lookback(duration: string, ...more: readonly string[]) {
  return { rate: 50, startsLate: true, jetstreamArgs: ['--cursor-lookback', duration, ...more] };
}

/** Copies Jetstream's directory, and brings the copy back after `between`. */
async function rollBack(scene: Scene, between: () => Promise<void>): Promise<void> {
  const copy = join(scene.home, 'copy');
  await replaceJetstream(scene, 'SIGTERM', (folder) => cpSync(folder, copy, { recursive: true }));
  await between();
  await replaceJetstream(scene, 'SIGTERM', (folder) => {
    remove(folder);
    cpSync(copy, folder, { recursive: true });
  });
}

const compactions: readonly Case[] = [
  {
    name: 'replay across a compaction',
    expected: 'some creates are gone, without a sign',
    options: { rate: 100, jetstreamArgs: ['--compaction-interval', '2s'] },
    act: async (scene) => {
      await seconds(4);
      await restartInstruments(scene, 'kill', 6);
      await seconds(6);
    },
  },
  {
    name: 'replay across an early compaction after 10 deletions',
    expected: 'some creates are gone, without a sign',
    options: { rate: 100, jetstreamArgs: ['--compaction-tombstone-cap', '10'] },
    act: async (scene) => {
      await seconds(4);
      await restartInstruments(scene, 'stop', 6);
      await seconds(6);
    },
  },
  {
    name: 'replay of compacted segments after a restart of Jetstream',
    expected: 'some creates are gone; minutes marked as compacted, legacy not',
    options: { rate: 100, jetstreamArgs: ['--compaction-interval', '2s'] },
    act: async (scene) => {
      await seconds(4);
      await stopInstruments(scene, 'stop');
      await seconds(8);
      await replaceJetstream(scene, 'SIGTERM');
      startInstruments(scene);
      await seconds(8);
    },
  },
  {
    name: 'Jetstream killed between compactions',
    expected: gap,
    options: { rate: 100, jetstreamArgs: ['--compaction-interval', '1s'] },
    act: async (scene) => {
      await seconds(6);
      await replaceJetstream(scene, 'SIGKILL');
      await seconds(10);
    },
  },
];

/** Number of events of a flood: more than the 100,000 by which a reader must be behind to count as slow. */
const flood = 250_000;

/** Adds events that Jetstream need not verify, as fast as it reads, and waits until Jetstream has stored them. */
async function floods(scene: Scene, events: number): Promise<void> {
  const relay = alteredRelay(scene);
  const [did = ''] = await relay.accounts(1);
  const stored = await storedBy(scene);
  for (let n = 0; n < events; n += 1) {
    relay.identity(did, `flood-${n}.example.com`);
    if (n % 1_000 === 0) await seconds(0);
  }
  await until('Jetstream has stored the flood', async () => (await storedBy(scene)) - stored >= events, floodMs);
}

/** Maximum time in which Jetstream stores a flood, and an instrument counts it, in milliseconds. */
const floodMs = 240_000;

async function storedBy({ place }: Scene): Promise<number> {
  return (await metricOf(place, 'jetstream_ingest_next_seq')) ?? 0;
}

/** Resolves once every instrument has stored a number of events. */
async function allCount({ instruments, place }: Scene, events: number): Promise<void> {
  for (const { wire, folder } of instruments) {
    const counted = (): number =>
      readStore(folder, endpointOf(place, wire.protocol)).rows.reduce((sum, row) => sum + row.events, 0);
    await until(`${wire.name} counts the flood`, () => counted() >= events, floodMs);
  }
}

const slowReaders: readonly Case[] = [
  {
    ...{ name: 'a flood of 250,000 events', expected: equal, options: { rate: 20, altered: true } },
    act: async (scene) => {
      await seconds(3);
      await floods(scene, flood);
      await allCount(scene, flood);
    },
  },
  {
    name: 'slow window of 1 s, 250,000 events behind',
    expected: 'ConsumerTooSlow several times; equal',
    options: { rate: 20, altered: true, jetstreamArgs: slowArgs('1s') },
    act: async (scene) => {
      await seconds(3);
      await stopInstruments(scene, 'stop');
      await floods(scene, flood);
      startInstruments(scene);
      await allCount(scene, flood);
    },
  },
  {
    name: 'slow window of 1 s, 250,000 events behind, then drained by a restart of Jetstream',
    expected: 'ConsumerTooSlow, then a close of the server; equal',
    options: { rate: 20, altered: true, jetstreamArgs: slowArgs('1s') },
    act: async (scene) => {
      await seconds(3);
      await stopInstruments(scene, 'stop');
      await floods(scene, flood);
      startInstruments(scene);
      await seconds(3);
      await replaceJetstream(scene, 'SIGTERM');
      await allCount(scene, flood);
    },
  },
];

/** Arguments with which Jetstream drops every reader that is 100,000 events behind for the duration of the window. */
function slowArgs(window: string): string[] {
  return ['--subscribe-slow-window', window, '--subscribe-slow-min-rate', '1000000000'];
}

/** Cases in which Jetstream's history changes, or is longer than a reader can read at once. */
export const historyCases: readonly Case[] = [...histories, ...compactions, ...slowReaders];
