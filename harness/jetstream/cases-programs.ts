import { join } from 'node:path';
import {
  type Case,
  replaceJetstream,
  restartInstruments,
  seconds,
  signalInstruments,
  startInstruments,
  stopInstruments,
  suspendInstruments,
} from './case.ts';
import { historyCases } from './cases-history.ts';
import { emptyDisk, fillDisk, freeDisk } from './disk.ts';
import type { Scene } from './scene.ts';

const equal = 'equal';
const gap = 'equal, or unobserved';

/** Cases at a rate of events per second. */
const rates: readonly Case[] = [10, 100, 300, 2_000, 100_000].map((rate) => ({
  ...{ name: rate === 100_000 ? 'live, as fast as the network can' : `live, ${rate}/s`, expected: equal },
  ...{ options: { rate }, act: () => seconds(12) },
}));

const starts: readonly Case[] = [
  {
    ...{
      name: 'first start after the download of 100 accounts',
      expected: 'reads the download',
      options: firstStart(100),
    },
    act: () => seconds(8),
  },
  {
    ...{ name: 'first start during the download of 1000 accounts', expected: equal, options: firstStart(1_000) },
    act: () => seconds(8),
  },
  {
    ...{ name: 'first start without a backfill', expected: equal, options: { rate: 50, accounts: 1_000 } },
    act: () => seconds(10),
  },
  {
    ...{
      name: 'Jetstream with its discovery after the merge',
      expected: equal,
      options: { rate: 50, discovery: true },
    },
    act: () => seconds(10),
  },
];

function firstStart(accounts: number) {
  return { rate: 20, accounts, firstArgs: [], startsLate: accounts < 1_000 };
}

const instruments: readonly Case[] = [
  {
    ...{ name: 'Almanac restarted', expected: equal, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(5);
      await restartInstruments(scene, 'stop', 3);
      await seconds(6);
    },
  },
  {
    ...{ name: 'Almanac killed', expected: equal, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(5);
      await restartInstruments(scene, 'kill', 3);
      await seconds(6);
    },
  },
  {
    ...{ name: 'Almanac killed four times at 300/s', expected: equal, options: { rate: 300 } },
    act: async (scene) => {
      for (let round = 0; round < 4; round += 1) {
        await seconds(3);
        await restartInstruments(scene, 'kill', 1);
      }
      await seconds(6);
    },
  },
  {
    ...{ name: 'Almanac suspended', expected: equal, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(4);
      await suspendInstruments(scene, 8);
      await seconds(4);
    },
  },
  {
    ...{ name: 'Almanac suspended at 2000/s', expected: 'closed after 5 s without reading; equal', options: fast() },
    act: async (scene) => {
      await seconds(4);
      await suspendInstruments(scene, 20);
      await seconds(6);
    },
  },
  {
    ...{ name: 'slow window of 2 s, Almanac suspended', expected: 'ConsumerTooSlow; equal', options: slowWindow() },
    act: async (scene) => {
      await seconds(4);
      await suspendInstruments(scene, 20);
      await seconds(6);
    },
  },
  {
    ...{ name: 'Almanac stopped while Jetstream is killed', expected: gap, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(5);
      await stopInstruments(scene, 'stop');
      await replaceJetstream(scene, 'SIGKILL');
      await seconds(3);
      startInstruments(scene);
      await seconds(8);
    },
  },
  {
    ...{ name: 'Almanac and Jetstream killed together', expected: gap, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(5);
      await Promise.all([stopInstruments(scene, 'kill'), scene.jetstream.signal('SIGKILL')]);
      startInstruments(scene);
      await scene.restartJetstream();
      await seconds(10);
    },
  },
];

function fast() {
  return { rate: 2_000 };
}

function slowWindow() {
  return { rate: 2_000, jetstreamArgs: ['--subscribe-slow-window', '2s', '--subscribe-slow-min-rate', '100000'] };
}

const ends: readonly Case[] = [
  {
    ...{ name: 'Jetstream restarted', expected: equal, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(5);
      await replaceJetstream(scene, 'SIGTERM');
      await seconds(8);
    },
  },
  {
    ...{ name: 'Jetstream restarted five times', expected: equal, options: { rate: 100 } },
    act: async (scene) => {
      for (let round = 0; round < 5; round += 1) {
        await seconds(2);
        await replaceJetstream(scene, 'SIGTERM');
      }
      await seconds(8);
    },
  },
  {
    ...{ name: 'Jetstream killed', expected: gap, options: { rate: 50 } },
    act: async (scene) => {
      await seconds(5);
      await replaceJetstream(scene, 'SIGKILL');
      await seconds(12);
    },
  },
  {
    ...{ name: 'Jetstream killed twice at 300/s', expected: gap, options: { rate: 300 } },
    act: async (scene) => {
      for (let round = 0; round < 2; round += 1) {
        await seconds(5);
        await replaceJetstream(scene, 'SIGKILL');
      }
      await seconds(8);
    },
  },
  {
    ...{ name: 'Jetstream suspended', expected: equal, options: { rate: 50 } },
    act: async ({ jetstream }) => {
      await seconds(4);
      await jetstream.signal('SIGSTOP');
      await seconds(8);
      await jetstream.signal('SIGCONT');
      await seconds(6);
    },
  },
  {
    ...{ name: 'drain of a suspended reader at shutdown', expected: equal, options: { rate: 50 } },
    act: drained,
  },
  {
    ...{ name: 'drain with a timeout of 100 ms', expected: equal, options: drainOptions() },
    act: drained,
  },
];

function drainOptions() {
  return { rate: 300, jetstreamArgs: ['--client-drain-timeout', '100ms'] };
}

async function drained(scene: Scene): Promise<void> {
  await seconds(4);
  signalInstruments(scene, 'SIGSTOP');
  await seconds(1);
  await scene.jetstream.signal('SIGTERM');
  signalInstruments(scene, 'SIGCONT');
  await scene.restartJetstream();
  await seconds(8);
}

const disks: readonly Case[] = [
  {
    ...{
      name: "Jetstream's disk full",
      expected: 'Jetstream ends; equal, or unobserved',
      options: { rate: 50, diskMb: 64 },
    },
    act: async (scene) => {
      await seconds(5);
      fillDisk(join(scene.home, 'jetstream'));
      await scene.jetstream.ended();
      freeDisk(join(scene.home, 'jetstream'));
      await seconds(1);
      await scene.restartJetstream().catch(async () => {
        // The present commit does not start on its directory again after a full disk.
        emptyDisk(join(scene.home, 'jetstream'));
        await scene.restartJetstream();
      });
      await seconds(10);
    },
  },
];

/** Cases in which Almanac or Jetstream ends, is suspended or has another history. */
export const programCases: readonly Case[] = [
  ...[...rates, ...starts, ...instruments, ...ends],
  ...[...historyCases, ...disks],
];
