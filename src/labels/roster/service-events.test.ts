import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { createNameResolver } from '../../network/dns/name-resolver.ts';
import { silentLog } from '../../ops/log.ts';
import { micros } from '../../store/time.ts';
import { wait } from '../clock/clock.ts';
import { definitionsOf, eventOf, parseServiceFrame, type ServiceEvent, ServiceEvents } from './service-events.ts';

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
  ['a changed declaration', changed({ operation: 'update' }), { kind: 'service', did, definitions }],
  ['a declaration without policies', changed({ record: {} }), { kind: 'service', did, definitions: null }],
  [
    'a declaration with a label value that is too long',
    changed({ record: { policies: { labelValues: ['x'.repeat(300_000)] } } }),
    { kind: 'service', did, definitions: null },
  ],
  ['an identity event', { did, kind: 'identity' }, { kind: 'identity', did }],
  ['a withdrawn declaration', changed({ operation: 'delete' }), null],
  ['a commit to a different collection', changed({ collection: 'app.bsky.feed.post' }), null],
  ['a commit of a different record', changed({ rkey: 'other' }), null],
  [
    'an account event',
    { did, kind: 'account', account: { active: true, status: 'throttled' } },
    { kind: 'account', did },
  ],
  ['an event without a DID', { ...commit, did: 'alice' }, null],
  ['an event without a commit', { did, kind: 'commit' }, null],
])('eventOf parses a legacy event, or returns null if the event is irrelevant (%s)', (_, event, expected) => {
  expect(eventOf(event)).toEqual(expected);
});

test('eventOf returns a did:web in its normal form, so that other spellings do not add labelers', () => {
  const event = { did: 'did:web:Mod.Example.com', kind: 'identity' };
  expect(eventOf(event)).toEqual({ kind: 'identity', did: 'did:web:mod.example.com' });
});

const method = 'network.bsky.jetstream.subscribeEvents';
const time = '2026-08-13T06:47:43.959305Z';
const timeUs = Date.UTC(2026, 7, 13, 6, 47, 43) * 1000 + 959_305;
const { operation, collection, rkey, record } = commit.commit;
const payload = (kind: string, over: object = {}) => ({ $type: `${method}#${kind}`, did, seq: 7, time, ...over });

test.each([
  [
    'a declaration',
    payload('commit', { operation, collection, rkey, record, rev: '3msx' }),
    { kind: 'service', did, definitions },
  ],
  ['a withdrawn declaration', payload('commit', { operation: 'delete', collection, rkey, rev: '3msx' }), null],
  ['an identity event', payload('identity', { identity: { did } }), { kind: 'identity', did }],
  ['an account event', payload('account', { account: { did, active: false } }), { kind: 'account', did }],
  [
    'an event with an imported time',
    payload('identity', { time: '2020-01-01T00:00:00.000000Z', witnessedAt: time }),
    { kind: 'identity', did },
  ],
  ['a sync event', payload('sync', { sync: { did } }), null],
])('a message of the current method is parsed like a message of the legacy format (%s)', (_, message, event) => {
  const frame = Buffer.from(JSON.stringify({ $type: 'message', payload: message }));
  const stamp = 'witnessedAt' in message ? timeUs : null;
  expect(parseServiceFrame(frame)).toEqual({ time: timeUs, stamp, event });
});

test.each([
  ['an info message', { $type: 'message', payload: { $type: `${method}#info`, name: 'OutdatedCursor', message: 'x' } }],
  ['an error', { $type: 'error', error: 'ConsumerTooSlow', message: 'x' }],
  ['a message without a payload', { $type: 'message', payload: [] }],
  ['a message without a type', { $type: 'message', payload: { did, time } }],
  ['a message without a time', { $type: 'message', payload: payload('identity', { time: '' }) }],
])('a message of the current method that is not an event is ignored (%s)', (_, frame) => {
  expect(parseServiceFrame(Buffer.from(JSON.stringify(frame)))).toBe(null);
});

