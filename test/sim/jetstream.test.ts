import { on, once } from 'node:events';
import { zstdDecompressSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { countsOf, parsed, refusal, subscribe, times } from '../../harness/sim/consumer.ts';
import { manualClock } from '../../sim/clock.ts';
import { createSim, type Sim, type SimOptions } from '../../sim/index.ts';

const noon = Date.UTC(2026, 6, 4, 12);
const noonUs = noon * 1000;
const running: Sim[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((sim) => sim.stop()));
});

async function startSim(options: SimOptions = {}) {
  const clock = manualClock(noon);
  const sim = createSim({ seed: 5, clock: clock.now, ...options });
  running.push(sim);
  const { jetstream } = await sim.start();
  return { sim, clock, jetstream };
}

describe('a subscription without a cursor', () => {
  it('receives only events from its start onwards', async () => {
    const { sim, clock, jetstream } = await startSim();
    const consumer = await subscribe(jetstream);
    clock.advance(5000);
    const truth = sim.truth.countsBetween(noonUs + 1, noonUs + 5_000_001);
    await consumer.received(truth.events);
    expect(truth.events).toBeGreaterThan(1000);
    expect(countsOf(consumer.frames)).toEqual(truth);
  });

  it('receives no event before the time of that event', async () => {
    const { sim, clock, jetstream } = await startSim();
    const consumer = await subscribe(jetstream);
    clock.advance(500);
    await consumer.received(sim.truth.countsBetween(noonUs + 1, noonUs + 500_001).events);
    expect(Math.max(...times(consumer.frames).map(Number))).toBeLessThanOrEqual(noonUs + 500_000);
  });
});

describe('a subscription with a cursor', () => {
  it('receives the same bytes as live consumers', async () => {
    const { sim, clock, jetstream } = await startSim();
    const live = await subscribe(jetstream);
    for (let step = 0; step < 20; step++) {
      clock.advance(137);
      sim.pump();
    }
    await live.received(sim.truth.countsBetween(noonUs + 1, noonUs + 20 * 137_000 + 1).events);
    const replay = await subscribe(jetstream, { cursor: String(noonUs + 1) });
    await replay.received(live.frames.length);
    expect(replay.frames).toEqual(live.frames);
  });

  it('receives the same bytes from two hosts with the same seed', async () => {
    const [one, other] = await Promise.all([startSim(), startSim()]);
    const cursor = String(noonUs - 10_000_000);
    const [first, second] = await Promise.all([
      subscribe(one.jetstream, { cursor }),
      subscribe(other.jetstream, { cursor }),
    ]);
    const { events } = one.sim.truth.countsBetween(noonUs - 10_000_000, noonUs + 1);
    await Promise.all([first.received(events), second.received(events)]);
    expect(second.frames).toEqual(first.frames);
  });

  it('begins with the event whose time equals the cursor, or with the next event if the cursor is one microsecond later', async () => {
    const { jetstream } = await startSim();
    const before = await subscribe(jetstream, { cursor: String(noonUs - 2_000_000) });
    await before.received(3);
    const [, at, after] = times(before.frames);
    const inclusive = await subscribe(jetstream, { cursor: String(at) });
    const next = await subscribe(jetstream, { cursor: String(Number(at) + 1) });
    await Promise.all([inclusive.received(1), next.received(1)]);
    expect([times(inclusive.frames)[0], times(next.frames)[0]]).toEqual([at, after]);
  });

  it('continues from the replay to live traffic without an omission or a repeat', async () => {
    const { sim, clock, jetstream } = await startSim({ seqCursors: true });
    const consumer = await subscribe(jetstream, { cursor: String(noonUs - 3_000_000) });
    for (let step = 0; step < 10; step++) {
      clock.advance(200);
      sim.pump();
    }
    await consumer.received(sim.truth.countsBetween(noonUs - 3_000_000, noonUs + 2_000_001).events);
    const numbers = parsed(consumer.frames).map(({ cursor }) => cursor ?? 0);
    expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] ?? 0) + at));
  });

  it('resumes by number if frames have numbers', async () => {
    const { jetstream } = await startSim({ seqCursors: true });
    const before = await subscribe(jetstream, { cursor: String(noonUs - 2_000_000) });
    await before.received(50);
    const cursor = parsed(before.frames)[40]?.cursor ?? 0;
    const resumed = await subscribe(jetstream, { cursor: String(cursor) });
    await resumed.received(10);
    expect(resumed.frames.slice(0, 10)).toEqual(before.frames.slice(40, 50));
  });

  it('begins at the horizon without a notice if the cursor is older than the horizon', async () => {
    const { sim, jetstream } = await startSim({ historyHours: 0.01 });
    const consumer = await subscribe(jetstream, { cursor: '1' });
    const horizonUs = noonUs - 36_000_000;
    const truth = sim.truth.countsBetween(horizonUs, noonUs + 1);
    await consumer.received(truth.events);
    expect(countsOf(consumer.frames)).toEqual(truth);
  });

  it('receives live traffic if the cursor is in the future', async () => {
    const { sim, clock, jetstream } = await startSim();
    const consumer = await subscribe(jetstream, { cursor: String(noonUs + 3_600_000_000) });
    clock.advance(1000);
    const truth = sim.truth.countsBetween(noonUs + 1, noonUs + 1_000_001);
    await consumer.received(truth.events);
    expect(countsOf(consumer.frames)).toEqual(truth);
  });
});

