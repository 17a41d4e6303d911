import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { EventSource } from '../events/source.ts';
import { getZstdDictionary, infoFrame, subscribeEvents } from '../events/wire.ts';
import { Delivery, type Truth } from '../truth.ts';
import { Connection } from './connection.ts';
import type { HandshakeFaults } from './handshake-faults.ts';
import { type Refusal, readMethod, readSubscription, type Subscription } from './subscription.ts';

/** Websocket subprotocol of `subscribeEvents`. */
const subprotocol = 'xrpc.v1.json';
/** Interval at which waiting consumers receive new events, in milliseconds of real time. */
const tickMs = 10;
/** Timeout for a consumer's closing handshake, in milliseconds. */
const goodbyeMs = 500;
/** Interval between pings of `subscribeEvents`, in milliseconds. */
const pingMs = 30_000;
/** Smallest cursor that is a time in microseconds. Smaller values are sequence numbers. */
const firstTimeCursor = 1_000_000_000_000_000;

/** Options for a Jetstream host. */
interface JetstreamOptions {
  readonly host: string;
  readonly port: number;
  readonly source: EventSource;
  readonly seqCursors: boolean;
  /** Dictionary for compressed frames, or null if compression is not offered. */
  readonly zstdDictionary: Buffer | null;
  /** True if `subscribeEvents` is served in addition to the legacy protocol. */
  readonly hasMethod: boolean;
  /** True if `subscribeEvents` sends a notice if a cursor is in the future. */
  readonly announcesFuture: boolean;
  /** Share of the creates and updates that a replay of old history omits, from 0 to 1. */
  readonly compactedShare: number;
  /** Timeout of `subscribeEvents` for a write and for a pong, in milliseconds; null for no timeout. */
  readonly patienceMs: number | null;
  readonly truth: Truth;
  readonly nowUs: () => number;
}

