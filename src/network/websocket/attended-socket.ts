import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { systemCode } from '../../ops/errors.ts';
import type { AddressPolicy, Resolve } from '../guard/address-policy.ts';
import { type Liveness, type LivenessOptions, watchLiveness } from './liveness.ts';
import { type PartialMessage, type PartialMessageOptions, watchPartialMessage } from './partial-message.ts';

/** The URL of a websocket and the limits of its connection, with all times in milliseconds. */
export interface SocketOptions extends LivenessOptions, PartialMessageOptions {
  /** URL of the websocket: `wss:`, or `ws:` to loopback if the policy allows it. */
  readonly url: string;
  readonly policy: AddressPolicy;
  /** Subprotocol offered in the handshake. */
  readonly protocol?: string;
  /** Timeout of the whole opening, in milliseconds: resolution, TCP, TLS and the response to the handshake. */
  readonly handshakeMs: number;
  /** Timeout of a closing handshake, in milliseconds. */
  readonly closeMs: number;
  /** Texts of the peer's close frame that are reported as `CloseInfo.name`; none by default. */
  readonly closeNames?: readonly string[];
  /** Maximum size of a message with all its fragments, in bytes; a larger one ends the connection as `too_large`. */
  readonly maxFrameBytes: number;
  /** Maximum number of fragments of a message, 256 by default; more end the connection as `too_large`. */
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
  /** Resolves the host of the URL to its addresses. */
  readonly resolve: Resolve;
  /** Value of the `User-Agent` header of the handshake. */
  readonly userAgent: string;
}

/** Reason why an open connection ended. */
export type CloseInfo =
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
  /** Closes the connection from this side; `closed` resolves when the connection has ended. */
  close(): void;
}

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
  #isPaused = false;
  /** First reason why the connection ended; later errors follow from it. */
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
      if (this.#ending || !Buffer.isBuffer(data)) return;
      this.#liveness?.message();
      this.#partial.message(data.length);
      options.onFrame(data, isBinary);
    });
    ws.on('ping', (data) => this.#control(data));
    ws.on('pong', (data) => this.#control(data));
    // Protocol violations arrive as errors; ws then closes the connection with the right code, within `closeMs`.
    ws.on('error', (error) => this.#end(reasonOf(error)));
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
    // Resume reading, so that the peer's response to the close frame is received.
    this.#ws.resume();
    this.#ws.close(1000);
  }

  #control(data: Buffer): void {
    this.#liveness?.control();
    this.#partial.control(data.length);
  }

  #opened(phase: Phase): void {
    // This listener runs after that of ws, so the messages that a chunk completes are already delivered.
    phase.socket?.on('data', (chunk: Buffer) => {
      if (!this.#ending) this.#partial.chunk(chunk.length);
    });
    this.#liveness = watchLiveness(this.#options, {
      ping: () => this.#ws.ping(),
      // Terminate without a closing handshake, because a dead peer would not respond to one.
      dead: (reason) => this.#terminate({ reason }),
    });
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

function reasonOf(error: Error): CloseInfo {
  const code = systemCode(error);
  if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || code === 'WS_ERR_TOO_MANY_BUFFERED_PARTS') {
    return { reason: 'too_large' };
  }
  return { reason: code?.startsWith('WS_ERR_') ? 'protocol_error' : 'dropped' };
}
