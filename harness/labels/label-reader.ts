import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { labelsFrame } from '../../sim/labelers/wire.ts';
import type { Micros } from '../../src/contract/timestamp.ts';
import { wait } from '../../src/labels/clock/clock.ts';
import { createIntake } from '../../src/labels/ingest/intake.ts';
import {
  type AcceptedPage,
  createInputMemory,
  type ReaderPorts,
  type ReaderTime,
} from '../../src/labels/ingest/ports.ts';
import { RefusedMemory } from '../../src/labels/ingest/refused-memory.ts';
import { readSource, streamSession } from '../../src/labels/reading/read-source.ts';
import { DailyCap } from '../../src/labels/shares/daily-cap.ts';
import { Pace, SourceUsage } from '../../src/labels/shares/pace.ts';
import { noTelemetry, type quirks } from '../../src/labels/shares/telemetry.ts';
import { FilledIn, noChanges } from '../../src/labels/state/filled-in.ts';
import {
  noPosition,
  type ReadingEvent,
  type ReadPosition,
  type SourceFault,
} from '../../src/labels/state/reading-events.ts';
import { type PriorityClass, untracked } from '../../src/labels/state/reading-state.ts';
import { Source } from '../../src/labels/state/source.ts';
import { Tracker } from '../../src/labels/state/tracker.ts';
import { createStreamOpener } from '../../src/labels/stream/outbound.ts';
import { createNameResolver } from '../../src/network/dns/name-resolver.ts';
import { createSlots } from '../../src/network/guard/slots.ts';
import type { GetJsonOptions, JsonAnswer } from '../../src/network/http/http.ts';
import { silentLog } from '../../src/ops/log.ts';
import type { StoredGap } from '../../src/store/port.ts';
import { day, type Interval, micros } from '../../src/store/time.ts';
import { quickTimings } from './label-station.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';

