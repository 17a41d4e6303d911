import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { HostileIdentity } from './attack.ts';
import { kinds } from './kinds/index.ts';
import { HostileNetwork, type HostileOptions } from './network.ts';

let network: HostileNetwork | null = null;
afterEach(async () => {
  await network?.stop();
  network = null;
});

async function started(over: Partial<HostileOptions> = {}) {
  network = new HostileNetwork({
    seed: 1,
    count: kinds.length,
    kinds,
    port: 21_080,
    names: false,
    lateShare: 0,
    floodBytesPerSecond: 1_000_000,
    bystanders: [],
    now: () => Date.UTC(2026, 0, 1),
    multikey: 'z',
    ...over,
  });
  const addresses = await network.start();
  const of = (kind: string): HostileIdentity => {
    const found = addresses.labelers.find((one) => one.kind === kind);
    if (found === undefined) throw new Error(`no ${kind}`);
    return found;
  };
  return { network, ...addresses, of };
}

function page({ endpoints }: HostileIdentity): Promise<Response> {
  return fetch(`${endpoints[0]}/xrpc/com.atproto.label.queryLabels?uriPatterns=*`);
}

function stream({ endpoints }: HostileIdentity): WebSocket {
  const url = `${endpoints[0]}/xrpc/com.atproto.label.subscribeLabels`.replace('http:', 'ws:');
  return new WebSocket(url, { perMessageDeflate: false });
}

function messages(socket: WebSocket, count: number): Promise<Buffer[]> {
  const taken: Buffer[] = [];
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.on('message', (data: Buffer) => {
      if (taken.push(data) === count) resolve(taken);
    });
  });
}

test('there are at least 20 kinds of hostile labelers, with distinct names', () => {
  expect(new Set(kinds.map(({ name }) => name)).size).toBe(kinds.length);
  expect(kinds.length).toBeGreaterThanOrEqual(20);
});

test('a hostile labeler behaves normally until attack() is called, and a late hostile labeler until turn() is called', async () => {
  const { network, labelers } = await started({
    count: 2,
    kinds: kinds.filter(({ name }) => name === 'roulette'),
    lateShare: 0.5,
  });
  const [early, late] = labelers.toSorted((one, other) => Number(one.late) - Number(other.late));
  if (!early || !late) throw new Error('the network must have two labelers');
  expect([early.late, late.late]).toEqual([false, true]);
  const sound = async (one: HostileIdentity): Promise<number> =>
    ((await (await page(one)).json()) as { labels: [] }).labels.length;
  expect([await sound(early), await sound(late)]).toEqual([3, 3]);
  network.attack();
  expect(await sound(late)).toBe(3);
  expect(network.met.get('roulette')?.pages).toBe(0);
  await (await page(early)).text();
  expect(network.met.get('roulette')?.pages).toBe(1);
  network.turn();
  await (await page(late)).text();
  expect(network.met.get('roulette')?.pages).toBe(2);
});

test('a hostile gzip page has a size of 5 to 20 kB before decompression', async () => {
  const { network, of } = await started({ kinds: kinds.filter(({ name }) => name === 'gzip-pages'), count: 1 });
  network.attack();
  const { host } = new URL(of('gzip-pages').endpoints[0] ?? '');
  const [address = '', port = ''] = host.split(':');
  const socket = connect(Number(port), address);
  socket.end(`GET /xrpc/com.atproto.label.queryLabels HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  await once(socket, 'close');
  expect(bytes).toBeGreaterThan(5_000);
  expect(bytes).toBeLessThan(20_000);
});

test('each kind of flood sends at least two messages, and a flood that does not repeat its frames sends different messages', async () => {
  const { network, of } = await started();
  network.attack();
  const names = ['fat-labels', 'small-labels', 'bad-signatures', 'empty-frames', 'outdated-flood', 'malformed-flood'];
  const repeating = ['outdated-flood', 'malformed-flood'];
  for (const name of names) {
    const socket = stream(of(name));
    const [first, second] = await messages(socket, 2);
    if (!repeating.includes(name)) expect(first?.equals(second ?? Buffer.alloc(0)), name).toBe(false);
    socket.terminate();
  }
});

test('after the end of the attack, hostile labelers no longer listen, but the Jetstream continues', async () => {
  const { network, of, jetstream } = await started();
  network.attack();
  const consumer = new WebSocket(jetstream);
  await once(consumer, 'open');
  await network.end();
  await expect(page(of('silent'))).rejects.toThrow();
  const [frame] = (await once(consumer, 'message')) as [Buffer];
  expect(JSON.parse(frame.toString())).toHaveProperty('time_us');
  consumer.terminate();
});
