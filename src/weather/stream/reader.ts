import { setTimeout as wait } from 'node:timers/promises';
import { inputLimits } from '../../input/limits.ts';
import { type Backoff, type BackoffOptions, createBackoff } from '../../network/websocket/backoff.ts';
import { ConnectError, type GuardedSocket, type SocketOptions } from '../../network/websocket/websocket.ts';
import type { Log } from '../../ops/log.ts';

import type { Classifier, Notice } from '../classify/event-body.ts';
import { describeHandshakeRefusal, type Endpoint, subscribeUrl } from '../window/endpoint.ts';
import type { Track } from '../window/track.ts';
import { type Dictionaries, decompressor } from './dictionary.ts';
import type { ReaderRole, WeatherTelemetry } from './telemetry.ts';

/** Websocket subprotocol of `subscribeEvents`. */
const methodProtocol = 'xrpc.v1.json';

/** Maximum size of a frame before and after decompression, in bytes. */
export const maxFrameBytes = Math.max(inputLimits.weatherFrame.bytes, inputLimits.eventFrame.bytes);
/** Interval between checks of a connection, in milliseconds. */
const lookMs = 250;

/** Opens a connection. The function is `openSocket` with the limits of the instrument. */
export type Connect = (
  options: Pick<SocketOptions, 'url' | 'onFrame' | 'isCostly' | 'isTransient' | 'protocol'>,
  signal: AbortSignal,
) => Promise<GuardedSocket>;

/** Dependencies shared by all readers of a host. */
export interface ReaderContext {
  readonly endpoint: Endpoint;
  readonly connect: Connect;
  readonly backoff: BackoffOptions;
  /** Provides the dictionaries for compressed live reading. */
  readonly dictionaries: Dictionaries;
  /** Creates a classifier for the host's protocol. */
  readonly classifier: () => Classifier;
  /** Returns the time of this machine's wall clock, in milliseconds. */
  readonly clock: () => number;
  readonly log: Log;
  readonly telemetry: WeatherTelemetry;
}

/** Task of one reader: its track, and callbacks for the start and end of its connections. */
export interface ReaderTask {
  readonly role: ReaderRole;
  readonly track: Track;
  /**
   * Prepares the next connection. Returns its cursor, null to begin at the present, or `give_up` to end the reader.
   * `fruitless` is the number of consecutive connections that were rejected or delivered no event.
   */
  readonly begin: (fruitless: number) => number | null | 'give_up';
  /** Called with the number of bytes of each frame. Returns true to end the reader. */
  readonly read?: (bytes: number) => boolean;
  /** Returns how long the stream may be silent before the connection is closed, in microseconds. */
  readonly silenceUs: () => number;
  /** Called when the host responds that it is still downloading the network's repositories. */
  readonly bootstrapping?: () => void;
  /** Called when the reader reaches the end of the track. */
  readonly reached?: () => void;
  /** Called when the track has reached its maximum size and must be committed. */
  readonly full: () => void;
}

/**
 * Runs a reader: connects, reads and reconnects until the signal aborts, the track ends, or `begin` returns `give_up`.
 */
export async function runReader(context: ReaderContext, task: ReaderTask, signal: AbortSignal): Promise<void> {
  const backoff = createBackoff(context.backoff);
  const feed = createFeed(context, task);
  let fruitless = 0;
  /**
   * True while the handshake offers the subprotocol. A proxy might not return the subprotocol; the frames are the
   * same without it.
   */
  let offersProtocol = context.endpoint.wire === 'jetstream.subscribeEvents';
  while (!signal.aborted && !feed.finished()) {
    const cursor = task.begin(fruitless);
    if (cursor === 'give_up') return;
    // Read a backlog without compression, because decompression would slow it down.
    const dictionary = task.role === 'live' ? await context.dictionaries.current(signal) : null;
    feed.start(dictionary);
    const protocol = offersProtocol ? methodProtocol : null;
    const cause = await connection(context, task, feed, { cursor, dictionary, protocol }, signal);
    if (signal.aborted || feed.finished()) return;
    context.telemetry.disconnected(task.role, cause.name);
    if (cause.name === 'handshake')
      offersProtocol = context.endpoint.wire === 'jetstream.subscribeEvents' && !offersProtocol;
    if (cause.error === 'CursorTooOld') task.track.tooOld();
    if (cause.bootstrapping) task.bootstrapping?.();
    if (feed.fruitful()) {
      fruitless = 0;
      backoff.reset();
    } else if (cause.refused || (cause.answered && feed.empty())) {
      fruitless += 1;
      if (dictionary !== null && cause.error !== 'CursorTooOld') {
        context.log.warn("the dictionary does not match the host's; reading continues without compression");
        context.dictionaries.refused();
      }
    }
    await pause(context, task.role, cause, backoff, signal);
  }
}

