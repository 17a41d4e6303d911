import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { createNameResolver } from '../../network/dns/name-resolver.ts';
import { silentLog } from '../../ops/log.ts';
import { micros } from '../../store/time.ts';
import { labelerEvents } from './labeler-events.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const nowUs = Date.UTC(2026, 6, 10) * 1000;
const declaration = {
  kind: 'commit',
  commit: { operation: 'create', collection: 'app.bsky.labeler.service', rkey: 'self', record: {} },
};

let server: WebSocketServer | null = null;
const stop = new AbortController();
afterEach(async () => {
  stop.abort();
  for (const client of server?.clients ?? []) client.terminate();
  await new Promise((resolve) => server?.close(resolve));
});

test('each event of a DID lets the roster read its document again, and a declaration adds it to the roster', async () => {
  const host = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server = host;
  await once(host, 'listening');
  host.on('connection', (socket) => {
    for (const event of [{ kind: 'identity' }, { kind: 'account' }, declaration, { kind: 'identity' }]) {
      socket.send(JSON.stringify({ ...event, did, time_us: nowUs }));
    }
  });
  const calls: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const note = (call: string): void => {
    calls.push(call);
    if (calls.length === 5) resolve();
  };
  const events = await labelerEvents(
    {
      settings: { jetstream: `ws://127.0.0.1:${(host.address() as AddressInfo).port}`, userAgent: 'Almanac/test' },
      store: { note: async () => null },
      policy: { allowLoopback: true },
      resolve: createNameResolver({ hostsFile: null }).resolve,
      random: () => 0,
      clocks: { wall: () => micros(nowUs), monotonic: () => 0 },
      log: silentLog,
    },
    { add: () => note('add'), documentChanged: () => note('documentChanged') },
    { written: async () => undefined },
    { onUpstreamTime: () => undefined },
  );
  void events?.run(stop.signal);
  await promise;
  expect(calls).toEqual(['documentChanged', 'documentChanged', 'add', 'documentChanged', 'documentChanged']);
});