/** Returns a value with the given levels of nesting, as a JSON parser creates it. */
function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels));
}

test.each([5_000, 100_000])('definitions that are nested %i levels deep are not accepted', (levels) => {
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

/** Follows a Jetstream that sends these frames. Returns the received events, and the targets of the requests. */
async function follow(
  frames: readonly string[],
  options: Partial<ConstructorParameters<typeof ServiceEvents>[0]> = {},
  path = '',
) {
  stop = new AbortController();
  const host = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server = host;
  await new Promise((resolve) => host.once('listening', resolve));
  const requested: string[] = [];
  host.on('connection', (socket, request) => {
    requested.push(request.url ?? '');
    for (const frame of frames) socket.send(frame);
  });
  const events: ServiceEvent[] = [];
  const services = new ServiceEvents({
    jetstream: `ws://127.0.0.1:${(host.address() as AddressInfo).port}${path}`,
    resolve: createNameResolver({ hostsFile: null }).resolve,
    policy: { allowLoopback: true },
    userAgent: 'Almanac/test',
    random: () => 0,
    wait,
    log: silentLog,
    clock: () => micros(Date.UTC(2026, 6, 10) * 1000),
    monotonic: () => 0,
    onUpstreamTime: () => undefined,
    onEvent: (event) => void events.push(event),
    cursor: null,
    ...options,
  });
  void services.run(stop.signal);
  return { events, services, requested };
}

const atUs = Date.UTC(2026, 6, 10) * 1000;
const good = (timeUs: number) => JSON.stringify({ ...commit, time_us: timeUs });
const deep = (levels: number) =>
  good(atUs).replace('"labelValues":["spam"]', `"labelValues":${'['.repeat(levels)}${']'.repeat(levels)}`);

test('frames that exceed the limits, and events on which the consumer fails, do not affect the following frames', async () => {
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

test('a cursor in the far future is not used to resume, and an event in the far future does not move the cursor', async () => {
  const { events, services } = await follow([good(Number.MAX_SAFE_INTEGER), good(atUs)], {
    cursor: Number.MAX_SAFE_INTEGER - 1,
  });
  await expect.poll(() => events.length).toBe(2);
  expect(services.cursor).toBe(atUs);
});

test.each([
  ['a new connection confirm', null, 0, [atUs, atUs + 1]],
  ['a replay do not confirm', atUs, 0, []],
])('the stamps of %s the clock', async (_, cursor, monotonicUs, confirmed) => {
  const times: number[] = [];
  const { events } = await follow([good(atUs), good(atUs + 1)], {
    cursor,
    monotonic: () => monotonicUs,
    onUpstreamTime: (milliseconds) => void times.push(milliseconds * 1000),
  });
  await expect.poll(() => events.length).toBe(2);
  expect(times).toEqual(confirmed);
});

test('the clock is not confirmed by a time that the author of an event can choose', async () => {
  const times: number[] = [];
  const message = payload('identity', { identity: { did } });
  const { events } = await follow([JSON.stringify({ $type: 'message', payload: message })], {
    onUpstreamTime: (milliseconds) => void times.push(milliseconds),
  });
  await expect.poll(() => events.length).toBe(1);
  expect(times).toEqual([]);
});

test.each([
  [
    'a host of the current method, by kind',
    '',
    '/xrpc/network.bsky.jetstream.subscribeEvents?kinds=commit&kinds=identity&kinds=account&collections=app.bsky.labeler.service',
  ],
  [
    'a legacy host, which always sends the events of accounts',
    '/subscribe',
    '/subscribe?wantedCollections=app.bsky.labeler.service',
  ],
])('labeler records and the identity and account events are requested from %s', async (_, path, expected) => {
  const { requested } = await follow([], {}, path);
  await expect.poll(() => requested).toEqual([expected]);
});
