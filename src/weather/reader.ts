import { setTimeout as wait } from 'node:timers/promises';
import { inputLimits } from '../input/limits.ts';
import { type Backoff, type BackoffOptions, createBackoff } from '../network/backoff.ts';
import { ConnectError } from '../network/connect-error.ts';
import type { GuardedSocket, SocketOptions } from '../network/websocket.ts';
import type { Log } from '../ops/log.ts';
import { createClassifier } from './classify.ts';
import { decompressor } from './compression.ts';
import { type Endpoint, subscribeUrl } from './endpoint.ts';
import type { ReaderRole, WeatherTelemetry } from './telemetry.ts';
import type { Track } from './track.ts';

/** Longest frame taken, in bytes, decompressed too. */
export const maxFrameBytes = inputLimits.weatherFrame.bytes;
/** Interval between checks of a connection, in milliseconds. */
const lookMs = 250;

/** Opens a connection; `openSocket` with the limits of the instrument. */
export type Connect = (url: string, onFrame: SocketOptions['onFrame'], signal: AbortSignal) => Promise<GuardedSocket>;

/** Dependencies that all readers of a host share. */
export interface ReaderContext {
  readonly endpoint: Endpoint;
  readonly connect: Connect;
  readonly backoff: BackoffOptions;
  /** The host's zstd dictionary: live reading asks for compressed frames. Null: frames come as they are. */
  readonly dictionary: Buffer | null;
  /** This machine's wall clock, milliseconds. */
  readonly clock: () => number;
  readonly log: Log;
  readonly telemetry: WeatherTelemetry;
}

/** One reader: what it reads into, and how each of its connections begins. */
export interface ReaderTask {
  readonly role: ReaderRole;
  readonly track: Track;
  /**
   * Begins a connection on the track, and returns its cursor, null for live. `fruitless`: how many connections in a
   * row were refused or brought nothing at all. `give_up` ends the reader.
   */
  readonly begin: (fruitless: number) => number | null | 'give_up';
  /** Bytes were read. True ends the reader. */
  readonly read?: (bytes: number) => boolean;
  /** Silence that ends a connection, in microseconds. */
  readonly silenceUs: () => number;
  /** The end of the track was reached just now. */
  readonly reached?: () => void;
  /** So much is open that it must be committed now. */
  readonly full: () => void;
}

/** Reads until the signal, the end of the track, or giving up: connects, feeds, and connects again. */
export async function runReader(context: ReaderContext, task: ReaderTask, signal: AbortSignal): Promise<void> {
  const backoff = createBackoff(context.backoff);
  const feed = createFeed(context, task);
  let fruitless = 0;
  // A backlog is read as it is: decompressing would set its pace.
  let compressed = context.dictionary !== null && task.role === 'live';
  while (!signal.aborted && !feed.finished()) {
    const cursor = task.begin(fruitless);
    if (cursor === 'give_up') return;
    feed.start();
    const cause = await connection(context, task, feed, { cursor, compressed }, signal);
    if (signal.aborted || feed.finished()) return;
    context.telemetry.disconnected(task.role, cause.name);
    if (feed.fruitful()) {
      fruitless = 0;
      backoff.reset();
    } else if (cause.refused || (cause.answered && feed.empty())) {
      fruitless += 1;
      if (compressed) context.log.warn("the dictionary does not match the host's; reading without compression");
      compressed = false;
    }
    await pause(context, task.role, cause, backoff, signal);
  }
}

/** Why a connection ended. */
interface Cause {
  readonly name: string;
  /** The host was there. */
  readonly answered: boolean;
  /** It will not serve this cursor, or what it serves there cannot be taken. */
  readonly refused: boolean;
  readonly why: string;
}

async function connection(
  { endpoint, connect, telemetry, log }: ReaderContext,
  { role }: ReaderTask,
  feed: Feed,
  { cursor, compressed }: { cursor: number | null; compressed: boolean },
  signal: AbortSignal,
): Promise<Cause> {
  let socket: GuardedSocket;
  try {
    socket = await connect(subscribeUrl(endpoint, cursor, compressed), feed.frame, signal);
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const refused = error.kind === 'handshake_status' && !error.retryable;
    return { name: error.kind, answered: false, refused, why: error.message };
  }
  telemetry.connected(role);
  const from = cursor === null ? 'live' : 'cursor';
  log.info('connected', { reader: role, endpoint: endpoint.name, from, ...(compressed ? { compressed } : {}) });
  const watch = setInterval(() => {
    if (feed.finished() || feed.silent()) socket.close();
  }, lookMs);
  const info = await socket.closed;
  clearInterval(watch);
  const name = info.reason === 'local_close' ? 'silence' : info.reason;
  const code = info.reason === 'remote_close' ? ` (${info.code})` : '';
  const refused = name === 'too_large' || name === 'protocol_error';
  return { name, answered: true, refused, why: `the connection to ${endpoint.name} ended: ${name}${code}` };
}

async function pause(
  { log }: ReaderContext,
  role: ReaderRole,
  cause: Cause,
  backoff: Backoff,
  signal: AbortSignal,
): Promise<void> {
  const ms = backoff.next();
  log.warn(cause.why, { reader: role, cause: cause.name, retryInMs: ms });
  await wait(ms, undefined, { signal }).catch(() => {
    // Stopped while it waited: the loop sees the signal.
  });
}

/** Consumer of the frames of one reader's connections. */
interface Feed {
  readonly frame: SocketOptions['onFrame'];
  /** A connection is about to be made. */
  start(): void;
  /** True if the last connection delivered anything new. */
  fruitful(): boolean;
  /** True if the last connection delivered no event at all, not even one that was counted before. */
  empty(): boolean;
  /** True if the feed has been silent for too long: a pong proves that the socket works, not the feed. */
  silent(): boolean;
  finished(): boolean;
}

function createFeed({ clock, dictionary }: ReaderContext, { track, read, silenceUs, reached, full }: ReaderTask): Feed {
  const classify = createClassifier();
  const plain = dictionary ? decompressor(dictionary, maxFrameBytes) : (data: Buffer) => data;
  let news = false;
  let came = false;
  let empty = true;
  let over = false;
  let lastMs = 0;
  let spent = false;
  return {
    frame: (data, isBinary) => {
      if (spent || track.done) return;
      if (read?.(data.length)) {
        spent = true;
        return;
      }
      const outcome = track.frame(classify(plain(data, isBinary)));
      if (track.full) full();
      if (outcome === 'beyond_end') reached?.();
      if (outcome === 'counted') news = true;
      if (outcome === 'counted' || outcome === 'skipped' || outcome === 'late_or_repeat') came = true;
    },
    start: () => {
      news = false;
      came = false;
      empty = true;
      over = false;
      lastMs = clock();
    },
    fruitful: () => news,
    empty: () => empty && !came,
    silent: () => {
      if (came) {
        lastMs = clock();
        empty = false;
      }
      came = false;
      // Twice in a row: after this process was busy, what came meanwhile is read before the second look.
      const before = over;
      over = (clock() - lastMs) * 1000 > silenceUs();
      return over && before;
    },
    finished: () => spent || track.done,
  };
}
