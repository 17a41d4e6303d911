import { once } from 'node:events';
import {
  connect,
  getDefaultAutoSelectFamilyAttemptTimeout,
  type Socket,
  setDefaultAutoSelectFamilyAttemptTimeout,
} from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { runProgram } from '../../harness/process/program-in-test.ts';
import type { Resolve } from '../../src/network/guard/address-policy.ts';
import { createHttpClient } from '../../src/network/http/http.ts';
import { openSocket } from '../../src/network/websocket/websocket.ts';
import { waitForDistantHosts } from '../../src/ops/process.ts';

const policy = { allowLoopback: true };
const signal = new AbortController().signal;

/** A server on 127.0.0.1 that answers every request with status 404, and accepts connections only while `gate` is 1. */
const server = `
  const { createServer } = require('node:net');
  const { parentPort, workerData: gate } = require('node:worker_threads');
  const answer = 'HTTP/1.1 404 Not Found\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\n{}';
  const server = createServer((socket) => socket.on('error', () => undefined).on('data', () => socket.end(answer)));
  server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    Atomics.wait(gate, 0, 0);
  });
`;

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/**
 * Starts a server at the first address of a host whose second address is closed. The system drops the first packet of
 * the next connection, because the queue of the server is full, and repeats this packet after a second.
 */
async function distantHost(): Promise<{ port: number; resolve: Resolve }> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(server, { eval: true, workerData: gate });
  const open = (): void => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  onTestFinished(async () => {
    open();
    await worker.terminate();
  });
  const [port] = (await once(worker, 'message')) as [number];
  // The queue holds one connection more than its length.
  for (let queued = 0; queued < 2; queued += 1) await connected(port);
  const resolve: Resolve = (_hostname, _options, done) => {
    done(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
    // Node has sent the first packet, so the server may accept connections again.
    open();
  };
  return { port, resolve };
}

/** Makes connections wait for longer than a busy machine needs to repeat a packet. */
function waitForDistantHostsInTest(): void {
  const before = getDefaultAutoSelectFamilyAttemptTimeout();
  onTestFinished(() => setDefaultAutoSelectFamilyAttemptTimeout(before));
  waitForDistantHosts(60_000);
}

it('an HTTP request reaches a host whose only reachable address takes a second to connect', async () => {
  waitForDistantHostsInTest();
  const { port, resolve } = await distantHost();
  const client = createHttpClient({ policy, userAgent: 'Almanac/test', resolve });
  onTestFinished(() => client.close());
  const answer = await client.getJson(`http://distant.example:${port}/`, { maxBytes: 100, timeoutMs: 60_000, signal });
  expect(answer).toMatchObject({ kind: 'status', status: 404 });
});

it('a websocket reaches a host whose only reachable address takes a second to connect', async () => {
  waitForDistantHostsInTest();
  const { port, resolve } = await distantHost();
  const opening = openSocket(
    {
      ...{ url: `ws://distant.example:${port}/`, policy, resolve, userAgent: 'Almanac/test' },
      ...{ handshakeMs: 60_000, closeMs: 100, pingMs: 60_000, pongMs: 60_000, idleMs: 60_000 },
      ...{ maxFrameBytes: 1_000, onFrame: () => undefined },
    },
    signal,
  );
  await expect(opening).rejects.toMatchObject({ kind: 'handshake_status', status: 404 });
});

it('every connection of the program waits two seconds for each address of a host', async () => {
  const report =
    "import { getDefaultAutoSelectFamilyAttemptTimeout as wait } from 'node:net'; process.on('exit', () => console.error(wait()))";
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(report)}` };
  const { code, stderr } = await runProgram(['help'], { env });
  expect([code, stderr.at(-1)]).toEqual([0, '2000']);
});
