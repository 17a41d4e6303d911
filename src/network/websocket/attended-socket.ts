import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { WebSocket } from 'ws';
import { systemCode } from '../../ops/errors.ts';
import { threadCpuMs } from '../../ops/process.ts';
import type { AddressPolicy, Resolve } from '../guard/address-policy.ts';
import { FrameLane, type PartialMessage, type PartialMessageOptions, watchPartialMessage } from './partial-message.ts';

/** The URL of a websocket and the limits of its connection, with all times in milliseconds. */
export interface SocketOptions extends LivenessOptions, PartialMessageOptions {
  /** URL of the websocket: `wss:`, or `ws:` to loopback if the policy allows it. */
  readonly url: string;
  readonly policy: AddressPolicy;
  /**
   * TLS context that the caller shares between its connections. Without it, Node creates one for each connection, which
   * takes 18 KB of memory and 0.25 ms of processor time.
   */
  readonly secureContext?: SecureContext;
  /** Subprotocol offered in the handshake. */
  readonly protocol?: string;
  /** Timeout of the whole opening, in milliseconds: resolution, TCP, TLS and the response to the handshake. */
  readonly handshakeMs: number;
  /** Timeout of a closing handshake, in milliseconds. */
  readonly closeMs: number;
  /** Close reasons of the peer that are reported as `CloseInfo.name`; none by default. */
  readonly closeNames?: readonly string[];
  /**
   * Maximum size of a message with all its fragments, in bytes; a larger message ends the connection as `too_large`.
   */
  readonly maxFrameBytes: number;
  /** Maximum number of fragments of a message, 256 by default; more fragments end the connection as `too_large`. */
  readonly maxFragments?: number;
  /**
   * Called synchronously with each message, in order; not after `close` or an abort. The first message may arrive
   * before the promise of `openSocket` has resolved. The bytes may share memory with other messages, so a callback that
   * keeps them must copy them. Must not throw.
   */
  readonly onFrame: (data: Buffer, isBinary: boolean) => void;
  /**
   * True if `onFrame` may take milliseconds for a small message: each message then gets its own turn of the event loop.
   * One read contains thousands of small messages, which would otherwise be delivered in one turn.
   */
  readonly isCostly?: boolean;
  /**
   * True if nothing refers to the bytes of a message after `onFrame` has returned. Their memory is then reused for
   * the next read and stays in the processor's cache, so a backlog is read about a fifth faster.
   */
  readonly isTransient?: boolean;
  /**
   * Called after each read with the processor time of all its frames, including `onFrame`, in milliseconds. Pings,
   * pongs and fragments are reported to no other callback, although they also cost time. Must not throw.
   */
  readonly onRead?: (cpuMs: number) => void;
  /** Resolves the host of the URL to its addresses. */
  readonly resolve: Resolve;
  /** Value of the `User-Agent` header of the handshake. */
  readonly userAgent: string;
}

/** Reason why an open connection ended. */
type CloseInfo =
  /**
   * The peer closed the connection with this code (1005 if the frame had no code). The text of the close frame is
   * discarded, because it could contain anything; `name` is set if the text is one of `closeNames`.
   */
  | { readonly reason: 'remote_close'; readonly code: number; readonly name?: string }
  | { readonly reason: 'local_close' }
  /** The transport ended without a closing handshake. */
  | { readonly reason: 'dropped' }
  | { readonly reason: 'pong_timeout' }
  | { readonly reason: 'idle' }
  | { readonly reason: 'too_large' }
  | { readonly reason: 'protocol_error' };

/** An open websocket. */
export interface GuardedSocket {
  /** Resolves once the connection has ended and its resources are released; never rejects. */
  readonly closed: Promise<CloseInfo>;
  /** Stops reading, so that the peer must wait; messages already read may still arrive. Deadlines are suspended. */
  pause(): void;
  resume(): void;
  /**
   * Closes the connection from this side; `closed` resolves when the connection has ended. No byte that arrives after
   * this call is parsed, and a peer that sends more than `maxClosingBytes` is disconnected.
   */
  close(): void;
}

/**
 * Maximum number of bytes received from the peer after `close`. The peer's last frames may still arrive before its
 * response; a peer that goes on sending would otherwise cost processor time until `closeMs`, on every connection of a
 * process that stops.
 */
const maxClosingBytes = 256 * 1024;

/** Last phase that the connection reached while it opened, to attribute a failure. */
export interface Phase {
  now: 'dns' | 'connect' | 'tls' | 'handshake';
  /** Transport of the connection, once opened. */
  socket?: Socket;
}

/**
 * Handler of the events of one socket, from its creation to its end. Deadlines apply from the opening of the
 * connection.
 */
