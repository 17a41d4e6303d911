import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../process/until.ts';
import {
  type Case,
  dataOf,
  diskOf,
  inOrder,
  repeated,
  replaced,
  restarted,
  scripted,
  signalled,
  started,
  stopped,
  suspended,
} from './case.ts';
import { metricOf } from './peers.ts';
import type { Scene } from './scene.ts';

const equal = 'equal';
const gap = 'equal, or unobserved';
const usual = { rate: 50 };

/** Cases at a rate of events per second. */
const rates: readonly Case[] = [10, 100, 300, 2_000, 100_000].map((rate) =>
  scripted(rate === 100_000 ? 'live, as fast as the network can' : `live, ${rate}/s`, equal, { rate }, 12),
);

const starts: readonly Case[] = [
  scripted('first start after the download of 100 accounts', 'reads the download', firstStart(100), 8),
  scripted('first start during the download of 1000 accounts', equal, firstStart(1_000), 8),
  scripted('first start without a backfill', equal, { rate: 50, accounts: 1_000 }, 10),
  scripted('Jetstream with its discovery after the merge', equal, { rate: 50, discovery: true }, 10),
];

function firstStart(accounts: number) {
  return { rate: 20, accounts, firstArgs: [], startsLate: accounts < 1_000 };
}

const fast = { rate: 2_000 };
const slowWindow = {
  ...{ rate: 2_000, jetstreamArgs: ['--subscribe-slow-window', '2s', '--subscribe-slow-min-rate', '100000'] },
};

const instruments: readonly Case[] = [
  scripted('Almanac restarted', equal, usual, 5, restarted('stop', 3), 6),
  scripted('Almanac killed', equal, usual, 5, restarted('kill', 3), 6),
  scripted('Almanac killed four times at 300/s', equal, { rate: 300 }, repeated(4, 3, restarted('kill', 1)), 6),
  scripted('Almanac suspended', equal, usual, 4, suspended(8), 4),
  scripted('Almanac suspended at 2000/s', 'closed after 5 s without reading; equal', fast, 4, suspended(20), 6),
  scripted('slow window of 2 s, Almanac suspended', 'ConsumerTooSlow; equal', slowWindow, 4, suspended(20), 6),
  scripted(
    'Almanac stopped while Jetstream is killed',
    gap,
    usual,
    ...[5, stopped('stop'), replaced('SIGKILL'), 3, started, 8],
  ),
  scripted('Almanac and Jetstream killed together', gap, usual, 5, killedTogether, 10),
];

async function killedTogether(scene: Scene): Promise<void> {
  await Promise.all([stopped('kill')(scene), scene.jetstream.signal('SIGKILL')]);
  started(scene);
  await scene.restartJetstream();
}

/** Suspends the instruments while Jetstream ends, so that it has to drain their connections. */
const drained = inOrder(
  4,
  signalled('SIGSTOP'),
  1,
  ({ jetstream }) => jetstream.signal('SIGTERM'),
  signalled('SIGCONT'),
  (scene) => scene.restartJetstream(),
  8,
);

const ends: readonly Case[] = [
  scripted('Jetstream restarted', equal, usual, 5, replaced('SIGTERM'), 8),
  scripted('Jetstream restarted five times', equal, { rate: 100 }, repeated(5, 2, replaced('SIGTERM')), 8),
  scripted('Jetstream killed', gap, usual, 5, replaced('SIGKILL'), 12),
  scripted('Jetstream killed twice at 300/s', gap, { rate: 300 }, repeated(2, 5, replaced('SIGKILL')), 8),
  scripted(
    'Jetstream suspended',
    equal,
    usual,
    4,
    ({ jetstream }) => jetstream.signal('SIGSTOP'),
    8,
    ({ jetstream }) => jetstream.signal('SIGCONT'),
    6,
  ),
  scripted('drain of a suspended reader at shutdown', equal, usual, drained),
  scripted(
    'drain with a timeout of 100 ms',
    equal,
    { rate: 300, jetstreamArgs: ['--client-drain-timeout', '100ms'] },
    drained,
  ),
];

function removed(scene: Scene): void {
  rmSync(dataOf(scene), { recursive: true });
}

/** Copies Jetstream's directory, and brings the copy back after `between`. */
function rolledBack(between: (scene: Scene) => Promise<void>): (scene: Scene) => Promise<void> {
  const copyOf = ({ home }: Scene): string => join(home, 'copy');
  return inOrder(
    replaced('SIGTERM', (scene) => cpSync(dataOf(scene), copyOf(scene), { recursive: true })),
    between,
    replaced('SIGTERM', (scene) => {
      removed(scene);
      cpSync(copyOf(scene), dataOf(scene), { recursive: true });
    }),
  );
}

