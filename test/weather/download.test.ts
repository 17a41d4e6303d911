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

/**
 * Starts a host that sends the recorded frames as the real one does: all of them to a consumer with a cursor, which is
 * older than its history, and only the last ones to a consumer that begins at the present.
 */
async function startHost(recorded: readonly Recorded[]): Promise<string> {
  const http = createServer((_, response) => response.writeHead(404).end());
  const webSockets = new WebSocketServer({ server: http, handleProtocols: (offered) => [...offered][0] ?? false });
  webSockets.on('connection', (socket, request) => {
    const isReplay = (request.url ?? '').includes('cursor=');
    for (const { line } of isReplay ? recorded : recorded.slice(-liveEvents)) socket.send(line);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  ending.push(() => {
    for (const socket of webSockets.clients) socket.terminate();
    http.close();
  });
  return `ws://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

/** Observes a host from an empty store until its backfill has ended. Returns the content of the store. */
async function observe(jetstream: string, endpoint: string, nowMs: number) {
  const data = mkdtempSync(join(tmpdir(), 'almanac-download-'));
  ending.push(() => rmSync(data, { recursive: true, force: true }));
  const lines: string[] = [];
  const say = (message: string): void => {
    lines.push(message);
  };
  const log = { debug: say, info: say, warn: say, error: say, with: () => log };
  const settings = { publishSeconds: 1, backfillHours: 24, backfillBytes: 1e9, dictionary: null, compress: false };
  const weather = createWeather({
    settings: { ...settings, jetstream: [jetstream], data, artifacts: join(data, 'artifacts') },
    policy: { allowLoopback: true },
    userAgent: 'Almanac/test',
    clock: () => nowMs,
    random: Math.random,
    log,
    telemetry: noTelemetry,
    pace: { commitMs: 20, probeMs: 100, backoff: { firstMs: 20, capMs: 100 } },
  });
  await weather.start();
  await until('the backfill has ended', () => lines.includes('the backfill of missed events has ended'));
  await weather.stop();
  return readStore(data, endpoint);
}

describe('the first start on a host that has downloaded the repositories within the hours of the backfill', () => {
  test.each([
    ['legacy', '/subscribe', '/subscribe'],
    ['current', '', '/xrpc/network.bsky.jetstream.subscribeEvents'],
  ] as const)(
    'counts no row of the download over the %s protocol, and observes from the first event that is certain',
    async (protocol, path, method) => {
      const recorded = recordedEvents(protocol);
      const rows = recorded.filter(({ seq }) => seq > 0 && seq <= lastRow);
      expect(rows.map(({ metric }) => metric.split('.')[1])).toEqual(rows.map(() => 'create'));
      const host = await startHost(recorded);
      const lastUs = recorded.at(-1)?.timeUs ?? 0;
      const kept = await observe(`${host}${path}`, `${host}${method}`, lastUs / 1000 + 1_000);
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
