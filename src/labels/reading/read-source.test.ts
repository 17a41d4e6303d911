import { encode } from '@atcute/cbor';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asked, newSource, scriptedPorts } from '../../../harness/labels/label-reader.ts';
import { createSlots } from '../../network/guard/slots.ts';
import type { HttpClient } from '../../network/http/http.ts';
import { createBackoff } from '../../network/websocket/backoff.ts';
import { ConnectError } from '../../network/websocket/websocket.ts';
import { day, hour, micros, minute, second } from '../../store/time.ts';
import { createIntake } from '../ingest/intake.ts';
import { createInputMemory } from '../ingest/ports.ts';
import type { Outbound } from '../stream/outbound.ts';
import { readSource, streamSession, untilOutage } from './read-source.ts';

type OpenStream = Outbound['openStream'];

const start = micros(20_000 * day);

test('a source that fails is tried again within 15 seconds after its failures become an outage', () => {
  const draws = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));
  fc.assert(
    fc.property(draws, (stream) => {
      const random = (): number => stream.next().value as number;
      const backoff = createBackoff({ firstMs: 2_000, capMs: 900_000, random });
      let now = start;
      let tried = start;
      while (now - start <= 15 * minute) {
        tried = micros(now + untilOutage(backoff.next(), { failingSince: start, now, random }) * 1_000);
        // An attempt fails after 100 ms.
        now = micros(tried + second / 10);
      }
      expect(tried - start).toBeLessThanOrEqual(15 * minute + 15 * second);
    }),
  );
});

test('the wait of a source stays unchanged if the source does not fail, is already in an outage, or is tried again before the outage', () => {
  const random = (): number => 0;
  expect(untilOutage(900_000, { failingSince: null, now: start, random })).toBe(900_000);
  const failing = { failingSince: start, random };
  expect(untilOutage(900_000, { ...failing, now: micros(start + 16 * minute) })).toBe(900_000);
  expect(untilOutage(1_000, { ...failing, now: start })).toBe(1_000);
});

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const closed = { code: 1000, reason: 'remote_close' } as const;

/** Runs one session with a single stream slot; returns the outcome and whether the slot is free afterwards. */
async function sessionWith(openStream: OpenStream, over = new AbortController().signal) {
  const streams = createSlots({ perHost: 1, total: 1, maxWaiting: 0 });
  const memory = createInputMemory();
  const http: Pick<HttpClient, 'getJson'> = {
    getJson: () => Promise.resolve({ kind: 'status', status: 501, retryAfterMs: null, error: null }),
  };
  const { ports } = scriptedPorts({ http: http as HttpClient, openStream, streams, memory });
  const source = newSource(did, 'https://labeler.example', ports);
  source.tracker.apply(asked(ports.time.clock()));
  const intake = createIntake(source, ports, () => undefined);
  const outcome: unknown = await streamSession(source, intake, ports, over).catch((error: unknown) => error);
  const place = await streams.acquire({ host: 'other.example' }, 0, new AbortController().signal);
  return { outcome, isFree: typeof place !== 'string' };
}

test.each<[string, OpenStream, unknown]>([
  [
    'does not open',
    () => Promise.reject(new ConnectError('dns', 'no such name')),
    expect.objectContaining({ kind: 'fault', fault: 'failed' }),
  ],
  ['fails because of a bug in this program', () => Promise.reject(new Error('ours')), new Error('ours')],
  [
    'is closed immediately',
    (_source, _cursor, { onFrame }) => {
      onFrame(Buffer.from([0]), true);
      const socket = { closed: Promise.resolve(closed), close: () => undefined, resume: () => undefined };
      return Promise.resolve({ ...socket, pause: () => undefined } as never);
    },
    expect.objectContaining({ kind: 'ended' }),
  ],
])('the slot of a stream is free after a session that %s', async (_, openStream, expected) => {
  const { outcome, isFree } = await sessionWith(openStream);
  expect(outcome).toEqual(expected);
  expect(isFree).toBe(true);
});

test('a stop while the stream opens frees the slot of the stream', async () => {
  const stop = new AbortController();
  const opening: OpenStream = (_source, _cursor, _events, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new ConnectError('aborted', 'stopped')), { once: true });
      stop.abort();
    });
  expect(await sessionWith(opening, stop.signal)).toEqual({
    outcome: { kind: 'ended', progress: false },
    isFree: true,
  });
});

test('a labeler that uses up its processor time without sending a message is not read until its allowance is refilled', async () => {
  const acts: string[] = [];
  const opening: OpenStream = (_source, cursor, { onRead }, signal) => {
    if (cursor !== null) return Promise.reject(new ConnectError('timeout', 'no sample'));
    const ended = Promise.withResolvers<typeof closed>();
    signal.addEventListener('abort', () => ended.resolve(closed));
    // A seeded labeler may use 60 s of processor time at once, and then half a second per second.
    setImmediate(() => onRead?.(60_010));
    const socket = {
      closed: ended.promise,
      close: () => ended.resolve(closed),
      pause: () => acts.push('pause'),
      resume: () => {
        acts.push('resume');
        ended.resolve(closed);
      },
    };
    return Promise.resolve(socket);
  };
  expect((await sessionWith(opening)).outcome).toMatchObject({ kind: 'ended' });
  expect(acts).toEqual(['pause', 'resume']);
});

test('a labeler whose stream has earlier labels has responded, although its pages fail and its stream is silent', async () => {
  const label = { src: did, uri: did, val: 'v', cts: new Date(Date.now() - 60_000).toISOString() };
  const sampled = Buffer.concat([encode({ op: 1, t: '#labels' }), encode({ seq: 1, labels: [label] })]);
  const opening: OpenStream = (_source, cursor, { onFrame }, signal) => {
    const ended = Promise.withResolvers<typeof closed>();
    signal.addEventListener('abort', () => ended.resolve(closed));
    if (cursor === 0) setImmediate(() => onFrame(sampled, true));
    const socket = { closed: ended.promise, close: () => ended.resolve(closed), resume: () => undefined };
    return Promise.resolve({ ...socket, pause: () => undefined } as never);
  };
  expect((await sessionWith(opening)).outcome).toEqual({ kind: 'ended', progress: false, poll: null });
});

test('a stream that failed while the clock was ahead is requested again at once after the clock is set back, and then at the interval', async () => {
  const stop = new AbortController();
  let now = micros(start + 10 * day);
  const requested: number[] = [];
  const openStream: OpenStream = () => {
    requested.push((now - start) / minute);
    return Promise.reject(new ConnectError('handshake_status', 'no stream', 404));
  };
  const getJson: HttpClient['getJson'] = () =>
    Promise.resolve({ kind: 'json', status: 200, date: null, value: { labels: [] } });
  const { ports } = scriptedPorts({ http: { getJson } as HttpClient, openStream });
  const wait = (ms: number): Promise<void> => {
    const ahead = requested.length === 1 && now > start + day ? 10 * day : 0;
    now = micros(now - ahead + ms * 1_000);
    if (now > start + 2 * hour && ahead === 0) stop.abort();
    return new Promise((resolve) => setImmediate(resolve));
  };
  const timings = { ...ports.time.timings, pollMs: 60_000, streamRetryMs: 3_600_000 };
  const time = { ...ports.time, epoch: start, clock: () => now, timings, wait };
  const source = newSource(did, 'https://labeler.example', { time });
  await readSource(source, { ...ports, time }, stop.signal);
  expect(requested).toEqual([10 * 24 * 60, 1, 61]);
});
