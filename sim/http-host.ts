import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type KeptPort, keepPort } from './kept-port.ts';

/** Request handlers of a host. */
interface HostHandlers {
  readonly request: (request: IncomingMessage, response: ServerResponse, target: URL) => void;
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer, target: URL) => void;
  /** Returns the simulated time in microseconds, for the `Date` header. */
  readonly nowUs: () => number;
}

/** An HTTP host on a loopback address that can stop and resume listening on the same port. */
export class HttpHost {
  readonly #handlers: HostHandlers;
  readonly #sockets = new Set<Duplex>();
  /** Ports that the host has reserved. They refuse connections until the host listens on them again. */
  readonly #kept = new Map<number, KeptPort>();
  #server: Server | null = null;
  #host = '';
  #port = 0;
  #stopped = false;

  constructor(handlers: HostHandlers) {
    this.#handlers = handlers;
  }

  /** True while the host is listening. */
  get open(): boolean {
    return this.#server !== null;
  }

  /** Current or last port; 0 before the host has listened for the first time. */
  get port(): number {
    return this.#port;
  }

  /**
   * Starts listening on `port`, which defaults to the previous port, or to a free port at the first start. Resolves
   * with the origin. Rejects if the host was stopped or the port is not available.
   */
  async listen(host: string, port = this.#port): Promise<string> {
    await this.#release(port);
    // Reject after `stop`: no caller would close the new listener.
    if (this.#stopped) throw new Error('the host was stopped before it started listening');
    const server = createServer((request, response) => {
      response.sendDate = false;
      response.setHeader('Date', new Date(this.#handlers.nowUs() / 1000).toUTCString());
      this.#handlers.request(request, response, targetOf(request));
    });
    server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy());
      if (this.#handlers.upgrade) this.#handlers.upgrade(request, socket, head, targetOf(request));
      else socket.destroy();
    });
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', (error) => {
        this.#server = null;
        reject(error);
      });
      server.listen(port, host, () => {
        this.#host = host;
        this.#port = (server.address() as AddressInfo).port;
        resolve(`http://${host.includes(':') ? `[${host}]` : host}:${this.#port}`);
      });
    });
  }

  /** Ends every connection and stops listening. The port stays reserved and refuses connections. */
  async shut(): Promise<void> {
    if (await this.#close()) this.#kept.set(this.#port, await keepPort(this.#host, this.#port));
  }

  /** Stops the host permanently and releases the reserved ports. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#close();
    await Promise.all([...this.#kept.keys()].map((port) => this.#release(port)));
  }

  async #close(): Promise<boolean> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return false;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    return true;
  }

  async #release(port: number): Promise<void> {
    const kept = this.#kept.get(port);
    this.#kept.delete(port);
    await kept?.release();
  }
}

/** Sends a JSON response. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}

function targetOf(request: IncomingMessage): URL {
  const text = request.url ?? '/';
  return URL.canParse(text, 'http://localhost') ? new URL(text, 'http://localhost') : new URL('http://localhost/');
}