/** A Jetstream host with real sockets. It serves `/subscribe`, and `subscribeEvents` as current hosts do. */
export class JetstreamServer {
  /** Connections of all consumers, oldest first. */
  readonly connections: Connection[] = [];
  readonly #options: JetstreamOptions;
  readonly #http: Server;
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    autoPong: false,
    perMessageDeflate: false,
    maxPayload: 10_000_000,
    handleProtocols: (offered) => offered.has(subprotocol) && subprotocol,
  });
  readonly #sockets = new Set<Duplex>();
  #faults: HandshakeFaults | null = null;
  #opened = 0;
  #tick: NodeJS.Timeout | null = null;
  #ping: NodeJS.Timeout | null = null;

  constructor(options: JetstreamOptions) {
    this.#options = options;
    this.#http = createServer((request, response) => {
      if (request.url === `/xrpc/${getZstdDictionary}` && this.#sendDictionary(response)) return;
      const known = request.url === '/' && (request.method === 'GET' || request.method === 'HEAD');
      response.writeHead(known ? 200 : 404, { 'Content-Type': 'text/plain; charset=utf-8' });
      response.end(known ? 'A simulated Jetstream: subscribe at /subscribe.\n' : 'not found\n');
    });
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Sets the faults that affect handshakes. Must be called before `start`. */
  meet(faults: HandshakeFaults): void {
    this.#faults = faults;
  }

  /** Starts listening. Resolves with the port. */
  start(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#http.once('error', reject);
      this.#http.listen(this.#options.port, this.#options.host, () => {
        this.#http.off('error', reject);
        this.#tick = setInterval(() => this.pump(), tickMs);
        this.#ping = setInterval(() => this.askForPongs(), pingMs);
        resolve((this.#http.address() as AddressInfo).port);
      });
    });
  }

  /** Sends new events to every consumer, without waiting for the next tick. */
  pump(): void {
    for (const connection of this.connections) connection.pump();
  }

  /** Sends a ping to every consumer of `subscribeEvents`. */
  askForPongs(): void {
    for (const connection of this.connections) if (connection.isMethod) connection.askForPong();
  }

  /** Sends a close frame to every consumer. Resolves when the port and all sockets are closed. */
  async stop(): Promise<void> {
    if (this.#tick) clearInterval(this.#tick);
    if (this.#ping) clearInterval(this.#ping);
    if (!this.#http.listening) return;
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    for (const { webSocket } of this.connections) webSocket.close(1001, 'the simulation has ended');
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
    const dictionary = this.#options.zstdDictionary;
    const asked = {
      target,
      socketEncoding: [encoding].flat()[0],
      dictionary: dictionary === null ? null : dictionary.readUInt32LE(4),
    };
    const legacy = target.pathname === '/subscribe';
    const method = this.#options.hasMethod && target.pathname === `/xrpc/${subscribeEvents}`;
    const subscription = legacy ? readSubscription(asked) : method ? readMethod(asked) : null;
    const refused = this.#faults?.refusal() ?? null;
    // Decide on the refusal first: a refused handshake has no first event, so it must not trigger a fault that changes
    // the first event.
    const begins = refused === null && subscription !== null && isSubscription(subscription);
    const start = begins ? this.#start(subscription) : null;
    if (refused !== null) {
      const unavailable = { ...refused, error: 'ServiceUnavailable' };
      refuse(socket, method ? unavailable : { ...unavailable, error: null });
    } else if (subscription === null) refuse(socket, { status: 404, error: null, message: 'no such stream' });
    else if (typeof subscription === 'string') refuse(socket, { status: 400, error: null, message: subscription });
    else if (!isSubscription(subscription)) refuse(socket, subscription);
    else if (start === null || 'error' in start) {
      refuse(socket, start ?? { status: 400, error: null, message: 'invalid cursor' });
    } else {
      this.#webSockets.handleUpgrade(request, socket, head, (webSocket) =>
        this.#accept(webSocket, socket, subscription, start),
      );
    }
  }

  #sendDictionary(response: ServerResponse): boolean {
    const { zstdDictionary, hasMethod } = this.#options;
    if (zstdDictionary === null || !hasMethod) return false;
    response.writeHead(200, {
      'Content-Type': 'application/octet-stream',
      'X-Zstd-Dictionary-Id': String(zstdDictionary.readUInt32LE(4)),
    });
    response.end(zstdDictionary);
    return true;
  }

  #accept(webSocket: WebSocket, socket: Duplex, subscription: Subscription, { from, greeting }: Start): void {
    const { source, truth, nowUs, zstdDictionary, compactedShare, patienceMs } = this.#options;
    this.#opened += 1;
    const id = this.#opened;
    const { wire, kinds, wantedCollections } = subscription;
    const delivery = new Delivery(id, { wire, kinds, wantedCollections }, nowUs());
    const connection = new Connection({
      id,
      subscription,
      socket,
      webSocket,
      source,
      hidden: truth.hidden,
      delivery,
      nowUs,
      start: from,
      greeting,
      compactedShare,
      cutover: this.#faults?.cutover(id) ?? null,
      zstdDictionary,
      patienceMs,
      lie: () => this.#faults?.lie() ?? null,
    });
    truth.opened(delivery);
    this.connections.push(connection);
    webSocket.on('ping', (data) => {
      if (connection.mode !== 'half_open') webSocket.pong(data);
    });
    if (connection.isMethod) webSocket.on('message', () => webSocket.close(1008, 'this stream accepts no messages'));
    webSocket.on('error', () => webSocket.terminate());
    socket.once('close', () => {
      delivery.closedAtUs = nowUs();
      const at = this.connections.indexOf(connection);
      if (at >= 0) this.connections.splice(at, 1);
    });
    connection.pump();
  }

  /**
   * Returns the first event for a subscription's cursor, or a refusal. For a cursor in the future, only live events
   * follow. A time before the oldest event is moved forward to it, which `subscribeEvents` reports with a notice.
   * `subscribeEvents` refuses a sequence number that is too old.
   */
  #start({ cursor, wire }: Subscription): Start | Refusal {
    const { source, truth, seqCursors, announcesFuture, nowUs } = this.#options;
    const edge = source.edge(nowUs());
    if (cursor === null) return { from: edge, greeting: null };
    const method = wire === 'jetstream.subscribeEvents';
    const bySeq = (method || seqCursors) && cursor < firstTimeCursor;
    const asked = bySeq ? cursor : source.seek(cursor);
    const floor = source.oldest(nowUs());
    const honest = Math.min(Math.max(asked, floor), edge);
    const cursorUs = bySeq ? truth.timeOf(honest) : cursor;
    const from = this.#faults?.start(this.#opened + 1, cursorUs, honest) ?? honest;
    if (!method) return { from, greeting: null };
    const moved = from > asked;
    if (bySeq && moved && from < edge) {
      const message = `subscribe: cursor too old: cursor ${cursor} below lookback floor ${from}; re-backfill from your last seq`;
      return { status: 400, error: 'CursorTooOld', message };
    }
    if (bySeq && announcesFuture && (moved || asked > edge)) {
      return { from, greeting: infoFrame('FutureCursor', `cursor ${cursor} is ahead; starting at seq ${from}`) };
    }
    const clamped = !bySeq && from > asked;
    const greeting = clamped
      ? infoFrame('OutdatedCursor', `cursor below retention floor; starting at seq ${from}`)
      : null;
    return { from, greeting };
  }
}

/** Number of a consumer's first event, and the notice that precedes it (null for none). */
interface Start {
  readonly from: number;
  readonly greeting: string | null;
}

function isSubscription(read: Subscription | Refusal | string): read is Subscription {
  return typeof read !== 'string' && 'wire' in read;
}

function refuse(
  socket: Duplex,
  { status, error, message }: { status: number; error: string | null; message: string },
): void {
  const body = error === null ? `${message}\n` : JSON.stringify({ error, message });
  const type = error === null ? 'text/plain; charset=utf-8' : 'application/json';
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}\r\nConnection: close\r\n` +
      `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  socket.once('finish', () => socket.destroy());
}
