import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { until } from '../../harness/process/until.ts';
import { minutesOf, readStore } from '../../harness/weather/weather-kept.ts';
import { noTelemetry } from '../../src/weather/stream/telemetry.ts';
import { createWeather } from '../../src/weather/weather.ts';

/** Number of the last row of the download. The event after it is a create too. */
const lastRow = 150;
/** Number of the first recorded event that is not a create. */
const firstCertain = 152;
/** Smallest cursor that is a time in microseconds. */
const firstTimeCursor = 1e15;
/** Number of events that a connection without a cursor receives. */
const liveEvents = 5;

type Protocol = 'legacy' | 'current';
interface Recorded {
  readonly line: string;
  readonly seq: number;
  readonly timeUs: number;
  /** Name of the metric that counts the event. */
  readonly metric: string;
}

const shortNames = new Map([
  ['app.bsky.feed.post', 'post'],
  ['app.bsky.feed.like', 'like'],
  ['app.bsky.feed.repost', 'repost'],
  ['app.bsky.graph.follow', 'follow'],
  ['app.bsky.graph.block', 'block'],
  ['app.bsky.actor.profile', 'profile'],
]);

function recordedEvents(protocol: Protocol): Recorded[] {
  const path = join(import.meta.dirname, '..', 'fixtures', 'jetstream', `download_${protocol}.jsonl`);
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => ({ line, ...described(line, protocol) }));
}

function described(line: string, protocol: Protocol): Omit<Recorded, 'line'> {
  const frame = JSON.parse(line);
  if (protocol === 'legacy') {
    const { cursor, time_us, commit } = frame;
    return { seq: cursor, timeUs: time_us, metric: `${shortNames.get(commit.collection)}.${commit.operation}` };
  }
  const { seq = 0, time = '', collection = '', operation } = frame.payload;
  const timeUs = Date.parse(`${time.slice(0, 19)}Z`) * 1000 + Number(time.slice(20, 26));
  return { seq, timeUs, metric: `${shortNames.get(collection)}.${operation}` };
}

const ending: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

/** A host, and the frames that it sends. */
interface Host {
  readonly url: string;
  frames: readonly Recorded[];
  /** Number of frames that the newest connection is sent; infinite from a drop until the next connection. */
  sent: number;
  /** Closes all connections. */
  drop(): void;
}

/**
 * Starts a host that sends the recorded frames as the real one does: to a consumer with a cursor from that number, or
 * all of them if the cursor is a time before them, and only the last ones to a consumer that begins at the present.
 */
