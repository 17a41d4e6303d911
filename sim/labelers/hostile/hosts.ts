import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket, type Server as TcpServer } from 'node:net';
import type { Duplex } from 'node:stream';

/** Request handlers of one address. */
export interface HostHandler {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** Serves many HTTP hosts on loopback addresses with a single HTTP server. Each host needs only a listening socket. */
export class Hosts {
  readonly #http: Server;
  readonly #listeners: TcpServer[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #handlers = new Map<string, HostHandler>();

  constructor() {
    this.#http = createHttpServer({ keepAliveTimeout: 15_000, requestTimeout: 0 }, (request, response) => {
      const handler = this.#handlerOf(request.socket);
      if (handler) handler.request(request, response);
      else request.socket.destroy();
    });
    this.#http.on('upgrade', (request, socket, head) => {
      const handler = this.#handlerOf(request.socket);
      if (handler) handler.upgrade(request, socket, head);
      else socket.destroy();
    });
  }

  /** Starts listening on an address. Resolves with the port. */
  listen(address: string, port: number, handler: HostHandler): Promise<number> {
    const listener = createServer((socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      this.#http.emit('connection', socket);
    });
    this.#listeners.push(listener);
    return new Promise((resolve, reject) => {
      listener.once('error', reject);
      listener.listen(port, address, () => {
        const given = (listener.address() as AddressInfo).port;
        this.#handlers.set(`${address}:${given}`, handler);
        resolve(given);
      });
    });
  }

  /** Ends every connection and stops listening. */
  async stop(): Promise<void> {
    const closed = this.#listeners.splice(0).map((listener) => new Promise((resolve) => listener.close(resolve)));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
    this.#http.closeAllConnections();
  }

  #handlerOf({ localAddress = '', localPort = 0 }: Socket): HostHandler | undefined {
    return this.#handlers.get(`${localAddress}:${localPort}`);
  }
}