function lookback(duration: string, ...more: readonly string[]) {
  return { rate: 50, startsLate: true, jetstreamArgs: ['--cursor-lookback', duration, ...more] };
}

const longer = { rate: 50, accounts: 400 };
const shorter = { rate: 50, accounts: 10 };

const histories: readonly Case[] = [
  scripted("Jetstream's directory lost", gap, usual, 6, replaced('SIGTERM', removed), 10),
  scripted('Jetstream rolled back to an older copy', gap, usual, 3, rolledBack(inOrder(8)), 8),
  scripted(
    'Jetstream rolled back while Almanac is stopped: a cursor in its future',
    gap,
    usual,
    ...[3, rolledBack(inOrder(8, stopped('stop'))), started, 8],
  ),
  scripted(
    'a cursor of another instance, which is longer',
    gap,
    longer,
    ...[3, stopped('stop'), replaced('SIGTERM', removed), 12, started, 8],
  ),
  scripted(
    'a cursor of another instance, which is shorter',
    gap,
    shorter,
    ...[15, stopped('stop'), replaced('SIGTERM', removed), started, 8],
  ),
  scripted(
    'a cursor from before the lookback, not sealed',
    'CursorTooOld, a gap',
    lookback('4s'),
    ...[4, stopped('stop'), repeated(3, replaced('SIGTERM'), 4), started, 8],
  ),
  scripted(
    'a cursor from before the lookback, in sealed segments',
    'CursorTooOld, or another start without a notice; a gap',
    lookback('4s', '--compaction-interval', '1s'),
    ...[4, stopped('stop'), 14, started, 8],
  ),
  scripted('no lookback, Almanac restarted', gap, lookback('0'), 5, restarted('stop', 3), 8),
];

function compaction(...jetstreamArgs: readonly string[]) {
  return { rate: 100, jetstreamArgs };
}

const gone = 'some creates are gone, without a sign';

const compactions: readonly Case[] = [
  scripted(
    'replay across a compaction',
    gone,
    compaction('--compaction-interval', '2s'),
    ...[4, restarted('kill', 6), 6],
  ),
  scripted(
    'replay across an early compaction after 10 deletions',
    gone,
    compaction('--compaction-tombstone-cap', '10'),
    ...[4, restarted('stop', 6), 6],
  ),
  scripted(
    'replay of compacted segments after a restart of Jetstream',
    'some creates are gone; minutes marked as compacted, legacy not',
    compaction('--compaction-interval', '2s'),
    ...[4, stopped('stop'), 8, replaced('SIGTERM'), started, 8],
  ),
  scripted(
    'Jetstream killed between compactions',
    gap,
    compaction('--compaction-interval', '1s'),
    ...[6, replaced('SIGKILL'), 10],
  ),
];

/** Number of connections that Jetstream drops before a case continues. */
const dropped = 8;

/** Resolves once Jetstream has ended the connections of some readers because they are slow. */
async function dropsReaders({ place }: Scene): Promise<void> {
  await until('Jetstream drops slow readers', async () => {
    return ((await metricOf(place, 'jetstream_subscribe_adversarial_drops_total')) ?? 0) >= dropped;
  });
}

const slowReaders: readonly Case[] = [
  scripted(
    '120,000 records behind, slow window of 0.1 s, and a restart of Jetstream',
    'ConsumerTooSlow, and a close by the server; equal',
    {
      ...{ rate: 20, accounts: 300, records: 400, startsLate: true, firstArgs: [] },
      // Ends every connection that is more than 100,000 events behind for the duration of the window.
      jetstreamArgs: ['--subscribe-slow-window', '100ms', '--subscribe-slow-min-rate', '1000000000'],
    },
    ...[dropsReaders, replaced('SIGTERM'), dropsReaders, 6],
  ),
];

const disks: readonly Case[] = [
  scripted(
    "Jetstream's disk full",
    'Jetstream ends; equal, or unobserved',
    { rate: 50, diskMb: 64 },
    5,
    (scene) => diskOf(scene).leave(0),
    ({ jetstream }) => jetstream.ended(),
    (scene) => diskOf(scene).free(),
    1,
    (scene) =>
      scene.restartJetstream().catch(async () => {
        // The present commit does not start on its directory again after a full disk.
        diskOf(scene).empty();
        await scene.restartJetstream();
      }),
    10,
  ),
];

/** Cases in which Almanac or Jetstream ends, is suspended or has another history. */
export const programCases: readonly Case[] = [
  ...[...rates, ...starts, ...instruments, ...ends],
  ...[...histories, ...compactions, ...slowReaders, ...disks],
];
