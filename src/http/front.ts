import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionTable, TrackedConnection } from './connections/connection-table.ts';
import { type ClientOf, clientAddress, type NetworkTier, widestNetwork } from './connections/network-tiers.ts';
import type { FairTurns } from './fair-turns.ts';
import { httpLimits, maxPipelined } from './parser-errors.ts';

/** Dependencies of admission control. */
interface FrontOptions {
  /** Table that admits a connection before any of its bytes are read. */
  readonly table: ConnectionTable;
  readonly turns: FairTurns;
  /** Number of trusted proxies. If it is not 0, turns are shared between the clients that the proxies name. */
  readonly proxies: number;
  /** Calls `act` in the next turn of the event loop. */
  readonly nextTurn: (act: () => void) => void;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
  /** Sends an error on a connection that has sent nothing by the deadline for its headers. */
  readonly refuseSilent: (socket: Socket) => void;
}

/** Admission control of a server, which decides when the requests of a connection are parsed. */
interface Front {
  /**
   * Returns true if a new connection from this address must be closed immediately, and counts the connection as
   * refused.
   */
  refuses(address: string): boolean;
  /**
   * Allows the next request of a connection to be parsed. Call it after the response to the previous request is
   * complete.
   */
  next(socket: object): void;
  /** Discards all further bytes of a connection without parsing them. */
  discard(socket: object): void;
  /** Refuses connections that have sent nothing by their deadline. */
  refuseSilent(): void;
  /** Closes every connection without a pending request at once, and every other connection after its response. */
  close(): void;
}

/** Number of unparsed bytes above which a connection is not read any further before its client's turn. */
const maxSmall = httpLimits.maxHeaderBytes;
/** Maximum total of unparsed bytes over all connections that hold more than `maxSmall` each. */
const maxHeldBytes = 16 * 1024 * 1024;
/**
 * Charge, in requests, for a connection that is closed before its response, or that sends an invalid request or too
 * many pipelined requests. The charge lets other clients go first.
 */
const uselessCharge = 16;
/** Maximum number of pieces that one turn passes to the parser while no request is complete. */
const maxPieces = 16;

/** State of all connections under admission control. */
interface Shared extends FrontOptions {
  /** Passes a connection to the HTTP parser. */
  readonly parse: (socket: Socket) => void;
  /** Returns the client that trusted proxies name for a request. */
  readonly forwarded: ClientOf;
  readonly connections: Map<object, FrontConnection>;
  /** Deadlines of the connections that have sent nothing, ordered from the oldest connection. */
  readonly silent: Map<FrontConnection, number>;
  /** Total number of unparsed bytes over all connections that hold more than `maxSmall` each. */
  heldLarge: number;
  closing: boolean;
}

/**
 * Installs admission control in front of the parser of an HTTP server. A limited number of received bytes waits for
 * the client's turn. The parser then receives one request at a time, each after the response to the previous one.
 * Therefore a connection costs little before its turn, the parser never receives a connection that its peer closes
 * before that turn, and pipelining gives a client no additional turns.
 */
export function openFront(server: Server, options: FrontOptions): Front {
  const { table, turns, proxies, monotonic } = options;
  const parser = onlyListener(server, 'connection');
  const connections = new Map<object, FrontConnection>();
  const silent = new Map<FrontConnection, number>();
  const shared: Shared = {
    ...options,
    parse: (socket) => parser.call(server, socket),
    forwarded: clientAddress(proxies),
    connections,
    silent,
    heldLarge: 0,
    closing: false,
  };

  /**
   * Returns true, and charges the client, if the client has too many waiting connections. Always returns false with
   * trusted proxies, because one proxy represents many clients.
   */
  function refuses(client: NetworkTier): boolean {
    if (proxies > 0 || !turns.isCrowdedBy(client)) return false;
    turns.charge(client, 1);
    return true;
  }

  server.on('connection', (socket: Socket) => {
    const client = widestNetwork(socket.remoteAddress ?? 'unknown');
    if (refuses(client)) {
      table.refuse(socket, 'client_full');
      return;
    }
    const tracked = table.admit(socket);
    if (!tracked) return;
    turns.accepted();
    const connection = new FrontConnection(shared, socket, tracked);
    connections.set(socket, connection);
    connection.begin(proxies > 0 ? null : client);
  });

  return {
    refuses(address) {
      if (!refuses(widestNetwork(address))) return false;
      table.countRefused('client_full');
      return true;
    },
    next: (socket) => connections.get(socket)?.next(),
    discard: (socket) => connections.get(socket)?.discard(),
    refuseSilent() {
      const now = monotonic();
      for (const [connection, dueMs] of silent) {
        if (dueMs > now) return;
        connection.refuseSilent();
      }
    },
    close() {
      shared.closing = true;
      for (const connection of connections.values()) connection.close();
    },
  };
}

