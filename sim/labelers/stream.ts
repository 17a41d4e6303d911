import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { RangeSet } from '../ranges.ts';
import type { Database } from './database.ts';
import type { Software } from './profile.ts';
import { errorFrame } from './wire.ts';

/** Maximum number of labels per call of `pump`. */
const labelsAtOnce = 500;
/** Maximum number of unsent bytes buffered for one consumer. */
const waitingBytes = 1024 * 1024;
/** Maximum number of labels by which a live consumer of an Ozone labeler may lag once its buffer is full. */
const consumerBuffer = 500;

/** Dependencies of a `LabelStream`. */
interface StreamOptions {
  readonly id: number;
  readonly webSocket: WebSocket;
  readonly socket: Duplex;
  readonly software: Software;
  readonly database: Database;
  /** Number of the first label to send. */
  readonly next: number;
  readonly edge: () => number;
  readonly serve: (n: number) => unknown;
  /** Numbers of the labels that any consumer has received. */
  readonly served: RangeSet;
  /** Returns the maximum number of labels per frame. */
  readonly labelsPerFrame: () => number;
  /** Builds a frame with labels. */
  readonly frame: (seq: number, labels: readonly unknown[]) => Uint8Array;
  /** Called when the consumer is disconnected because it is too slow. */
  readonly tooSlow: () => void;
}

/** One consumer of a labeler's `subscribeLabels`: its position, and its socket with a limited buffer. */
export class LabelStream {
  readonly id: number;
  readonly webSocket: WebSocket;
  /** State of the stream. `silent`: responds to pings but sends nothing. `half_open`: neither sends nor reads. */
  mode: 'flowing' | 'silent' | 'half_open' = 'flowing';
  /** Number of the next label to send. */
  next: number;
  readonly #options: StreamOptions;
  #caughtUp = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.id = options.id;
    this.webSocket = options.webSocket;
    this.next = options.next;
  }

  /**
   * Sends up to 500 new labels, or fewer if the consumer's buffer is full. An Ozone labeler disconnects a live consumer
   * that lags too far behind.
   */
  pump(): void {
    const { webSocket, database, serve, software, labelsPerFrame, tooSlow } = this.#options;
    if (this.mode !== 'flowing' || webSocket.readyState !== webSocket.OPEN) return;
    const edge = this.#options.edge();
    if (webSocket.bufferedAmount > waitingBytes) {
      if (software !== 'ozone' || !this.#caughtUp || edge - this.next < consumerBuffer) return;
      tooSlow();
      this.refuse('ConsumerTooSlow', 'Stream consumer too slow');
      return;
    }
    if (this.next > edge) return;
    const batch: number[] = [];
    let sent = 0;
    let cutShort = false;
    for (const n of database.read(this.next, edge)) {
      batch.push(n);
      sent += 1;
      if (batch.length >= labelsPerFrame()) this.#send(batch.splice(0), serve);
      cutShort = sent >= labelsAtOnce || webSocket.bufferedAmount > waitingBytes;
      this.next = n + 1;
      if (cutShort) break;
    }
    if (batch.length > 0) this.#send(batch, serve);
    if (!cutShort) this.next = edge + 1;
    this.#caughtUp ||= !cutShort;
  }

  /** Sends an error and ends the stream, in the same way as the imitated program. */
  refuse(error: string, message: string): void {
    const { webSocket, software } = this.#options;
    webSocket.send(errorFrame(error, message));
    if (software === 'ozone') webSocket.close(1008, error);
    else webSocket.terminate();
  }

  /** Ends the socket without a close frame, or resets it. */
  drop(how: 'end' | 'reset'): void {
    const { socket, webSocket } = this.#options;
    if (how === 'reset' && 'resetAndDestroy' in socket && typeof socket.resetAndDestroy === 'function')
      socket.resetAndDestroy();
    else if (how === 'end') socket.end(() => webSocket.terminate());
    else webSocket.terminate();
  }

  /** Stops reading, so that the labeler does not respond to pings. */
  halfOpen(): void {
    this.mode = 'half_open';
    this.#options.socket.pause();
  }

  /** Resumes sending and reading. */
  resume(): void {
    this.mode = 'flowing';
    this.#options.socket.resume();
  }

  #send(numbers: readonly number[], serve: (n: number) => unknown): void {
    const { webSocket, database, served, frame } = this.#options;
    const seq = database.seqOf(numbers.at(-1) ?? 0) ?? 0;
    webSocket.send(frame(seq, numbers.map(serve)), (error) => {
      if (error) return;
      for (const n of numbers) served.add({ from: n, to: n + 1 });
    });
  }
}
