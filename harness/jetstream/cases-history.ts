import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../process/until.ts';
import { type Case, replaceJetstream, restartInstruments, seconds, startInstruments, stopInstruments } from './case.ts';
import { metricOf } from './peers.ts';
import type { Scene } from './scene.ts';

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
    ...{
      name: 'a cursor from before the lookback, not sealed',
      expected: 'CursorTooOld, a gap',
      options: lookback('4s'),
    },
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

/** Resolves once Jetstream has ended the connections of some readers because they are slow. */
async function dropsReaders({ place }: Scene): Promise<void> {
  await until('Jetstream drops slow readers', async () => {
    return ((await metricOf(place, 'jetstream_subscribe_adversarial_drops_total')) ?? 0) >= dropped;
  });
}

/** Number of connections that Jetstream drops before a case continues. */
const dropped = 8;

const slowReaders: readonly Case[] = [
  {
    name: '120,000 records behind, slow window of 0.1 s, and a restart of Jetstream',
    expected: 'ConsumerTooSlow, and a close by the server; equal',
    options: {
      ...{ rate: 20, accounts: 300, records: 400, startsLate: true, firstArgs: [] },
      // Ends every connection that is more than 100,000 events behind for the duration of the window.
      jetstreamArgs: ['--subscribe-slow-window', '100ms', '--subscribe-slow-min-rate', '1000000000'],
    },
    act: async (scene) => {
      await dropsReaders(scene);
      await replaceJetstream(scene, 'SIGTERM');
      await dropsReaders(scene);
      await seconds(6);
    },
  },
];

/** Cases in which Jetstream's history changes, or is longer than a reader can read at once. */
export const historyCases: readonly Case[] = [...histories, ...compactions, ...slowReaders];
