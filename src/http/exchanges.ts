import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Maximum number of pipelined requests on a connection that have no complete response yet. */
export const maxPipelined = 64;

/** State of the requests and responses of one connection. */
interface Exchange {
  outstanding: number;
  latest: IncomingMessage;
  /**
   * True if the connection accepts no further request, because the client or the server has requested to close the
   * connection.
   */
  closing: boolean;
  /** Called once no response is pending. */
  afterwards: (() => void) | null;
  /** Resolves when every response before the newest one has been completed. */
  tail: Promise<void>;
}

/**
 * Decision on a request. A request is answered, ignored because the connection is closing, or rejected because too many
 * requests are pending.
 */
type Admission =
  | { readonly kind: 'answer'; readonly turn: Promise<void> }
  | { readonly kind: 'ignore' }
  | { readonly kind: 'too_many' };

/** Tracks the requests and responses of each connection and ensures that responses are sent in order. */
export class Exchanges {
  readonly #exchanges = new WeakMap<object, Exchange>();

  /**
   * Decides on a request. Ignores a request that follows a closing request (RFC 9112, section 9.6), and rejects a
   * request if `maxPipelined` requests are pending. `turn` resolves when all earlier responses on the connection are
   * complete, so that pipelined requests are processed in sequence.
   */
  begin(message: IncomingMessage, response: ServerResponse): Admission {
    const { socket } = message;
    const known = this.#exchanges.get(socket);
    if (known?.closing) return { kind: 'ignore' };
    if (known && known.outstanding >= maxPipelined) return { kind: 'too_many' };
    const exchange = known ?? {
      outstanding: 0,
      latest: message,
      closing: false,
      afterwards: null,
      tail: Promise.resolve(),
    };
    exchange.latest = message;
    exchange.outstanding += 1;
    exchange.closing = !response.shouldKeepAlive;
    this.#exchanges.set(socket, exchange);
    const turn = exchange.tail;
    exchange.tail = new Promise((resolve) => {
      response.once('close', () => {
        exchange.outstanding -= 1;
        resolve();
        if (exchange.outstanding > 0) return;
        const { afterwards } = exchange;
        exchange.afterwards = null;
        afterwards?.();
      });
    });
    return { kind: 'answer', turn };
  }

  /** Marks the response to the newest request as the last one on its connection. */
  close(socket: Duplex): void {
    const exchange = this.#exchanges.get(socket);
    if (exchange) exchange.closing = true;
  }

  /** Returns true if the connection accepts no further request. */
  isClosing(socket: Duplex): boolean {
    return this.#exchanges.get(socket)?.closing === true;
  }

  /** Returns true while the body of the newest request is incomplete. */
  isIncomplete(socket: Duplex): boolean {
    return this.#exchanges.get(socket)?.latest.complete === false;
  }

  /**
   * Calls `act` once all pending responses on a connection are complete, or at once if no response is pending. Until
   * then, the connection accepts no further request. Ignores `act` if the function of a previous call is still
   * waiting.
   */
  finish(socket: Duplex, act: () => void): void {
    const exchange = this.#exchanges.get(socket);
    if (!exchange || exchange.outstanding === 0) {
      act();
      return;
    }
    exchange.closing = true;
    exchange.afterwards ??= act;
  }
}
