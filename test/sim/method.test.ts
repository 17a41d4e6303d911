import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { zstdDecompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { subscribe } from '../../harness/sim/consumer.ts';
import { manualClock } from '../../sim/clock.ts';
import { parseFrame, parseMethodFrame } from '../../sim/events/parsed.ts';
import { getZstdDictionary, subscribeEvents } from '../../sim/events/wire.ts';
import { createSim, patienceMs, type Sim, type SimOptions } from '../../sim/index.ts';

const noon = Date.UTC(2026, 6, 4, 12);
const noonUs = noon * 1000;
const dictionary = readFileSync(new URL('../fixtures/jetstream/dictionary.zstd', import.meta.url));
const running: Sim[] = [];
const method = `/xrpc/${subscribeEvents}`;

afterEach(async () => {
  await Promise.all(running.splice(0).map((sim) => sim.stop()));
});

async function startSim(options: SimOptions = {}) {
  const clock = manualClock(noon);
  const sim = createSim({ seed: 5, rate: 100, clock: clock.now, seqCursors: true, ...options });
  running.push(sim);
  const { jetstream, jetstreamHost } = await sim.start();
  return { sim, clock, legacy: jetstream, host: jetstreamHost, url: jetstreamHost + method };
}

/** Returns the response to a refused handshake. */
async function refused(url: string): Promise<{ status: number; body: unknown }> {
  const socket = new WebSocket(url);
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [
    unknown,
    AsyncIterable<Buffer> & { statusCode: number },
  ];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  socket.terminate();
  return { status: response.statusCode, body: JSON.parse(Buffer.concat(chunks).toString()) };
}

describe('the subscribeEvents method', () => {
  it.each([false, true])(
    'delivers the events of the legacy protocol in its own format (varied keys: %s)',
    async (variedKeys) => {
      const { sim, clock, legacy, url } = await startSim({ variedKeys });
      const cursor = String(noonUs - 2_000_000);
      sim.faults.unknown({ events: 70 });
      clock.advance(2000);
      const [old, present] = [await subscribe(legacy, { cursor }), await subscribe(url, { cursor }, ['xrpc.v1.json'])];
      const { events } = sim.truth.countsBetween(noonUs - 2_000_000, noonUs + 2_000_001);
      await Promise.all([old.received(events), present.received(events)]);
      expect(present.socket.protocol).toBe('xrpc.v1.json');
      expect(present.frames.map(parseMethodFrame)).toEqual(old.frames.map(parseFrame));
      expect(events).toBeGreaterThan(300);
    },
  );

  it('orders the keys of its frames like a production host', async () => {
    const { clock, url } = await startSim();
    const consumer = await subscribe(url, { kinds: ['commit'], collections: ['app.bsky.feed.like'] });
    clock.advance(1000);
    await consumer.received(20);
    const shapes = new Set(consumer.frames.map((frame) => frame.replace(/:(?:"[^"]*"|\d+)/g, '')));
    expect([...shapes]).toContain(
      '{"$type","payload":{"$type","cid","collection","did","operation",' +
        '"record":{"$type","createdAt","subject":{"cid","uri"}},"rev","rkey","seq","time","witnessedAt"}}',
    );
    expect(consumer.frames.every((frame) => frame.includes('"collection":"app.bsky.feed.like"'))).toBe(true);
  });

  it('lacks the time of the witness and the notice of a future cursor in the form of commit 9a30def', async () => {
    const { clock, url } = await startSim({ isUnwitnessed: true });
    const live = await subscribe(url, { kinds: ['commit'], collections: ['app.bsky.graph.follow'] });
    const future = await subscribe(url, {
      cursor: '900000000000000',
      kinds: ['commit'],
      collections: ['app.bsky.graph.follow'],
    });
    clock.advance(5000);
    await Promise.all([live.received(5), future.received(5)]);
    expect(future.frames[0]).toContain('#commit"');
    // Recorded from the real program, with the values of the strings left out.
    expect(live.frames[0]?.replace(/:(?:"[^"]*"|\d+)/g, '')).toBe(
      '{"$type","payload":{"$type","cid","collection","did","operation","record":{"$type","createdAt","subject"},' +
        '"rev","rkey","seq","time"}}',
    );
  });

  it('is not served by a host of the first version', async () => {
    const { host } = await startSim({ hasMethod: false });
    const socket = new WebSocket(host + method);
    socket.on('error', () => undefined);
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    socket.terminate();
    expect(response.statusCode).toBe(404);
  });
});

describe('a subscription to the subscribeEvents method', () => {
  it('begins with the event at its cursor, gets a notice if the cursor is in the future or outdated, and is refused below the floor', async () => {
    const { sim, url } = await startSim({ historyHours: 1 });
    const first = await subscribe(url, { cursor: String(noonUs - 1_000_000) });
    await first.received(10);
    const seqs = first.frames.map((frame) => parseMethodFrame(frame).cursor ?? 0);
    const again = await subscribe(url, { cursor: String(seqs[3]) });
    await again.received(5);
    expect(again.frames[0]).toBe(first.frames[3]);
    const future = await subscribe(url, { cursor: String((seqs[9] ?? 0) + 1_000_000) });
    await future.received(1);
    expect(future.frames[0]).toMatch(/^{"\$type":"message","payload":{"\$type":"[a-zA-Z.]+#info",.*"FutureCursor"}}$/);
    const clamped = await subscribe(url, { cursor: String(noonUs - 7_200_000_000) });
    await clamped.received(2);
    expect(clamped.frames[0]).toContain('"OutdatedCursor"');
    expect(await refused(`${url}?cursor=1`)).toMatchObject({ status: 400, body: { error: 'CursorTooOld' } });
    expect(sim.truth.deliveries).toHaveLength(4);
  });

  it.each([
    'cursor=-1',
    'cursor=x',
    'compress=true',
    'wantedCollections=a.b.c',
    'kinds=like',
    'kinds=sync&collections=a.b.c',
  ])('is refused if its query is invalid (%s)', async (query) => {
    const { url } = await startSim();
    expect(await refused(`${url}?${query}`)).toMatchObject({ status: 400, body: { error: 'InvalidRequest' } });
  });

  it('delivers old history without the events that compaction removed', async () => {
    const { sim, clock, url } = await startSim({ compactedShare: 0.5 });
    const old = await subscribe(url, { cursor: String(noonUs - 5 * 3_600_000_000) });
    await old.received(2000);
    await old.close();
    const { events, metrics } = sim.truth.deliveredBetween(
      noonUs - 5 * 3_600_000_000,
      noonUs - 5 * 3_600_000_000 + 10_000_000,
    );
    const all = sim.truth.countsBetween(noonUs - 5 * 3_600_000_000, noonUs - 5 * 3_600_000_000 + 10_000_000);
    expect(metrics['like.create'] / all.metrics['like.create']).toBeCloseTo(0.5, 1);
    expect(metrics['follow.delete']).toBe(all.metrics['follow.delete']);
    expect(events).toBeLessThan(all.events);
    clock.advance(1);
  });
});

describe('a re-sync', () => {
  it('is visible only through the subscribeEvents method, in events with the account and the time of the re-sync', async () => {
    const { sim, clock, legacy, url } = await startSim();
    const [old, present] = [await subscribe(legacy), await subscribe(url)];
    const { fromSeq } = sim.faults.resync({ rows: 60 });
    clock.advance(3000);
    const { events } = sim.truth.countsBetween(noonUs + 1, noonUs + 3_000_001);
    await Promise.all([old.received(events), present.received(events + 61)]);
    const bySeq = new Map(present.frames.map((frame) => [parseMethodFrame(frame).cursor, frame]));
    const sync = bySeq.get(fromSeq) ?? '';
    const stamp = /"did":"(?<did>[^"]+)".*"time":"(?<time>[^"]{27})"/.exec(sync.replace(/"sync":{.*?}},/, ''));
    const rows = present.frames.filter(
      (frame) => frame.includes(`"time":"${stamp?.groups?.time}"`) && frame.includes(`"did":"${stamp?.groups?.did}"`),
    );
    expect(rows).toHaveLength(61);
    expect(sim.truth.deliveredBetween(noonUs + 1, noonUs + 3_000_001, 'jetstream.subscribeEvents').resync).toBe(61);
    expect(sim.truth.deliveredBetween(noonUs + 1, noonUs + 3_000_001, 'jetstream.legacy').resync).toBe(0);
  });
});

describe('a host of the subscribeEvents method', () => {
  it('serves its dictionary, and compresses every frame with it', async () => {
    const { clock, host, url } = await startSim({ zstdDictionary: dictionary });
    const response = await fetch(`${host.replace('ws:', 'http:')}/xrpc/${getZstdDictionary}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    const id = response.headers.get('x-zstd-dictionary-id');
    expect(bytes.equals(dictionary)).toBe(true);
    const plain = await subscribe(url);
    const socket = new WebSocket(`${url}?zstdDictionary=${id}`);
    const frames: string[] = [];
    const enough = Promise.withResolvers<void>();
    socket.on('message', (data: Buffer, isBinary) => {
      frames.push(isBinary ? zstdDecompressSync(data, { dictionary: bytes }).toString() : 'text');
      if (frames.length === 50) enough.resolve();
    });
    await once(socket, 'open');
    clock.advance(1000);
    await Promise.all([enough.promise, plain.received(50)]);
    expect(frames.slice(0, 50)).toEqual(plain.frames.slice(0, 50));
    expect(await refused(`${url}?zstdDictionary=7`)).toMatchObject({ body: { error: 'UnknownZstdDictionary' } });
  });

  it('sends ConsumerTooSlow before it closes a connection, and closes a connection if the consumer sends a message', async () => {
    const { sim, url } = await startSim();
    const slow = await subscribe(url);
    sim.faults.tooSlow();
    await slow.received(1);
    expect(JSON.parse(slow.frames[0] ?? '')).toMatchObject({ $type: 'error', error: 'ConsumerTooSlow' });
    // A real Jetstream sends no close frame.
    expect(await slow.closed).toBe(1006);
    const moved = await subscribe(url);
    sim.faults.goingAway();
    expect(await moved.closed).toBe(1001);
    const talker = await subscribe(url);
    talker.socket.send('hello');
    expect(await talker.closed).toBe(1008);
  });

  it(
    'closes the socket of a consumer that sends no pongs, and keeps the socket of a consumer that does',
    async () => {
      const { sim, url } = await startSim();
      const [deaf, well] = [await subscribe(url), await subscribe(url)];
      deaf.socket.pause();
      const pinged = once(well.socket, 'ping');
      const closed = new Promise((resolve) => {
        const poll = setInterval(() => {
          if (sim.truth.deliveries[0]?.closedAtUs === null) return;
          clearInterval(poll);
          resolve(true);
        }, 50);
      });
      sim.askForPongs();
      await pinged;
      await closed;
      expect(sim.truth.deliveries.map(({ closedAtUs }) => closedAtUs === null)).toEqual([false, true]);
      deaf.socket.resume();
      expect(await deaf.closed).toBe(1006);
    },
    patienceMs + 10_000,
  );
});