export class AttendedSocket implements GuardedSocket {
  readonly closed: Promise<CloseInfo>;
  readonly #ws: WebSocket;
  readonly #options: SocketOptions;
  readonly #partial: PartialMessage;
  #liveness: Liveness | null = null;
  /** Function that stops taking messages from the chunks of the transport. */
  #leaveLane: () => void = () => undefined;
  #isPaused = false;
  /** Transport of the open connection. */
  #transport: Socket | null = null;
  /** First reason why the connection ended; all errors after it are consequences. */
  #ending: CloseInfo | null = null;

  constructor(ws: WebSocket, options: SocketOptions, phase: Phase) {
    this.#ws = ws;
    this.#options = options;
    this.#partial = watchPartialMessage(options, {
      pause: () => ws.pause(),
      resume: () => {
        if (!this.#isPaused) ws.resume();
      },
      late: () => this.#terminate({ reason: 'dropped' }),
    });
    const { promise, resolve } = Promise.withResolvers<CloseInfo>();
    this.closed = promise;
    ws.on('open', () => this.#opened(phase));
    ws.on('message', (data, isBinary) => {
      if (Buffer.isBuffer(data)) this.#message(data, isBinary);
    });
    ws.on('ping', (data) => this.#control(data));
    ws.on('pong', (data) => this.#control(data));
    // Protocol violations arrive as errors; ws then closes the connection with the right code, within `closeMs`.
    ws.on('error', (error) => {
      this.#leaveLane();
      this.#end(reasonOf(error));
      if (this.#transport) discardUntilEnd(this.#transport);
    });
    ws.on('close', (code, text) => resolve(this.#closed(code, text)));
  }

  pause(): void {
    if (this.#ending) return;
    this.#isPaused = true;
    this.#partial.setReading(false);
    this.#liveness?.pause();
    this.#ws.pause();
  }

  resume(): void {
    if (this.#ending) return;
    this.#isPaused = false;
    this.#partial.setReading(true);
    if (!this.#partial.isWaiting) this.#ws.resume();
    this.#liveness?.resume();
  }

  close(): void {
    if (!this.#end({ reason: 'local_close' })) return;
    this.#ws.close(1000);
    if (this.#transport) discardUntilEnd(this.#transport);
  }

  #message(data: Buffer, isBinary: boolean): void {
    if (this.#ending) return;
    this.#liveness?.message();
    this.#partial.message(data.length);
    this.#options.onFrame(data, isBinary);
  }

  #control(data: Buffer): void {
    this.#liveness?.control();
    this.#partial.control(data.length);
  }

  #opened(phase: Phase): void {
    const { socket } = phase;
    this.#transport = socket ?? null;
    if (socket && !this.#enterLane(socket)) this.#watchChunks(socket);
    this.#liveness = new Liveness(this.#options, {
      ping: () => this.#ws.ping(),
      // Terminate without a closing handshake, because a dead peer would not respond to one.
      dead: (reason) => this.#terminate({ reason }),
    });
  }

  /**
   * Records each chunk that ws reads. Must be called after ws listens, so that the messages that a chunk completes are
   * recorded before the chunk.
   */
  #watchChunks(socket: Socket): void {
    let begun = 0;
    socket.prependListener('data', () => {
      begun = this.#beginRead();
    });
    socket.on('data', (chunk: Buffer) => this.#endRead(chunk.length, begun));
  }

  #beginRead(): number {
    return this.#options.onRead ? threadCpuMs() : 0;
  }

  #endRead(bytes: number, begun: number): void {
    if (this.#ending) return;
    this.#partial.chunk(bytes);
    this.#options.onRead?.(threadCpuMs() - begun);
  }

  /**
   * Takes complete messages from the chunks of the transport, and passes all other bytes to the listener of ws. Returns
   * false and leaves all bytes to ws if messages are costly, or if ws does not listen as expected.
   */
  #enterLane(socket: Socket): boolean {
    const { isCostly, isTransient = false, maxFrameBytes } = this.#options;
    const [library, ...others] = socket.listeners('data') as ((chunk: Buffer) => void)[];
    if (isCostly === true || !library || others.length > 0) return false;
    const lane = new FrameLane({
      maxBytes: maxFrameBytes,
      message: (data, isBinary) => this.#message(data, isBinary),
      rest: (bytes, isLast) => {
        // The consumer may have closed the connection at a message of this chunk; ws must then not listen again.
        if (this.#ending) return;
        if (isLast) {
          this.#leaveLane();
          // Restore the listener of ws before passing these bytes, because ws removes its listener at a close frame.
          socket.on('data', library);
        }
        // Copy bytes whose memory is reused, because ws keeps the pieces of an incomplete message.
        library.call(socket, isTransient ? Buffer.from(bytes) : bytes);
      },
    });
    const read = (chunk: Buffer): void => {
      const { length } = chunk;
      const begun = this.#beginRead();
      const stays = lane.chunk(chunk);
      this.#endRead(length, begun);
      if (isTransient) releaseMemory(chunk);
      if (!stays && !this.#ending) this.#watchChunks(socket);
    };
    this.#leaveLane = () => socket.off('data', read);
    socket.on('data', read);
    socket.off('data', library);
    return true;
  }

  #terminate(info: CloseInfo): void {
    if (this.#end(info)) this.#ws.terminate();
  }

  /** Records the reason for the end of the connection. Returns true only for the first reason of a connection. */
  #end(info: CloseInfo): boolean {
    if (this.#ending) return false;
    this.#ending = info;
    this.#liveness?.stop();
    this.#partial.stop();
    return true;
  }

  #closed(code: number, text: Buffer): CloseInfo {
    const name = this.#options.closeNames?.find((one) => text.equals(Buffer.from(one)));
    const closing = { reason: 'remote_close', code, ...(name !== undefined && { name }) } as const;
    this.#end(code === 1006 ? { reason: 'dropped' } : closing);
    return this.#ending ?? { reason: 'dropped' };
  }
}

/**
 * Ends this side of a connection after its close frame, and discards what arrives until the peer ends its side. Reading
 * goes on even if it was paused: with unread bytes, the system would reset the connection, and the peer would possibly
 * not receive the close frame.
 */
function discardUntilEnd(socket: Socket): void {
  let received = 0;
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > maxClosingBytes) socket.destroy();
  });
  socket.end();
  socket.resume();
}

/**
 * Frees the memory of a chunk without waiting for the garbage collector, unless the chunk is part of a larger buffer.
 */
function releaseMemory({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0);
}

function reasonOf(error: Error): CloseInfo {
  const code = systemCode(error);
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || code === 'WS_ERR_TOO_MANY_BUFFERED_PARTS') {
    return { reason: 'too_large' };
  }
  return { reason: code?.startsWith('WS_ERR_') ? 'protocol_error' : 'dropped' };
}

/** Deadlines of an open connection, in milliseconds. */
interface LivenessOptions {
  /** Interval between pings, in milliseconds. */
  readonly pingMs: number;
  /** Maximum time in milliseconds from a ping to a pong or other data. */
  readonly pongMs: number;
  /** Maximum time in milliseconds without a message, even if the peer responds to pings. */
  readonly idleMs: number;
}

/** Callbacks of a connection watch. */
interface LivenessActions {
  /** Sends a ping. */
  readonly ping: () => void;
  /** Called when the peer has missed a deadline. */
  readonly dead: (why: 'pong_timeout' | 'idle') => void;
}

/**
 * Watches a connection, to detect a dead peer. Silence is counted in ticks of a timer and not by a clock: a late tick
 * of a busy process counts once, so time in which the process did not read is not counted as silence of the peer. A
 * missed deadline is detected with a delay of at most a quarter of the shortest deadline.
 */
class Liveness {
  readonly #act: LivenessActions;
  readonly #ticks: { readonly ping: number; readonly pong: number; readonly idle: number };
  readonly #timer: NodeJS.Timeout;
  #messageCame = false;
  #controlCame = false;
  #silentTicks = 0;
  #ticksToPing: number;
  /** Number of ticks since the first unanswered ping, or null if no ping awaits a response. */
  #unanswered: number | null = null;
  #isPaused = false;

  constructor({ pingMs, pongMs, idleMs }: LivenessOptions, act: LivenessActions) {
    const tickMs = Math.max(1, Math.floor(Math.min(pingMs, pongMs, idleMs) / 4));
    const ticks = (milliseconds: number): number => Math.ceil(milliseconds / tickMs);
    this.#act = act;
    this.#ticks = { ping: ticks(pingMs), pong: ticks(pongMs), idle: ticks(idleMs) };
    this.#ticksToPing = this.#ticks.ping;
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  /** Records the arrival of a message. Only sets a flag, because it runs for every message. */
  message(): void {
    this.#messageCame = true;
  }

  /** Records the arrival of a ping or pong. */
  control(): void {
    this.#controlCame = true;
  }

  /** Suspends the deadlines while this process does not read. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#messageCame = false;
    this.#controlCame = false;
    this.#silentTicks = 0;
    this.#unanswered = null;
    this.#ticksToPing = this.#ticks.ping;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    if (this.#isPaused) return;
    if (this.#messageCame || this.#controlCame) this.#unanswered = null;
    this.#silentTicks = this.#messageCame ? 0 : this.#silentTicks + 1;
    this.#messageCame = false;
    this.#controlCame = false;
    if (this.#unanswered !== null) this.#unanswered += 1;
    if (this.#silentTicks >= this.#ticks.idle) this.#act.dead('idle');
    else if (this.#unanswered !== null && this.#unanswered >= this.#ticks.pong) this.#act.dead('pong_timeout');
    else this.#pingWhenDue();
  }

  #pingWhenDue(): void {
    this.#ticksToPing -= 1;
    if (this.#ticksToPing > 0) return;
    this.#ticksToPing = this.#ticks.ping;
    this.#unanswered ??= 0;
    this.#act.ping();
  }
}