async function startHost(recorded: readonly Recorded[]): Promise<Host> {
  const http = createServer((_, response) => response.writeHead(404).end());
  const webSockets = new WebSocketServer({ server: http, handleProtocols: (offered) => [...offered][0] ?? false });
  webSockets.on('connection', (socket, request) => {
    const cursor = new URL(request.url ?? '', 'ws://localhost').searchParams.get('cursor');
    const from = Number(cursor) < firstTimeCursor ? Number(cursor) : 0;
    const asked = host.frames.filter(({ seq }) => seq >= from);
    const frames = cursor === null ? host.frames.slice(-liveEvents) : asked;
    host.sent = frames.length;
    for (const { line } of frames) socket.send(line);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const drop = (): void => {
    host.sent = Number.POSITIVE_INFINITY;
    for (const socket of webSockets.clients) socket.terminate();
  };
  ending.push(() => {
    drop();
    http.close();
  });
  const url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const host: Host = { url, frames: recorded, sent: 0, drop };
  return host;
}

/** The same frames under higher numbers and later times, as a host that has downloaded everything again sends them. */
function again(recorded: readonly Recorded[], numbers: number, seconds: number): Recorded[] {
  return recorded.map(({ line, seq, timeUs, metric }) => {
    const later = { seq: seq + numbers, timeUs: timeUs + seconds * 1_000_000 };
    const iso = (us: number): string => `${new Date(us / 1000).toISOString().slice(0, 20)}${String(us).slice(-6)}Z`;
    const renumbered = line
      .replace(`"cursor":${seq},`, `"cursor":${later.seq},`)
      .replace(`"time_us":${timeUs},`, `"time_us":${later.timeUs},`)
      .replace(`"seq":${seq},`, `"seq":${later.seq},`)
      .replace(`"time":"${iso(timeUs)}"`, `"time":"${iso(later.timeUs)}"`);
    return { ...later, line: renumbered, metric };
  });
}

function newFolder(): string {
  const data = mkdtempSync(join(tmpdir(), 'almanac-download-'));
  ending.push(() => rmSync(data, { recursive: true, force: true }));
  return data;
}

/** Observes a host until `isOver` returns true for its log and the number of frames. Returns the content of the store. */
async function observe(
  data: string,
  { url }: Host,
  [path, method]: readonly [string, string],
  nowMs: number,
  isOver: (lines: readonly string[], frames: number) => boolean,
) {
  let seen = 0;
  const lines: string[] = [];
  const say = (message: string): void => {
    lines.push(message);
  };
  const log = { debug: say, info: say, warn: say, error: say, with: () => log };
  const settings = { publishSeconds: 1, backfillHours: 24, backfillBytes: 1e9, dictionary: null, compress: false };
  const weather = createWeather({
    settings: { ...settings, jetstream: [`${url}${path}`], data, artifacts: join(data, 'artifacts') },
    policy: { allowLoopback: true },
    userAgent: 'Almanac/test',
    clock: () => nowMs,
    random: Math.random,
    log,
    telemetry: {
      ...noTelemetry,
      frames: (outcomes) => {
        for (const n of Object.values(outcomes)) seen += n;
      },
    },
    pace: { commitMs: 20, probeMs: 100, backoff: { firstMs: 20, capMs: 100 } },
  });
  await weather.start();
  await until('everything has been read', () => isOver(lines, seen));
  await weather.stop();
  return readStore(data, `${url}${method}`);
}

const isFilled = (lines: readonly string[]): boolean => lines.includes('the backfill of missed events has ended');
const protocols = [
  ['legacy', ['/subscribe', '/subscribe']],
  ['current', ['', '/xrpc/network.bsky.jetstream.subscribeEvents']],
] as const;

describe('the first start on a host that has downloaded the repositories within the hours of the backfill', () => {
  test.each(protocols)(
    'counts no row of the download over the %s protocol, and observes from the first event that is certain',
    async (protocol, paths) => {
      const recorded = recordedEvents(protocol);
      const rows = recorded.filter(({ seq }) => seq > 0 && seq <= lastRow);
      expect(rows.map(({ metric }) => metric.split('.')[1])).toEqual(rows.map(() => 'create'));
      const host = await startHost(recorded);
      const lastUs = recorded.at(-1)?.timeUs ?? 0;
      const kept = await observe(newFolder(), host, paths, lastUs / 1000 + 1_000, isFilled);
      const certain = recorded.filter(({ seq }) => seq >= firstCertain);
      const counts: Record<string, number> = {};
      for (const { metric } of certain) counts[metric] = (counts[metric] ?? 0) + 1;
      const published = minutesOf(kept).map(({ events, metrics }) => ({
        events,
        metrics: Object.fromEntries(
          Object.entries(metrics).filter(([name, n]) => n > 0 && name.split('.').length === 2),
        ),
      }));
      expect(published).toEqual([{ events: certain.length, metrics: counts }]);
      expect(kept.observed).toEqual([{ from: certain[0]?.timeUs, to: lastUs + 1 }]);
    },
  );
});

describe('a host that has lost its directory while the instrument was stopped', () => {
  test.each(protocols)(
    'adds no row of its new download over the %s protocol, even if the number of the position is missing',
    async (protocol, paths) => {
      const recorded = recordedEvents(protocol).filter(({ seq }) => seq > 0);
      const host = await startHost(recorded);
      const data = newFolder();
      const last = recorded.at(-1);
      const before = await observe(data, host, paths, (last?.timeUs ?? 0) / 1000 + 1_000, isFilled);
      // The new download extends beyond the number of the position, which compaction has removed.
      host.frames = again(recorded, 40, 60).filter(({ seq }) => seq !== last?.seq);
      const nowMs = (last?.timeUs ?? 0) / 1000 + 61_000;
      const ahead = host.frames.filter(({ seq }) => seq > (last?.seq ?? 0)).length;
      const after = await observe(data, host, paths, nowMs, (_, frames) => frames >= ahead);
      expect(minutesOf(after)).toEqual(minutesOf(before));
      expect(after.observed).toEqual(before.observed);
    },
  );
});

describe('a host that was killed, and has lost its last events', () => {
  test.each(protocols)(
    'is read with a gap over the %s protocol, even if the number of the position is now one that the host does not send',
    async (protocol, paths) => {
      const recorded = recordedEvents(protocol).filter(({ seq }) => seq > 0);
      const last = recorded.at(-1);
      const kept = recorded.filter(({ seq }) => seq <= (last?.seq ?? 0) - 10);
      // The host reads its last ten events again, and some that it has not sent before.
      const lost = again(recorded.slice(-10), 0, 60).filter(({ seq }) => seq !== last?.seq);
      const next = again(recorded.slice(-10), 10, 70);
      const host = await startHost(recorded);
      const expected = await observe(newFolder(), host, paths, (last?.timeUs ?? 0) / 1000 + 71_000, (lines) =>
        isFilled(lines),
      );
      let dropped = -1;
      const read = await observe(newFolder(), host, paths, (last?.timeUs ?? 0) / 1000 + 71_000, (lines, frames) => {
        if (dropped >= 0) return frames >= dropped + host.sent;
        if (!isFilled(lines)) return false;
        dropped = frames;
        host.frames = [...kept, ...lost, ...next];
        host.drop();
        return false;
      });
      expect(minutesOf(read)).toEqual(minutesOf(expected));
      expect(read.observed).toEqual(expected.observed);
    },
  );
});
