import { alteredRelay, type Case, replaceJetstream, restartInstruments, seconds } from './case.ts';
import type { Scene } from './scene.ts';

const equal = 'equal';
const altered = { rate: 50, altered: true } as const;
/** Options of cases in which Jetstream is known to send fewer events than its relay. */
const incomplete = { ...altered, leavesOut: true } as const;

/** Number of accounts that a case changes. */
const some = 10;

/** Gives some accounts a status, and makes them active again after some seconds. */
async function inactive(scene: Scene, status: string, withhold: boolean): Promise<void> {
  const relay = alteredRelay(scene);
  await seconds(3);
  const accounts = await relay.accounts(some);
  for (const did of accounts) {
    if (withhold) relay.withheld.add(did);
    relay.account(did, status);
  }
  await seconds(5);
  for (const did of accounts) {
    relay.account(did, null);
    relay.withheld.delete(did);
  }
  await seconds(6);
}

const accounts: readonly Case[] = [
  ...['takendown', 'deactivated', 'suspended', 'desynchronized', 'something new'].map((status) => ({
    ...{ name: `accounts ${status}, with commits`, expected: equal, options: altered },
    act: (scene: Scene) => inactive(scene, status, false),
  })),
  {
    ...{ name: 'accounts deleted, with commits, and active again', expected: equal, options: altered },
    act: (scene) => inactive(scene, 'deleted', false),
  },
  {
    ...{
      name: 'accounts deactivated, whose commits the relay withholds',
      expected: 'Jetstream resynchronises',
      options: incomplete,
    },
    act: (scene) => inactive(scene, 'deactivated', true),
  },
  {
    ...{
      name: 'accounts deleted and compacted during a replay',
      expected: 'their creates are gone',
      options: deletion(),
    },
    act: async (scene) => {
      const relay = alteredRelay(scene);
      await seconds(4);
      for (const did of await relay.accounts(some)) {
        relay.withheld.add(did);
        relay.account(did, 'deleted');
      }
      await restartInstruments(scene, 'stop', 6);
      await seconds(6);
    },
  },
  {
    ...{ name: 'handles changed', expected: equal, options: altered },
    act: async (scene) => {
      const relay = alteredRelay(scene);
      await seconds(3);
      for (const [n, did] of (await relay.accounts(50)).entries()) relay.identity(did, `new-${n}.example.com`);
      await seconds(6);
    },
  },
  {
    ...{ name: 'handles that are not valid', expected: equal, options: altered },
    act: async (scene) => {
      const relay = alteredRelay(scene);
      await seconds(3);
      for (const did of await relay.accounts(20)) relay.identity(did, '\u0000 not a handle');
      await seconds(6);
    },
  },
];

function deletion() {
  return { ...incomplete, jetstreamArgs: ['--compaction-interval', '2s'] };
}

const syncs: readonly Case[] = [
  {
    ...{ name: 'repositories announced by `sync`, unchanged', expected: equal, options: incomplete },
    act: async (scene) => {
      const relay = alteredRelay(scene);
      await seconds(3);
      for (const did of await relay.accounts(20)) await relay.sync(did);
      await seconds(6);
    },
  },
  {
    ...{
      name: 'commits lost before Jetstream: repositories resynchronised',
      expected: 'rows of a `sync`, not counted',
      options: incomplete,
    },
    act: (scene) => broken(scene, () => seconds(8)),
  },
  {
    ...{
      name: 'repositories resynchronised, Almanac killed meanwhile',
      expected: 'rows of a `sync`, not counted',
      options: incomplete,
    },
    act: (scene) =>
      broken(scene, async () => {
        await restartInstruments(scene, 'kill', 1);
        await seconds(8);
      }),
  },
  {
    ...{ name: 'lost commits, then a `sync`', expected: 'rows of a `sync`, not counted', options: incomplete },
    act: (scene) =>
      broken(scene, async () => {
        const relay = alteredRelay(scene);
        for (const did of await relay.accounts(some)) await relay.sync(did);
        await seconds(8);
      }),
  },
];

/** Withholds the commits of the most active accounts for some seconds. */
async function broken(scene: Scene, then: () => Promise<void>): Promise<void> {
  const relay = alteredRelay(scene);
  await seconds(3);
  const accounts = await relay.accounts(some);
  for (const did of accounts) relay.withheld.add(did);
  await seconds(2);
  relay.withheld.clear();
  await then();
}

