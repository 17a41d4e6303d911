import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Requests that a client may send on a connection before it takes the first response. */
export const maxPipelined = 64;

/** The exchanges of one connection. */
interface Exchange {
  outstanding: number;
  latest: IncomingMessage;
  /** True if the response under way is the last one, by the client's or our own header. */
  closing: boolean;
  /** Called when no response is under way any more. */
  afterwards: (() => void) | null;
  /** Resolves when every response before the newest one is complete. */
  tail: Promise<void>;
}

/** Decision on a request: answer it, ignore it after the connection's last one, or reject it as one too many. */
export type Admission =
  | { readonly kind: 'answer'; readonly turn: Promise<void> }
  | { readonly kind: 'ignore' }
  | { readonly kind: 'too_many' };

/** Keeps requests and responses of each connection in step. */
export class Exchanges {
  readonly #exchanges = new WeakMap<object, Exchange>();

  /**
   * Admits a request. A request behind one that closes the connection gets no response (RFC 9112, section 9.6).
   * `turn` resolves when the responses before it are complete: a client that pipelines is answered one by one.
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

  /** The response to the newest request closes its connection. */
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

  /** Acts once every response under way is complete, and lets no further request in. */
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
