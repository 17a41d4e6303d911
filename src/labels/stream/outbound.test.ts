import { createServer as createHttpsServer } from 'node:https';
import { createServer } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { certificate, listenForTest, trustCertificate } from '../../../harness/net/listen.ts';
import { createNameResolver } from '../../network/dns/name-resolver.ts';
import type { Resolve } from '../../network/guard/address-policy.ts';
import { createSlots } from '../../network/guard/slots.ts';
import { ConnectError } from '../../network/websocket/websocket.ts';
import { createStreamOpener } from './outbound.ts';

const server = createServer((socket) => socket.on('error', () => undefined));
const stop = new AbortController();

afterEach(() => {
  stop.abort();
  server.close();
});

test('the number of concurrent handshakes is limited, and new sources leave reserved slots to privileged sources', async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  const openStream = createStreamOpener({
    policy: { allowLoopback: true },
    userAgent: 'Almanac/test',
    resolve: createNameResolver({ hostsFile: null }).resolve,
    handshakes: createSlots({ total: 4, perHost: 4, reserved: 2, maxWaiting: 100 }),
    timings: { requestMs: 300 },
  });
  const open = async (name: string, privileged: boolean): Promise<string> => {
    const source = { endpoint: `http://${name}.localhost:${port}`, peer: { source: name, privileged } };
    const error: unknown = await openStream(source, null, { onFrame: () => undefined }, stop.signal).catch(
      (reason: unknown) => reason,
    );
    return error instanceof ConnectError ? error.kind : 'opened';
  };
  const strangers = Array.from({ length: 6 }, (_, i) => open(`l${i}.hostile${i}`, false));
  await expect.poll(() => connections).toBe(2);
  const seed = open('seed', true);
  await expect.poll(() => connections).toBe(3);
  const outcomes = [...(await Promise.all(strangers)), await seed].sort();
  expect([...new Set(outcomes)]).toEqual(['busy', 'timeout']);
});

test('the slot of a handshake is released after an abort, a failed DNS look-up and a refused address', async () => {
  const handshakes = createSlots({ total: 1, perHost: 1, maxWaiting: 0 });
  const source = { endpoint: 'https://labeler.example', peer: { source: 'a', privileged: false } };
  const open = (resolve: Resolve, signal = new AbortController().signal): Promise<unknown> =>
    createStreamOpener({
      ...{ policy: { allowLoopback: false }, userAgent: 'Almanac/test', timings: { requestMs: 20 } },
      ...{ resolve, handshakes },
    })(source, null, { onFrame: () => undefined }, signal).catch((error: unknown) =>
      error instanceof ConnectError ? error.kind : error,
    );
  const hang: Resolve = () => undefined;
  const over = new AbortController();
  const aborted = open(hang, over.signal);
  over.abort();
  const outcomes = [
    await aborted,
    await open((_name, _options, done) => done(new Error('no such name'), [])),
    await open((_name, _options, done) => done(null, [{ address: '10.0.0.1', family: 4 }])),
    await open(hang),
  ];
  expect(outcomes).toEqual(['aborted', 'dns', 'refused_address', 'timeout']);
});

test('all streams of an opener share the TLS context that it created', async () => {
  const server = createHttpsServer(certificate());
  const { port } = await listenForTest(server);
  const peers = new WebSocketServer({ server });
  onTestFinished(() => {
    for (const peer of peers.clients) peer.terminate();
  });
  const before = getCACertificates('default');
  trustCertificate();
  const openStream = createStreamOpener({
    ...{ policy: { allowLoopback: true }, userAgent: 'Almanac/test', timings: { requestMs: 120_000 } },
    ...{
      resolve: createNameResolver({ hostsFile: null }).resolve,
      handshakes: createSlots({ total: 2, perHost: 2, maxWaiting: 0 }),
    },
  });
  // A context that is created from now on does not trust the server.
  setDefaultCACertificates(before);
  const source = { endpoint: `https://localhost:${port}`, peer: { source: 'a', privileged: false } };
  const open = () => openStream(source, null, { onFrame: () => undefined }, new AbortController().signal);
  const sockets = [await open(), await open()];
  expect(peers.clients.size).toBe(2);
  for (const socket of sockets) socket.close();
  expect(await Promise.all(sockets.map(({ closed }) => closed))).toEqual([
    { reason: 'local_close' },
    { reason: 'local_close' },
  ]);
});
