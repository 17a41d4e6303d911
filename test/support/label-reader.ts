import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { labelsFrame } from '../../sim/labelers/wire.ts';
import { DailyCap } from '../../src/labels/daily-cap.ts';
import { createInputMemory, type InputMemory } from '../../src/labels/input-memory.ts';
import { createIntake } from '../../src/labels/intake.ts';
import { createStreamOpener } from '../../src/labels/open-stream.ts';
import { Pace } from '../../src/labels/pace.ts';
import { noPosition } from '../../src/labels/position.ts';
import { readSource } from '../../src/labels/read-source.ts';
import { RefusedMemory } from '../../src/labels/refused-memory.ts';
import type { Standing } from '../../src/labels/shares.ts';
import type { ReaderTools, Source } from '../../src/labels/source.ts';
import { SourceUsage } from '../../src/labels/source-usage.ts';
import { streamSession } from '../../src/labels/stream-session.ts';
import { noTelemetry, type Quirk } from '../../src/labels/telemetry.ts';
import { Tracker, untracked } from '../../src/labels/tracker.ts';
import { wait } from '../../src/labels/wait.ts';
import type { GetJsonOptions, JsonAnswer } from '../../src/network/http.ts';
import { createNameResolver } from '../../src/network/name-resolver.ts';
import { createSlots } from '../../src/network/slots.ts';
import { silentLog } from '../../src/ops/log.ts';
import type { StoredGap } from '../../src/store/port.ts';
import { day, type Interval, micros } from '../../src/store/time.ts';
import { quickRhythm } from './label-station.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';

