import { createServer, type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { EventSource } from '../events/source.ts';
import { Delivery, type Truth } from '../truth.ts';
import { Connection } from './connection.ts';
import type { HandshakeFaults } from './faults.ts';
import { readSubscription, type Subscription } from './subscription.ts';

/** How often consumers that have caught up are given what is new, in milliseconds of the wall clock. */
const tickMs = 10;
/** Consumers may take this long over a goodbye. */
const goodbyeMs = 500;
/** Cursors from here on are times in microseconds, whatever else cursors are. */
const firstTimeCursor = 1_000_000_000_000_000;

/** What a Jetstream host is made of. */
export interface JetstreamOptions {
  readonly host: string;
  readonly port: number;
  readonly source: EventSource;
  readonly seqCursors: boolean;
  /** Compression is offered with this dictionary; null for none. */
  readonly zstdDictionary: Buffer | null;
  readonly truth: Truth;
  readonly nowUs: () => number;
}

/** A Jetstream host: `/subscribe` over real sockets. */
export class JetstreamServer {
  /** Consumers, oldest first. */
  readonly connections: Connection[] = [];
  readonly #options: JetstreamOptions;
  readonly #http: Server;
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    autoPong: false,
    perMessageDeflate: false,
    maxPayload: 10_000_000,
  });
  readonly #sockets = new Set<Duplex>();
  #faults: HandshakeFaults | null = null;
  #opened = 0;
  #tick: NodeJS.Timeout | null = null;

  constructor(options: JetstreamOptions) {
    this.#options = options;
    this.#http = createServer((request, response) => {
      const known = request.url === '/' && (request.method === 'GET' || request.method === 'HEAD');
      response.writeHead(known ? 200 : 404, { 'Content-Type': 'text/plain; charset=utf-8' });
      response.end(known ? 'A simulated Jetstream: subscribe at /subscribe.\n' : 'not found\n');
    });
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Sets what handshakes meet; before the start. */
  meet(faults: HandshakeFaults): void {
    this.#faults = faults;
  }

  /** Listens; resolves with the port. */
  start(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(this.#options.port, this.#options.host, () => {
        this.#http.off('error', reject);
        this.#tick = setInterval(() => this.pump(), tickMs);
        resolve((this.#http.address() as AddressInfo).port);
      });
    });
  }

  /** Gives every consumer what is new, as every tick does. */
  pump(): void {
    for (const connection of this.connections) connection.pump();
  }

  /** Says goodbye to everybody, and resolves when the port and all sockets are closed. */
  async stop(): Promise<void> {
    if (this.#tick) clearInterval(this.#tick);
    if (!this.#http.listening) return;
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    for (const { webSocket } of this.connections) webSocket.close(1001, 'the simulation ends');
    const deadline = setTimeout(() => this.#destroyAll(), this.connections.length > 0 ? goodbyeMs : 0);
    this.#http.closeAllConnections();
    await closed;
    clearTimeout(deadline);
    this.#destroyAll();
  }

  #destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const target = new URL(request.url ?? '/', 'http://localhost');
    const encoding = request.headers['socket-encoding'];
    const asked = {
      target,
      socketEncoding: [encoding].flat()[0],
      offersCompression: this.#options.zstdDictionary !== null,
    };
    const subscription = target.pathname === '/subscribe' ? readSubscription(asked) : 'no such stream';
    const refused = this.#faults?.refusal() ?? null;
    if (refused !== null) refuse(socket, refused, 'refused by a fault switch');
    else if (typeof subscription === 'string')
      refuse(socket, target.pathname === '/subscribe' ? 400 : 404, subscription);
    else
      this.#webSockets.handleUpgrade(request, socket, head, (webSocket) =>
        this.#accept(webSocket, socket, subscription),
      );
  }

  #accept(webSocket: WebSocket, socket: Duplex, subscription: Subscription): void {
    const { source, truth, nowUs, zstdDictionary } = this.#options;
    this.#opened += 1;
    const id = this.#opened;
    const delivery = new Delivery(id, subscription.wantedCollections, nowUs());
    const connection = new Connection({
      id,
      subscription,
      socket,
      webSocket,
      source,
      hidden: truth.hidden,
      delivery,
      nowUs,
      start: this.#start(id, subscription),
      cutover: this.#faults?.cutover(id) ?? null,
      zstdDictionary,
      lie: () => this.#faults?.lie() ?? null,
    });
    truth.opened(delivery);
    this.connections.push(connection);
    webSocket.on('ping', (data) => {
      if (connection.mode !== 'half_open') webSocket.pong(data);
    });
    webSocket.on('error', () => webSocket.terminate());
    socket.once('close', () => {
      delivery.closedAtUs = nowUs();
      const at = this.connections.indexOf(connection);
      if (at >= 0) this.connections.splice(at, 1);
    });
    connection.pump();
  }

  /** The first event for a cursor: from it on, never before the horizon, and live where it lies in the future. */
  #start(id: number, { cursor }: Subscription): number {
    const { source, truth, seqCursors, nowUs } = this.#options;
    const edge = source.edge(nowUs());
    if (cursor === null) return edge;
    const bySeq = seqCursors && cursor < firstTimeCursor;
    const asked = bySeq ? cursor : source.seek(cursor);
    const honest = Math.min(Math.max(asked, source.oldest(nowUs())), edge);
    const cursorUs = bySeq ? truth.timeOf(honest) : cursor;
    return this.#faults?.start(id, cursorUs, honest) ?? honest;
  }
}

function refuse(socket: Duplex, status: number, reason: string): void {
  const body = `${reason}\n`;
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}\r\nConnection: close\r\n` +
      `Content-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  socket.once('finish', () => socket.destroy());
}
