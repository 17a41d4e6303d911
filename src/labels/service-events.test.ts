import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { createNameResolver } from '../network/name-resolver.ts';
import { silentLog } from '../ops/log.ts';
import { micros } from '../store/time.ts';
import {
  definitionsOf,
  eventOf,
  followServices,
  type ServiceEvent,
  type ServiceEventsOptions,
} from './service-events.ts';
import { wait } from './wait.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const commit = {
  did,
  kind: 'commit',
  commit: {
    operation: 'create',
    collection: 'app.bsky.labeler.service',
    rkey: 'self',
    record: { policies: { labelValues: ['spam'], labelValueDefinitions: [{ identifier: 'spam' }], other: 1 } },
  },
};
const definitions = '{"labelValues":["spam"],"labelValueDefinitions":[{"identifier":"spam"}]}';
const changed = (over: object) => ({ ...commit, commit: { ...commit.commit, ...over } });

test.each([
  ['a new declaration', commit, { kind: 'service', did, definitions }],
  ['a changed one', changed({ operation: 'update' }), { kind: 'service', did, definitions }],
  ['one without policies', changed({ record: {} }), { kind: 'service', did, definitions: null }],
  [
    'one with endless policies',
    changed({ record: { policies: { labelValues: ['x'.repeat(300_000)] } } }),
    { kind: 'service', did, definitions: null },
  ],
  ['an identity', { did, kind: 'identity' }, { kind: 'identity', did }],
  ['one that was withdrawn', changed({ operation: 'delete' }), null],
  ['another collection', changed({ collection: 'app.bsky.feed.post' }), null],
  ['another record', changed({ rkey: 'other' }), null],
  ['an account', { did, kind: 'account' }, null],
  ['no DID', { ...commit, did: 'alice' }, null],
  ['no commit', { did, kind: 'commit' }, null],
])('%s', (_, event, expected) => {
  expect(eventOf(event)).toEqual(expected);
});

/** A value nested so many levels deep, as a JSON parser makes it. */
function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels));
}

test.each([5_000, 100_000])('definitions nested %i levels deep are not taken', (levels) => {
  expect(definitionsOf({ policies: { labelValues: nested(levels) } })).toBeNull();
  expect(definitionsOf({ policies: { labelValueDefinitions: nested(levels) } })).toBeNull();
});

let server: WebSocketServer | null = null;
let stop = new AbortController();
afterEach(async () => {
  stop.abort();
  if (server === null) return;
  for (const client of server.clients) client.terminate();
  await new Promise((resolve) => server?.close(resolve));
  server = null;
});

/** Follows a Jetstream that sends these frames. */
async function follow(frames: readonly string[], options: Partial<ServiceEventsOptions> = {}) {
  stop = new AbortController();
  const host = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server = host;
  await new Promise((resolve) => host.once('listening', resolve));
  host.on('connection', (socket) => {
    for (const frame of frames) socket.send(frame);
  });
  const events: ServiceEvent[] = [];
  const services = followServices({
    jetstream: `ws://127.0.0.1:${(host.address() as AddressInfo).port}`,
    resolve: createNameResolver({ hostsFile: null }).resolve,
    policy: { allowLoopback: true },
    userAgent: 'Almanac/test',
    random: () => 0,
    wait,
    log: silentLog,
    clock: () => micros(Date.UTC(2026, 6, 10) * 1000),
    heardTime: () => undefined,
    onEvent: (event) => void events.push(event),
    cursor: null,
    ...options,
  });
  void services.run(stop.signal);
  return { events, services };
}

const atUs = Date.UTC(2026, 6, 10) * 1000;
const good = (timeUs: number) => JSON.stringify({ ...commit, time_us: timeUs });
const deep = (levels: number) =>
  good(atUs).replace('"labelValues":["spam"]', `"labelValues":${'['.repeat(levels)}${']'.repeat(levels)}`);

test('frames that exceed the limits, and a consumer that fails on an event, leave the following ones as they are', async () => {
  let failing = true;
  const events: ServiceEvent[] = [];
  const onEvent = (event: ServiceEvent) => {
    events.push(event);
    if (failing) {
      failing = false;
      throw new RangeError('Maximum call stack size exceeded');
    }
  };
  const wide = good(atUs).replace('"spam"', `"spam",${'[],'.repeat(100_000)}1`);
  const { services } = await follow([deep(5_000), wide, good(atUs), good(atUs + 1)], { onEvent });
  await expect.poll(() => events.length).toBe(2);
  expect(services.cursor).toBe(atUs + 1);
});

test('a position in the far future is not resumed from, and does not move the cursor', async () => {
  const { events, services } = await follow([good(Number.MAX_SAFE_INTEGER), good(atUs)], {
    cursor: Number.MAX_SAFE_INTEGER - 1,
  });
  await expect.poll(() => events.length).toBe(2);
  expect(services.cursor).toBe(atUs);
});
