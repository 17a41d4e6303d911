import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { systemCode } from '../../ops/errors.ts';
import type { AddressPolicy, Resolve } from '../guard/address-policy.ts';
import { type Liveness, type LivenessOptions, watchLiveness } from './liveness.ts';
import { type PartialMessage, type PartialMessageOptions, watchPartialMessage } from './partial-message.ts';

/** The URL to connect to, and its limits; all times in milliseconds. */
export interface SocketOptions extends LivenessOptions, PartialMessageOptions {
  /** `wss:`; `ws:` only to loopback, where the policy allows that. */
  readonly url: string;
  readonly policy: AddressPolicy;
  /** The subprotocol that is offered. */
  readonly protocol?: string;
  /** Timeout of the whole opening: resolution, TCP, TLS and the response to the handshake. */
  readonly handshakeMs: number;
  /** Timeout of a closing handshake. */
  readonly closeMs: number;
  /** Texts of a peer's close frame that are passed on as `name`; none by default. */
  readonly closeNames?: readonly string[];
  /** Maximum size of a message with all its fragments, in bytes; a larger one ends the connection as `too_large`. */
  readonly maxFrameBytes: number;
  /**
   * Called with each message, in order, synchronously; not after `close` or an abort. The first may arrive before the
   * promise of `openSocket` has resolved. The bytes may share memory with others: copy what must last. Must not throw.
   */
  readonly onFrame: (data: Buffer, isBinary: boolean) => void;
  /** Name resolution. */
  readonly resolve: Resolve;
  /** `User-Agent` of the handshake. */
  readonly userAgent: string;
}

/** Reason why an open connection ended. */
export type CloseInfo =
  /**
   * The peer closed it with this code (1005: none). Its text is not kept, because it could contain anything; `name` is
   * set if the text is one of `closeNames`.
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
  /** Resolves when the connection is over and its resources are free; never rejects. */
  readonly closed: Promise<CloseInfo>;
  /** Stops reading, so that the peer must wait; messages already read may still arrive. Deadlines are suspended. */
  pause(): void;
  resume(): void;
  /** Closes from this side; `closed` resolves at the end. */
  close(): void;
}

/** Last phase that an attempt reached, to attribute a failure. */
export interface Phase {
  now: 'dns' | 'connect' | 'tls' | 'handshake';
  /** The transport, once it exists. */
  socket?: Socket;
}

/** Handles the events of a socket from its creation to its end; deadlines run from its opening. */
export class AttendedSocket implements GuardedSocket {
  readonly closed: Promise<CloseInfo>;
  readonly #ws: WebSocket;
  readonly #options: SocketOptions;
  readonly #partial: PartialMessage;
  #liveness: Liveness | null = null;
  #isPaused = false;
  /** The first reason; later ones follow from it. */
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
    ws.on('ping', () => this.#liveness?.control());
    ws.on('pong', () => this.#liveness?.control());
    // Violations arrive as errors; ws itself then closes with the right code, within `closeMs`.
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
    // The peer's response must be read.
    this.#ws.resume();
    this.#ws.close(1000);
  }

  #opened(phase: Phase): void {
    // This listener runs after that of ws, which has delivered the messages that a chunk completes.
    phase.socket?.on('data', (chunk: Buffer) => {
      if (!this.#ending) this.#partial.chunk(chunk.length);
    });
    this.#liveness = watchLiveness(this.#options, {
      ping: () => this.#ws.ping(),
      // A dead peer does not answer a closing handshake either.
      dead: (reason) => this.#terminate({ reason }),
    });
  }

  #terminate(info: CloseInfo): void {
    if (this.#end(info)) this.#ws.terminate();
  }

  /** Returns true for the first reason. */
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