/** Creates a row of the scripted labeler whose `cts` is `ageMs` milliseconds ago. */
export function row(n: number, ageMs = 0, over: Readonly<Record<string, unknown>> = {}): unknown {
  const cts = new Date(Date.now() - ageMs).toISOString();
  return { src: did, uri: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', val: `v${n}`, cts, ...over };
}

/** Creates an HTTP response with a page of labels. */
export function answer(labels: readonly unknown[], cursor?: string): JsonAnswer {
  return { kind: 'json', status: 200, date: null, value: { labels, ...(cursor === undefined ? {} : { cursor }) } };
}

/** Creates a page with at most `limit` rows, starting after row number `at`. */
export function pagesOf(
  rows: readonly { readonly n: number; readonly label: unknown }[],
  at: number,
  limit: number,
): JsonAnswer {
  const page = rows.filter(({ n }) => n > at).slice(0, limit);
  const last = page.at(-1);
  return answer(
    page.map(({ label }) => label),
    last && String(last.n),
  );
}

/** A reader connected to a scripted labeler, and the data that it recorded. */
export interface LabelReader extends Omit<ScriptedPorts, 'ports'> {
  readonly source: Source;
  readonly epoch: number;
  /** Number of connections that the reader has opened. */
  readonly connections: number;
  readonly memory: ReturnType<typeof createInputMemory>;
  /** Returns true if recorded gaps leave part of the interval uncovered. */
  misses(interval: Interval): boolean;
  /** Accepts rows as if the given transport had delivered them. */
  take(rows: readonly unknown[], transport: 'stream' | 'poll'): Promise<void>;
  /** Runs one stream connection of the reader. Resolves with its result. */
  session(): ReturnType<typeof streamSession>;
  /** Starts the reader, which reads until `close` is called. */
  read(): void;
  close(): Promise<void>;
}

/** Behaviour of the scripted labeler. */
export interface LabelScript {
  readonly page?: (
    cursor: number,
    limit: number,
    asked: { readonly signal: AbortSignal },
  ) => JsonAnswer | Promise<JsonAnswer>;
  /** Called for each connection. Without this function, the stream closes immediately. */
  readonly connected?: (stream: ScriptedStream) => void;
  /** True if the labeler rejects the stream handshake with 501. */
  readonly streamless?: boolean;
  /** Assumed memory of a decoded page, in bytes. */
  readonly pageCost?: number;
  /** Age of the instrument's epoch, in days. */
  readonly days?: number;
  readonly timings?: Partial<ReaderTime['timings']>;
  /** Result of every random draw; defaults to 0. */
  readonly random?: number;
  readonly wait?: ReaderTime['wait'];
  /** Priority class of the labeler; defaults to `seeded`. */
  readonly priority?: PriorityClass;
}

/** One connection of the reader to the scripted labeler. */
export interface ScriptedStream {
  /** Number of the connection, counted from 1. */
  readonly connection: number;
  readonly cursor: number | null;
  send(seq: number, ...labels: unknown[]): void;
  raw(bytes: Uint8Array): void;
  end(): void;
}

/** Never responds: the promise resolves only when the signal is aborted. */
export function never({ signal }: { readonly signal: AbortSignal }): Promise<JsonAnswer> {
  return new Promise((resolve) => {
    const abort = (): void => resolve({ kind: 'aborted' });
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

/** Starts a scripted labeler and its reader. */
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
  const http = {
    getJson: async (url: string | URL, options: GetJsonOptions): Promise<JsonAnswer> => {
      const { searchParams } = new URL(url);
      const page = script.page ?? (() => ({ kind: 'status', status: 501, retryAfterMs: null, error: null }) as const);
      const given = await page(Number(searchParams.get('cursor') ?? 0), Number(searchParams.get('limit')), options);
      const admission = given.kind === 'json' ? await options.admit?.(script.pageCost ?? 1_000, 100) : 'taken';
      return admission === undefined || admission === 'taken' ? given : { kind: admission };
    },
    getText: () => Promise.reject(new Error('this request was not expected')),
    close: () => Promise.resolve(),
  };
  const { ports, stored, gaps, withdrawn, quirks, unbalanced } = scriptedPorts(
    {
      ...{ http, memory, random: () => script.random ?? 0, wait: script.wait ?? wait },
      timings: { ...quickTimings, pollMs: 50, resumeMs: 200, firstRetryMs: 10, maxRetryMs: 20, ...script.timings },
      openStream: createStreamOpener({
        policy: { allowLoopback: true },
        userAgent: 'Almanac/test',
        resolve: createNameResolver({ hostsFile: null }).resolve,
        handshakes: createSlots({ perHost: 8, total: 8, maxWaiting: 8 }),
        timings: { ...quickTimings, ...script.timings },
      }),
    },
    { ...(script.days === undefined ? {} : { days: script.days }), priority: script.priority ?? 'seeded' },
  );
  const { clock, epoch } = ports.time;
  const source = newSource(did, `http://127.0.0.1:${port}`, ports);
  const stop = new AbortController();
  const intake = createIntake(source, ports, () => undefined);
  let reading: Promise<unknown> = Promise.resolve();
  return {
    ...{ source, stored, gaps, withdrawn, quirks, unbalanced, epoch, memory },
    get connections() {
      return connections;
    },
    misses: ({ start, end }) => {
      const over = gaps.filter((gap) => gap.start < end && gap.end > start);
      let at = start;
      for (const gap of over.sort((a, b) => a.start - b.start)) if (gap.start <= at && gap.end > at) at = gap.end;
      return at < end;
    },
    take: async (rows, transport) => {
      await intake.take({ rows, transport, move: { kind: 'stay' } }, stop.signal);
    },
    session: () => {
      source.tracker.apply(asked(clock()));
      return streamSession(source, intake, ports, stop.signal);
    },
    read: () => {
      reading = readSource(source, ports, stop.signal);
    },
    close: async () => {
      stop.abort();
      await reading;
      for (const client of server.clients) client.terminate();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Quirk = (typeof quirks)[number];

type LabelQuery = ReaderPorts['query'];

/** In-memory reader ports, and the data that readers recorded through these ports. */
interface ScriptedPorts {
  readonly ports: ReaderPorts;
  /** Values of the stored labels. */
  readonly stored: Set<string>;
  /** Gaps that a reader recorded, in order. */
  readonly gaps: StoredGap[];
  /** Gaps that a reader withdrew, in order. */
  readonly withdrawn: StoredGap[];
  readonly quirks: Quirk[];
  /** Numbers of items without an outcome, one for each account that was not balanced. */
  readonly unbalanced: number[];
}

/** Ports that a test replaces with its own. */
export type OwnPorts = Partial<
  Pick<ReaderPorts, 'gaps'> &
    Pick<LabelQuery, 'memory' | 'streams'> &
    Pick<ReaderPorts['acceptance'], 'accept' | 'purges'> &
    Pick<ReaderTime, 'random' | 'timings' | 'wait'>
>;

/** Creates ports that record in memory. The epoch began `days` days ago. */
export function scriptedPorts(
  over: Pick<LabelQuery, 'http' | 'openStream'> & OwnPorts,
  { days = 10, priority = 'seeded' }: { readonly days?: number; readonly priority?: PriorityClass } = {},
): ScriptedPorts {
  const clock = () => micros(Math.round((performance.timeOrigin + performance.now()) * 1000));
  const stored = new Set<string>();
  const gaps: StoredGap[] = [];
  const withdrawn: StoredGap[] = [];
  const quirks: Quirk[] = [];
  const unbalanced: number[] = [];
  const shareOf = (source: string) => ({ priority, domain: source, source }) as const;
  const usage = new SourceUsage();
  const waiting = over.wait ?? wait;
  const ports: ReaderPorts = {
    query: {
      ...{ http: over.http, openStream: over.openStream },
      memory: over.memory ?? createInputMemory(),
      streams: over.streams ?? createSlots({ perHost: 32, total: 100, maxWaiting: 0 }),
    },
    acceptance: {
      accept:
        over.accept ??
        (({ observations }) => {
          const before = stored.size;
          for (const { label } of observations) stored.add(label.val);
          return Promise.resolve(stored.size - before);
        }),
      verify: (_, rows) => Promise.resolve(rows.map(() => 'unsigned' as const)),
      refused: new RefusedMemory(),
      repeats: { find: () => Promise.resolve(noChanges), load: () => false },
      filledIn: new FilledIn(),
      purges: over.purges ?? { requestedAt: () => null },
      cap: new DailyCap({ clock, shareOf, isNew: () => false, budgetBytes: () => 1e9, isTight: () => false }),
      usage,
      clockGeneration: () => 0,
    },
    gaps: over.gaps ?? {
      change: ({ kind, gap }) => Promise.resolve(void (kind === 'record' ? gaps : withdrawn).push(gap)),
    },
    time: {
      ...{ clock, epoch: micros(clock() - days * day), random: over.random ?? (() => 0), wait: waiting },
      timings: over.timings ?? { ...quickTimings, pollMs: 50, resumeMs: 200, firstRetryMs: 10, maxRetryMs: 20 },
    },
    pace: new Pace({ shareOf, monotonic: () => performance.now() * 1000, wait: waiting, usage }),
    report: {
      ...{ log: silentLog, suspectDocument: () => undefined },
      telemetry: {
        ...noTelemetry,
        quirk: (quirk) => void quirks.push(quirk),
        unbalanced: (items) => void unbalanced.push(items),
      },
    },
  };
  return { ports, stored, gaps, withdrawn, quirks, unbalanced };
}

/** Creates a source with a stored state, or a source that was never read. */
export function newSource(
  did: string,
  endpoint: string,
  { time }: Pick<ReaderPorts, 'time'>,
  tracked = untracked(time.clock()),
): Source {
  const tracker = new Tracker(did, tracked);
  return new Source({ did, endpoint, peer: { source: did, privileged: false } }, tracker, noPosition);
}

/** Sets the position of a source as if every row up to it had been stored. */
export function resumeAt(source: Source, position: ReadPosition): void {
  source.apply({ kind: 'committed', move: { kind: 'stay' }, position });
}

/** A page of one source without labels and without a position. */
export const emptyPage: AcceptedPage = {
  ...{ source: 'did:web:a.test', observations: [], refusals: [], positions: [], clockGeneration: 0 },
};

/** Creates the event for the start of an attempt to read a source. */
export function asked(now: Micros): ReadingEvent {
  return { kind: 'asked', now };
}

/** Creates the event for the admission of a source's page or frames. */
export function answered(
  now: Micros,
  { dated, undated, live = false }: { readonly dated: number; readonly undated: number; readonly live?: boolean },
): ReadingEvent {
  return { kind: 'answered', now, dated, undated, live: live ? now : null };
}

/** Creates the event for a failed attempt to read a source. */
export function failed(now: Micros, fault: NonNullable<SourceFault['fault']>): ReadingEvent {
  return { kind: 'failed', now, fault };
}

/** Creates the event for a source that has been read completely from `reached` to `now`. */
export function caughtUp(reached: Micros, now: Micros): ReadingEvent {
  return { kind: 'caught_up', now, through: now, reached, before: { since: reached, target: reached } };
}
