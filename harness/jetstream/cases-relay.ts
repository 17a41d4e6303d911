import type { AlteredRelay } from './altered-relay.ts';
import { alteredRelay, type Case, inOrder, repeated, replaced, restarted, scripted } from './case.ts';
import type { Scene } from './scene.ts';

const equal = 'equal';
const altered = { rate: 50, altered: true } as const;
/** Options of cases in which Jetstream is known to send fewer events than its relay. */
const incomplete = { ...altered, leavesOut: true } as const;

/** Number of accounts that a case changes. */
const some = 10;

/** Returns an action on the relay. */
function relayed(act: (relay: AlteredRelay) => unknown): (scene: Scene) => unknown {
  return (scene) => act(alteredRelay(scene));
}

/** Returns an action on the relay for each of its most active accounts. */
function forEach(count: number, act: (relay: AlteredRelay, did: string, at: number) => unknown) {
  return relayed(async (relay) => {
    for (const [at, did] of (await relay.accounts(count)).entries()) await act(relay, did, at);
  });
}

/** Gives some accounts a status, and makes them active again after some seconds. */
function inactive(status: string, withhold: boolean): (scene: Scene) => Promise<void> {
  const begin = forEach(some, (relay, did) => {
    if (withhold) relay.withheld.add(did);
    relay.account(did, status);
  });
  const end = forEach(some, (relay, did) => {
    relay.account(did, null);
    relay.withheld.delete(did);
  });
  return inOrder(3, begin, 5, end, 6);
}

const accounts: readonly Case[] = [
  ...['takendown', 'deactivated', 'suspended', 'desynchronized', 'something new'].map((status) =>
    scripted(`accounts ${status}, with commits`, equal, altered, inactive(status, false)),
  ),
  scripted('accounts deleted, with commits, and active again', equal, altered, inactive('deleted', false)),
  scripted(
    'accounts deactivated, whose commits the relay withholds',
    'Jetstream resynchronises',
    incomplete,
    inactive('deactivated', true),
  ),
  scripted(
    'accounts deleted and compacted during a replay',
    'their creates are gone',
    { ...incomplete, jetstreamArgs: ['--compaction-interval', '2s'] },
    4,
    forEach(some, (relay, did) => {
      relay.withheld.add(did);
      relay.account(did, 'deleted');
    }),
    restarted('stop', 6),
    6,
  ),
  scripted(
    'handles changed',
    equal,
    altered,
    3,
    forEach(50, (relay, did, n) => relay.identity(did, `new-${n}.example.com`)),
    6,
  ),
  scripted(
    'handles that are not valid',
    equal,
    altered,
    3,
    forEach(20, (relay, did) => relay.identity(did, '\u0000 not a handle')),
    6,
  ),
];

const resync = 'rows of a `sync`, not counted';

/** Withholds the commits of the most active accounts for some seconds. */
const broken = inOrder(
  3,
  forEach(some, (relay, did) => relay.withheld.add(did)),
  2,
  relayed(({ withheld }) => withheld.clear()),
);

function syncs(count: number): (scene: Scene) => unknown {
  return forEach(count, (relay, did) => relay.sync(did));
}

const resyncs: readonly Case[] = [
  scripted('repositories announced by `sync`, unchanged', equal, incomplete, 3, syncs(20), 6),
  scripted('commits lost before Jetstream: repositories resynchronised', resync, incomplete, broken, 8),
  scripted(
    'repositories resynchronised, Almanac killed meanwhile',
    resync,
    incomplete,
    ...[broken, restarted('kill', 1), 8],
  ),
  scripted('lost commits, then a `sync`', resync, incomplete, broken, syncs(some), 8),
];

const relays: readonly Case[] = [
  scripted(
    'relay suspended',
    equal,
    { rate: 50 },
    4,
    ({ network }) => network.signal('SIGSTOP'),
    8,
    ({ network }) => network.signal('SIGCONT'),
    5,
  ),
  // On a busy machine, Jetstream's requests to the directory time out, and it leaves out what it cannot verify.
  scripted(
    'relay stops for 20 s, then sends everything at once',
    equal,
    altered,
    4,
    relayed((relay) => {
      relay.isStopped = true;
    }),
    20,
    relayed((relay) => {
      relay.isStopped = false;
      relay.pump();
    }),
    5,
  ),
  scripted(
    'relay ends its connections',
    equal,
    altered,
    repeated(
      3,
      3,
      relayed((relay) => relay.disconnect()),
    ),
    8,
  ),
  scripted('relay goes back 200 frames', 'Jetstream sends some events twice', altered, 6, goesBack, 6),
  scripted('relay skips 50 of its numbers', 'Jetstream resynchronises', incomplete, 4, skips, 8),
  scripted("relay's numbers jump ahead by a million", equal, altered, 4, renumbered(1_000_000), 6),
  scripted('relay numbers its frames again from a lower number', equal, altered, 6, renumbered(-100), 6),
  scripted(
    'relay goes back and Jetstream is killed',
    'equal, or unobserved',
    altered,
    ...[6, goesBack, replaced('SIGKILL'), 10],
  ),
  scripted(
    'relay sends bytes that are not frames, 1 in 10',
    equal,
    altered,
    garbage([Buffer.from('not a frame'), Buffer.of(), Buffer.of(0xa2, 0x61, 0x74)]),
  ),
  scripted(
    'relay sends frames of an unknown kind, 1 in 10',
    equal,
    altered,
    garbage([Buffer.from('a261746823737472616e6765626f7001a0', 'hex')]),
  ),
  scripted(
    'relay sends a frame of 8 MB',
    equal,
    altered,
    4,
    relayed((relay) => relay.garbage(Buffer.alloc(8_000_000))),
    8,
  ),
];

function goesBack(scene: Scene): void {
  alteredRelay(scene).repeat(200);
}

function skips(scene: Scene): void {
  alteredRelay(scene).skip(50);
}

function renumbered(step: number): (scene: Scene) => unknown {
  return relayed((relay) => relay.renumber(step));
}

/** Sends bytes to Jetstream five times a second. */
function garbage(kinds: readonly Uint8Array[]): (scene: Scene) => Promise<void> {
  const sent = Array.from({ length: 30 }, (_, n) => [
    relayed((relay) => relay.garbage(kinds[n % kinds.length] ?? Buffer.of())),
    0.2,
  ]);
  return inOrder(2, ...sent.flat(), 4);
}

const leftOut = 'equal to Jetstream, which leaves out some';
const attack = { rate: 50, adversity: 10, leavesOut: true };

/** Adversarial traffic, of which Jetstream leaves out what it rejects. */
const adversaries: readonly Case[] = [
  ...[1, 5, 50].map((adversity) =>
    scripted(`adversarial traffic, ${adversity}/s`, leftOut, { rate: 50, adversity, leavesOut: true }, 15),
  ),
  scripted('adversarial traffic, Almanac killed', leftOut, attack, 6, restarted('kill', 3), 6),
  scripted(
    'adversarial traffic, Jetstream killed',
    'equal to Jetstream, or unobserved',
    attack,
    ...[6, replaced('SIGKILL'), 10],
  ),
];

/** Cases in which the relay, its accounts or its repositories change. */
export const relayCases: readonly Case[] = [...accounts, ...resyncs, ...relays, ...adversaries];