describe('the filter of wanted collections', () => {
  it('limits commits to these collections, but never account and identity events', async () => {
    const { sim, jetstream } = await startSim();
    const fromUs = noonUs - 60_000_000;
    const wantedCollections = ['app.bsky.feed.post', 'app.bsky.actor.*'];
    const consumer = await subscribe(jetstream, { cursor: String(fromUs), wantedCollections });
    const all = sim.truth.countsBetween(fromUs, noonUs + 1).metrics;
    const expected = Object.fromEntries(
      Object.entries(all).map(([name, count]) => [
        name,
        /^(?:post|profile|actor_status|identity|account)\./.test(name) ? count : 0,
      ]),
    );
    const totals = /^(?:(?:post|profile|actor_status)\.(?:create|update|delete)|(?:identity|account)\.event)$/;
    const events = Object.entries(expected).reduce((sum, [name, count]) => sum + (totals.test(name) ? count : 0), 0);
    await consumer.received(events);
    expect(countsOf(consumer.frames)).toEqual({ events, resync: 0, notJson: 0, noTime: 0, metrics: expected });
    expect(sim.truth.deliveredBetween(fromUs, noonUs + 1)).toEqual(countsOf(consumer.frames));
  });
});

describe('a handshake', () => {
  it.each([
    ['/subscribe?compress=true', 400],
    ['/subscribe?cursor=yesterday', 400],
    ['/subscribe?wantedDids=did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', 400],
    ['/elsewhere', 404],
  ])('is refused if its path or query is invalid (%s, status %i)', async (path, status) => {
    const { jetstream } = await startSim();
    expect(await refusal(new URL(path, jetstream).href)).toBe(status);
  });
});

it('a host responds to a ping with its payload', async () => {
  const { jetstream } = await startSim();
  const { socket } = await subscribe(jetstream);
  socket.ping('still there?');
  const [payload] = (await once(socket, 'pong')) as [Buffer];
  expect(payload.toString()).toBe('still there?');
});

it('the record of a backlog agrees with an independent count of every received frame', async () => {
  const { sim, jetstream } = await startSim({ seqCursors: true, variedKeys: true });
  const fromUs = noonUs - 300_000_000;
  const consumer = await subscribe(jetstream, { cursor: String(fromUs) });
  const truth = sim.truth.countsBetween(fromUs, noonUs + 1);
  await consumer.received(truth.events);
  expect(countsOf(consumer.frames)).toEqual(truth);
  expect(sim.truth.deliveredBetween(fromUs, noonUs + 1)).toEqual(truth);
  const minutes = sim.truth.minutesBetween(fromUs, noonUs);
  const byMinute = Map.groupBy(consumer.frames, (frame) => Math.floor(Number(times([frame])[0]) / 60_000_000));
  expect(minutes.map(({ startUs, ...counts }) => [startUs, counts])).toEqual(
    minutes.map(({ startUs }) => [startUs, countsOf(byMinute.get(startUs / 60_000_000) ?? [])]),
  );
});

it('a host stops sending while the consumer does not read, and loses nothing', async () => {
  const { sim, jetstream } = await startSim({ rate: 1500 });
  const fromUs = noonUs - 60_000_000;
  const consumer = await subscribe(jetstream, { cursor: String(fromUs) });
  const { events } = sim.truth.countsBetween(fromUs, noonUs + 1);
  consumer.socket.pause();
  const [delivery] = sim.truth.deliveries;
  const settled = async (): Promise<number> => {
    for (let last = -1; ; ) {
      const now = delivery?.frames ?? 0;
      if (now === last && now > 0) return now;
      last = now;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  expect(await settled()).toBeLessThan(events);
  consumer.socket.resume();
  await consumer.received(events);
  expect(countsOf(consumer.frames)).toEqual(sim.truth.countsBetween(fromUs, noonUs + 1));
});

it('the rates of two hosts differ by the configured factor', async () => {
  const hosts = [1, 1.6].map((endpointFactor) => createSim({ seed: 5, endpointFactor }));
  const [small = 0, large = 0] = hosts.map(({ truth }) => truth.countsBetween(noonUs, noonUs + 3_600_000_000).events);
  expect(large / small).toBeCloseTo(1.6, 1);
});

it('a host compresses its frames with its dictionary on request', async () => {
  const zstdDictionary = Buffer.from(
    '"kind":"commit","commit":{"rev":"","operation":"create","collection":"app.bsky.feed.',
  );
  const { sim, jetstream } = await startSim({ zstdDictionary });
  const cursor = String(noonUs - 2_000_000);
  const wantedCollections = 'app.bsky.feed.like';
  const plain = await subscribe(jetstream, { cursor, wantedCollections });
  const { metrics } = sim.truth.countsBetween(noonUs - 2_000_000, noonUs + 1);
  const likes = metrics['like.create'] + metrics['like.delete'];
  await plain.received(likes);
  const target = new URL(jetstream);
  target.search = new URLSearchParams({ cursor, wantedCollections, compress: 'true' }).toString();
  const socket = new WebSocket(target);
  const unpacked: string[] = [];
  for await (const [data, binary] of on(socket, 'message') as AsyncIterable<[Buffer, boolean]>) {
    expect(binary).toBe(true);
    unpacked.push(zstdDecompressSync(data, { dictionary: zstdDictionary }).toString());
    if (unpacked.length >= plain.frames.length) break;
  }
  expect(unpacked).toEqual(plain.frames);
});