/** State of one connection under admission control, from its first byte to its last response. */
class FrontConnection {
  readonly #shared: Shared;
  readonly #socket: Socket;
  readonly #tracked: TrackedConnection;
  #held: Buffer | null = null;
  /** Function that passes bytes to the parser; null before the first request of the connection. */
  #feed: ((bytes: Buffer) => void) | null = null;
  #withdraw: (() => void) | null = null;
  #discards = false;
  /** True if the client's turn came before any bytes arrived; the bytes then do not wait for a second turn. */
  #granted = false;
  readonly #onData = (bytes: Buffer): void => this.#arrived(bytes);

  constructor(shared: Shared, socket: Socket, tracked: TrackedConnection) {
    this.#shared = shared;
    this.#socket = socket;
    this.#tracked = tracked;
    socket.on('data', this.#onData);
    socket.on('error', destroyed);
    socket.once('end', () => {
      // A client that closes its side before its request is parsed expects no response.
      if (this.#held !== null || this.#feed === null) socket.destroy();
    });
    socket.once('close', () => this.#release());
  }

  /**
   * Starts to read the connection: at the client's turn if the client is known, otherwise at once. Closes the
   * connection if too much work is waiting.
   */
  begin(client: NetworkTier | null): void {
    if (client === null) {
      this.#read();
      return;
    }
    this.#socket.pause();
    this.#tracked.held = true;
    this.#withdraw = this.#shared.turns.enter(
      client,
      () => {
        this.#withdraw = null;
        this.#granted = true;
        this.#tracked.held = false;
        this.#read();
      },
      () => this.#socket.destroy(),
    );
  }

  #read(): void {
    this.#shared.silent.set(this, this.#shared.monotonic() + httpLimits.headersTimeoutMs);
    this.#socket.resume();
  }

  next(): void {
    if (this.#discards || this.#socket.destroyed) return;
    if (this.#shared.closing) this.#socket.end();
    else if (this.#held === null) this.#socket.resume();
    else this.#enter();
  }

  discard(): void {
    if (!this.#discards) this.#charge();
    this.#discards = true;
    this.#hold(null);
    this.#withdraw?.();
    this.#socket.resume();
  }

  refuseSilent(): void {
    this.#shared.silent.delete(this);
    this.discard();
    this.#shared.refuseSilent(this.#socket);
  }

  close(): void {
    if (this.#tracked.outstanding === 0) this.#socket.destroy();
  }

  #charge(): void {
    this.#shared.turns.charge(this.#tracked.network, uselessCharge);
  }

  #release(): void {
    // Charge the client even if it disconnected while waiting for its turn or its response.
    if (!this.#discards && (this.#withdraw !== null || this.#tracked.outstanding > 0)) this.#charge();
    this.#withdraw?.();
    this.#hold(null);
    this.#shared.silent.delete(this);
    this.#shared.connections.delete(this.#socket);
  }

  #arrived(bytes: Buffer): void {
    if (this.#discards) return;
    this.#shared.silent.delete(this);
    const held = this.#held === null ? bytes : Buffer.concat([this.#held, bytes]);
    this.#hold(held);
    if (held.length > maxSmall) {
      this.#socket.pause();
      if (this.#shared.heldLarge > maxHeldBytes) {
        this.#shared.table.cut(this.#tracked, 'full');
        return;
      }
    }
    if (this.#withdraw !== null || this.#tracked.outstanding > 0) return;
    if (this.#granted) this.#afterwards();
    else this.#enter();
  }

  /** Parses the received bytes after two turns of the event loop, unless the peer closes the connection first. */
  #afterwards(): void {
    this.#granted = false;
    let left = false;
    this.#withdraw = () => {
      left = true;
    };
    this.#shared.nextTurn(() =>
      this.#shared.nextTurn(() => {
        if (left) return;
        this.#withdraw = null;
        this.#turn();
      }),
    );
  }

  #hold(bytes: Buffer | null): void {
    this.#shared.heldLarge += large(bytes) - large(this.#held);
    this.#held = bytes;
    this.#tracked.held = bytes !== null;
  }

  #enter(): void {
    if (this.#withdraw !== null) return;
    const peer = this.#socket.remoteAddress ?? 'unknown';
    const named = this.#shared.proxies > 0 && this.#held ? forwardedForOf(this.#held) : undefined;
    const client =
      named === undefined
        ? peer
        : this.#shared.forwarded({ headers: { 'x-forwarded-for': named }, socket: this.#socket });
    if (named !== undefined) this.#shared.table.attribute(this.#tracked, client);
    this.#withdraw = this.#shared.turns.enter(
      widestNetwork(client),
      () => {
        this.#withdraw = null;
        this.#turn();
      },
      destroyed.bind(this.#socket),
    );
  }

  #turn(): void {
    const socket = this.#socket;
    if (this.#held !== null && holdsMoreHeads(this.#held, maxPipelined)) {
      this.#charge();
      this.#shared.table.cut(this.#tracked, 'pipelined');
      return;
    }
    this.#feed ??= this.#attach();
    const feed = this.#feed;
    for (let piece = 0; this.#held !== null && piece < maxPieces; piece++) {
      const held = this.#held;
      const end = endOfHead(held);
      this.#hold(end < 0 || end === held.length ? null : held.subarray(end));
      feed.call(socket, end < 0 ? held : held.subarray(0, end));
      if (this.#discards || this.#tracked.outstanding > 0 || socket.destroyed) return;
    }
    this.next();
  }

  /**
   * Passes the connection to the server but keeps receiving its bytes for admission control. Returns the parser's
   * listener.
   */
  #attach(): (bytes: Buffer) => void {
    const socket = this.#socket;
    socket.off('data', this.#onData).off('error', destroyed);
    this.#shared.parse(socket);
    const feed = onlyListener(socket, 'data');
    // The parser bypasses the listeners of a socket if its own listener is the only one. A second listener prevents
    // that.
    socket.on('data', this.#onData);
    return feed;
  }
}

function large(bytes: Buffer | null): number {
  return bytes !== null && bytes.length > maxSmall ? bytes.length : 0;
}

function destroyed(this: Socket): void {
  this.destroy();
}

/** Removes and returns the only listener of an event. Throws if the event does not have exactly one listener. */
function onlyListener(
  emitter: Pick<Server | Socket, 'listeners' | 'removeAllListeners'>,
  event: string,
): (...args: unknown[]) => void {
  const [listener, ...others] = emitter.listeners(event);
  if (!listener || others.length > 0) throw new Error(`admission control expects one ${event} listener of node:http`);
  emitter.removeAllListeners(event);
  return listener as (...args: unknown[]) => void;
}

/**
 * Returns the index after the blank line that ends the first request head in the received bytes, or -1 if no head is
 * complete. The result decides only how many bytes the parser receives at once, so a body that looks like a head is
 * still parsed correctly.
 */
export function endOfHead(bytes: Buffer): number {
  const strict = bytes.indexOf('\n\r\n');
  const bare = bytes.subarray(0, strict < 0 ? bytes.length : strict + 1).indexOf('\n\n');
  if (bare >= 0) return bare + 2;
  return strict < 0 ? -1 : strict + 3;
}

/**
 * Returns true if the received bytes contain more than `max` blank lines, each of which may end a head. Counts blank
 * lines with CRLF and with bare LF, as `endOfHead` does, because each blank line costs the parser a call even if
 * it ignores or rejects the line. Takes linear time: each search for a kind of blank line continues at the end of the last
 * head.
 */
export function holdsMoreHeads(bytes: Buffer, max: number): boolean {
  let strict = bytes.indexOf('\n\r\n');
  let bare = bytes.indexOf('\n\n');
  for (let heads = 0; strict >= 0 || bare >= 0; ) {
    heads += 1;
    if (heads > max) return true;
    const end = bare >= 0 && (strict < 0 || bare < strict) ? bare + 2 : strict + 3;
    if (strict >= 0 && strict < end) strict = bytes.indexOf('\n\r\n', end);
    if (bare >= 0 && bare < end) bare = bytes.indexOf('\n\n', end);
  }
  return false;
}

/**
 * Matches `X-Forwarded-For` headers. The value includes surrounding spaces, because excluding them could take quadratic
 * time.
 */
const forwardedFor = /^x-forwarded-for:(.*)$/gim;

/**
 * Returns the joined values of `X-Forwarded-For` in the first head of the received bytes; undefined if the head is
 * incomplete or has no such header.
 */
export function forwardedForOf(bytes: Buffer): string | undefined {
  const end = endOfHead(bytes);
  if (end < 0) return undefined;
  const values = [...bytes.toString('latin1', 0, end).matchAll(forwardedFor)].map(([, value = '']) => value.trim());
  return values.length === 0 ? undefined : values.join(', ');
}