/** A row of the scripted labeler, made so many milliseconds ago. */
export function row(n: number, ageMs = 0, over: Readonly<Record<string, unknown>> = {}): unknown {
  const cts = new Date(Date.now() - ageMs).toISOString();
  return { src: did, uri: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', val: `v${n}`, cts, ...over };
}

/** A page that answers. */
export function answer(labels: readonly unknown[], cursor?: string): JsonAnswer {
  return { kind: 'json', status: 200, date: null, value: { labels, ...(cursor === undefined ? {} : { cursor }) } };
}

/** Pages by the number of each row. */
export function pagesOf(
  rows: readonly { readonly n: number; readonly label: unknown }[],
  at: number,
  most: number,
): JsonAnswer {
  const page = rows.filter(({ n }) => n > at).slice(0, most);
  const last = page.at(-1);
  return answer(
    page.map(({ label }) => label),
    last && String(last.n),
  );
}

/** A labeler that does exactly what a test says, and the reader of it. */
export interface LabelReader {
  readonly source: Source;
  /** Values of the labels that were stored. */
  readonly stored: Set<string>;
  /** As they were recorded, in their order. */
  readonly gaps: StoredGap[];
  readonly withdrawn: StoredGap[];
  readonly quirks: Quirk[];
  readonly epoch: number;
  /** Connections so far. */
  readonly connections: number;
  readonly memory: InputMemory;
  /** Whether what lies there is no gap. */
  misses(interval: Interval): boolean;
  /** Takes rows as if they came that way. */
  take(rows: readonly unknown[], way: 'stream' | 'poll'): Promise<void>;
  /** One connection. */
  session(): ReturnType<typeof streamSession>;
  /** Reads until it is closed. */
  read(): void;
  close(): Promise<void>;
}

/** How the scripted labeler answers. */
export interface LabelScript {
  readonly page?: (
    cursor: number,
    limit: number,
    asked: { readonly signal: AbortSignal },
  ) => JsonAnswer | Promise<JsonAnswer>;
  /** A connection; `cursor` null for what is live. Without it there is no stream. */
  readonly connected?: (stream: ScriptedStream) => void;
  /** Whether the labeler answers the handshake of a stream with 501. */
  readonly streamless?: boolean;
  /** Memory that a page is said to take once it is decoded, in bytes. */
  readonly pageCost?: number;
  /** How long ago our epoch began, in days. */
  readonly days?: number;
  readonly rhythm?: Partial<ReaderTools['rhythm']>;
  /** What every draw of chance gives (0). */
  readonly random?: number;
  readonly wait?: ReaderTools['wait'];
  /** How far the labeler is trusted with shared resources (as a seeded one). */
  readonly standing?: Standing;
}

/** One connection of the reader. */
export interface ScriptedStream {
  /** Counted from 1. */
  readonly connection: number;
  readonly cursor: number | null;
  send(seq: number, ...labels: unknown[]): void;
  raw(bytes: Uint8Array): void;
  end(): void;
}

/** Never answers, until nobody waits. */
export function never({ signal }: { readonly signal: AbortSignal }): Promise<JsonAnswer> {
  return new Promise((resolve) => {
    const abort = (): void => resolve({ kind: 'aborted' });
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

/** A labeler by script and its reader. */
export async function labelReader(script: LabelScript, memory = createInputMemory()): Promise<LabelReader> {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    perMessageDeflate: false,
    verifyClient: (_, accept) => accept(script.streamless !== true, 501),
  });
  await new Promise((resolve) => server.once('listening', resolve));
  let connections = 0;
  server.on('connection', (socket: WebSocket, request) => {
    connections += 1;
    const cursor = new URL(request.url ?? '', 'http://labeler').searchParams.get('cursor');
    const stream: ScriptedStream = {
      connection: connections,
      cursor: cursor === null ? null : Number(cursor),
      send: (seq, ...labels) => socket.send(labelsFrame(seq, labels)),
      raw: (bytes) => socket.send(bytes),
      end: () => socket.close(),
    };
    if (script.connected) script.connected(stream);
    else socket.close();
  });
  const { port } = server.address() as AddressInfo;
  const clock = () => micros(Math.round((performance.timeOrigin + performance.now()) * 1000));
  const epoch = micros(clock() - (script.days ?? 10) * day);
  const stored = new Set<string>();
  const gaps: StoredGap[] = [];
  const withdrawn: StoredGap[] = [];
  const quirks: Quirk[] = [];
  const http = {
    getJson: async (url: string | URL, options: GetJsonOptions): Promise<JsonAnswer> => {
      const { searchParams } = new URL(url);
      const page = script.page ?? (() => ({ kind: 'status', status: 501, retryAfterMs: null, error: null }) as const);
      const given = await page(Number(searchParams.get('cursor') ?? 0), Number(searchParams.get('limit')), options);
      const admission = given.kind === 'json' ? await options.admit?.(script.pageCost ?? 1_000, 100) : 'taken';
      return admission === undefined || admission === 'taken' ? given : { kind: admission };
    },
    getText: () => Promise.reject(new Error('not asked')),
    close: () => Promise.resolve(),
  };
  const shareOf = (source: string) => ({ standing: script.standing ?? 'seeded', domain: source, source }) as const;
  const usage = new SourceUsage();
  const tools: ReaderTools = {
    http,
    openStream: createStreamOpener({
      policy: { allowLoopback: true },
      userAgent: 'Almanac/test',
      resolve: createNameResolver({ hostsFile: null }).resolve,
      handshakes: createSlots({ perHost: 8, total: 8, maxWaiting: 8 }),
      rhythm: { ...quickRhythm, ...script.rhythm },
    }),
    accept: ({ observations }) => {
      const before = stored.size;
      for (const { label } of observations) stored.add(label.val);
      return Promise.resolve(stored.size - before);
    },
    recordGap: (gap) => Promise.resolve(void gaps.push(gap)),
    withdrawGap: (gap) => Promise.resolve(void withdrawn.push(gap)),
    verify: (_, rows) => Promise.resolve(rows.map(() => 'unsigned' as const)),
    doubt: () => undefined,
    heardTime: () => undefined,
    memory,
    streams: createSlots({ perHost: 32, total: 100, maxWaiting: 0 }),
    refused: new RefusedMemory(),
    cap: new DailyCap({ clock, shareOf, budgetBytes: () => 1e9, isTight: () => false }),
    pace: new Pace({ shareOf, monotonic: () => performance.now() * 1000, wait: script.wait ?? wait, usage }),
    usage,
    clockEra: () => 0,
    epoch,
    clock,
    random: () => script.random ?? 0,
    wait: script.wait ?? wait,
    rhythm: { ...quickRhythm, pollMs: 50, resumeMs: 200, firstRetryMs: 10, longestRetryMs: 20, ...script.rhythm },
    log: silentLog,
    telemetry: { ...noTelemetry, quirk: (quirk) => void quirks.push(quirk) },
  };
  const source: Source = {
    did,
    endpoint: `http://127.0.0.1:${port}`,
    peer: { source: did, privileged: false },
    tracker: new Tracker(did, untracked(clock())),
    position: noPosition,
    replayFrom: null,
    unplaced: new Set(),
    lastPage: null,
    seen: new Map(),
    live: null,
    contiguous: false,
  };
  const stop = new AbortController();
  const intake = createIntake(source, tools, () => undefined);
  let reading: Promise<unknown> = Promise.resolve();
  return {
    ...{ source, stored, gaps, withdrawn, quirks, epoch, memory },
    get connections() {
      return connections;
    },
    misses: ({ start, end }) => {
      const over = gaps.filter((gap) => gap.start < end && gap.end > start);
      let at = start;
      for (const gap of over.sort((a, b) => a.start - b.start)) if (gap.start <= at && gap.end > at) at = gap.end;
      return at < end;
    },
    take: (rows, way) => intake.take({ rows, way, move: (position) => position }, stop.signal),
    session: () => {
      source.tracker.asked(clock());
      return streamSession(source, intake, tools, stop.signal);
    },
    read: () => {
      reading = readSource(source, tools, stop.signal);
    },
    close: async () => {
      stop.abort();
      await reading;
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