const relays: readonly Case[] = [
  {
    ...{ name: 'relay suspended', expected: equal, options: { rate: 50 } },
    act: async ({ network }) => {
      await seconds(4);
      await network.signal('SIGSTOP');
      await seconds(8);
      await network.signal('SIGCONT');
      await seconds(5);
    },
  },
  {
    // On a busy machine, Jetstream's requests to the directory time out, and it leaves out what it cannot verify.
    ...{ name: 'relay stops for 20 s, then sends everything at once', expected: equal, options: altered },
    act: async (scene) => {
      const relay = alteredRelay(scene);
      await seconds(4);
      relay.isStopped = true;
      await seconds(20);
      relay.isStopped = false;
      relay.pump();
      await seconds(5);
    },
  },
  {
    ...{ name: 'relay ends its connections', expected: equal, options: altered },
    act: async (scene) => {
      for (let round = 0; round < 3; round += 1) {
        await seconds(3);
        alteredRelay(scene).disconnect();
      }
      await seconds(8);
    },
  },
  {
    ...{ name: 'relay goes back 200 frames', expected: 'Jetstream sends some events twice', options: altered },
    act: async (scene) => {
      await seconds(6);
      alteredRelay(scene).repeat(200);
      await seconds(6);
    },
  },
  {
    ...{ name: 'relay skips 50 of its numbers', expected: 'Jetstream resynchronises', options: incomplete },
    act: async (scene) => {
      await seconds(4);
      alteredRelay(scene).skip(50);
      await seconds(8);
    },
  },
  {
    ...{ name: "relay's numbers jump ahead by a million", expected: equal, options: altered },
    act: async (scene) => {
      await seconds(4);
      alteredRelay(scene).renumber(1_000_000);
      await seconds(6);
    },
  },
  {
    ...{ name: 'relay numbers its frames again from a lower number', expected: equal, options: altered },
    act: async (scene) => {
      await seconds(6);
      alteredRelay(scene).renumber(-100);
      await seconds(6);
    },
  },
  {
    ...{ name: 'relay goes back and Jetstream is killed', expected: 'equal, or unobserved', options: altered },
    act: async (scene) => {
      await seconds(6);
      alteredRelay(scene).repeat(200);
      await replaceJetstream(scene, 'SIGKILL');
      await seconds(10);
    },
  },
  {
    ...{ name: 'relay sends bytes that are not frames, 1 in 10', expected: equal, options: altered },
    act: (scene) => garbage(scene, [Buffer.from('not a frame'), Buffer.of(), Buffer.of(0xa2, 0x61, 0x74)]),
  },
  {
    ...{ name: 'relay sends frames of an unknown kind, 1 in 10', expected: equal, options: altered },
    act: (scene) => garbage(scene, [Buffer.from('a261746823737472616e6765626f7001a0', 'hex')]),
  },
  {
    ...{ name: 'relay sends a frame of 8 MB', expected: equal, options: altered },
    act: async (scene) => {
      await seconds(4);
      alteredRelay(scene).garbage(Buffer.alloc(8_000_000));
      await seconds(8);
    },
  },
];

/** Sends bytes to Jetstream five times a second. */
async function garbage(scene: Scene, kinds: readonly Uint8Array[]): Promise<void> {
  const relay = alteredRelay(scene);
  await seconds(2);
  for (let n = 0; n < 30; n += 1) {
    relay.garbage(kinds[n % kinds.length] ?? Buffer.of());
    await seconds(0.2);
  }
  await seconds(4);
}

/** Adversarial traffic, of which Jetstream leaves out what it rejects. */
const adversaries: readonly Case[] = [1, 5, 50].map((adversity) => ({
  ...{ name: `adversarial traffic, ${adversity}/s`, expected: 'equal to Jetstream, which leaves out some' },
  ...{ options: { rate: 50, adversity, leavesOut: true }, act: () => seconds(15) },
}));

const attacked: readonly Case[] = [
  {
    ...{ name: 'adversarial traffic, Almanac killed', expected: 'equal to Jetstream, which leaves out some' },
    options: { rate: 50, adversity: 10, leavesOut: true },
    act: async (scene) => {
      await seconds(6);
      await restartInstruments(scene, 'kill', 3);
      await seconds(6);
    },
  },
  {
    ...{ name: 'adversarial traffic, Jetstream killed', expected: 'equal to Jetstream, or unobserved' },
    options: { rate: 50, adversity: 10, leavesOut: true },
    act: async (scene) => {
      await seconds(6);
      await replaceJetstream(scene, 'SIGKILL');
      await seconds(10);
    },
  },
];

/** Cases in which the relay, its accounts or its repositories change. */
export const relayCases: readonly Case[] = [...accounts, ...syncs, ...relays, ...adversaries, ...attacked];