/** Reason why a connection ended, and how the host responded. */
interface Cause {
  readonly name: string;
  /** True if the host accepted the connection. */
  readonly answered: boolean;
  /** True if the host rejects this cursor, or sends frames that cannot be read. */
  readonly refused: boolean;
  /** Name of the error with which the handshake was rejected, or null if the host sent none. */
  readonly error: string | null;
  /** True if the host does not serve events yet, because it is downloading the network's repositories. */
  readonly bootstrapping: boolean;
  readonly why: string;
}

/** Text in a Jetstream's response of status 503 while it downloads all repositories, in both protocols. */
const bootstrapText = 'bootstrap in progress';

async function connection(
  { endpoint, connect, telemetry, log }: ReaderContext,
  { role }: ReaderTask,
  feed: Feed,
  { cursor, dictionary, protocol }: { cursor: number | null; dictionary: Buffer | null; protocol: string | null },
  signal: AbortSignal,
): Promise<Cause> {
  let socket: GuardedSocket;
  try {
    const number = dictionary === null ? null : dictionaryNumber(dictionary);
    const url = subscribeUrl(endpoint, { cursor, dictionary: number });
    // A compressed frame of a few bytes may expand to a megabyte.
    const isCostly = dictionary !== null;
    const reading = { url, onFrame: feed.frame, isCostly, isTransient: true };
    socket = await connect({ ...reading, ...(protocol === null ? {} : { protocol }) }, signal);
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    const refused = error.kind === 'handshake_status' && !error.retryable;
    const why = describeHandshakeRefusal(endpoint, error.status) ?? error.message;
    const bootstrapping = error.status === 503 && error.answer.includes(bootstrapText);
    return { name: error.kind, answered: false, refused, error: error.error, bootstrapping, why };
  }
  telemetry.connected(role);
  const from = cursor === null ? 'live' : 'cursor';
  log.info('connected', {
    reader: role,
    endpoint: endpoint.name,
    from,
    ...(dictionary === null ? {} : { compressed: true }),
  });
  const watch = setInterval(() => {
    if (feed.finished() || feed.silent()) socket.close();
  }, lookMs);
  const info = await socket.closed;
  clearInterval(watch);
  const notice = feed.notice();
  const name = closingNotices[notice] ?? (info.reason === 'local_close' ? 'silence' : info.reason);
  const code = info.reason === 'remote_close' ? ` (${info.code})` : '';
  const refused = name === 'too_large' || name === 'protocol_error';
  return {
    name,
    answered: true,
    refused,
    error: null,
    bootstrapping: false,
    why: `the connection to ${endpoint.name} ended: ${name}${code}`,
  };
}

/** Reasons for the end of a connection that the host closed with a notice. */
const closingNotices: Readonly<Partial<Record<Notice, string>>> = {
  too_slow: 'consumer_too_slow',
  error: 'host_error',
};

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
    // Ignore an abort during the wait, because the loop checks the signal.
  });
}

/** Consumes the frames of one reader's connections. */
interface Feed {
  readonly frame: SocketOptions['onFrame'];
  /** Prepares for a new connection. `dictionary` is null if its frames are not compressed. */
  start(dictionary: Buffer | null): void;
  /** Returns the host's last notice on this connection. */
  notice(): Notice;
  /** Returns true if the last connection delivered at least one new event. */
  fruitful(): boolean;
  /** Returns true if the last connection delivered no event at all, whether new or already counted. */
  empty(): boolean;
  /**
   * Returns true if no event has arrived for too long. Pongs do not count, because they prove only that the socket
   * works.
   */
  silent(): boolean;
  finished(): boolean;
}

function createFeed({ clock, classifier }: ReaderContext, { track, read, silenceUs, reached, full }: ReaderTask): Feed {
  const classify = classifier();
  let plain: (data: Buffer, isBinary: boolean) => Buffer = unchanged;
  let notice: Notice = 'none';
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
      const facts = classify(plain(data, isBinary));
      if (facts.outcome === 'notice') notice = facts.notice;
      const outcome = track.frame(facts);
      if (track.full) full();
      if (outcome === 'beyond_end') reached?.();
      if (outcome === 'counted' || outcome === 'resync') news = true;
      if (outcome === 'counted' || outcome === 'resync' || outcome === 'skipped' || outcome === 'late_or_repeat')
        came = true;
    },
    start: (dictionary) => {
      plain = dictionary === null ? unchanged : decompressor(dictionary, maxFrameBytes);
      notice = 'none';
      news = false;
      came = false;
      empty = true;
      over = false;
      lastMs = clock();
    },
    notice: () => notice,
    fruitful: () => news,
    empty: () => empty && !came,
    silent: () => {
      if (came) {
        lastMs = clock();
        empty = false;
      }
      came = false;
      // Require two consecutive checks, so that a busy process can read the waiting frames before the second check.
      const before = over;
      over = (clock() - lastMs) * 1000 > silenceUs();
      return over && before;
    },
    finished: () => spent || track.done,
  };
}

function unchanged(data: Buffer): Buffer {
  return data;
}

/** Returns the id that a dictionary contains. */
function dictionaryNumber(dictionary: Buffer): number {
  return dictionary.readUInt32LE(4);
}
