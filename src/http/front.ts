import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { type ClientOf, clientAddress } from './connections/client-address.ts';
import type { ConnectionTable, TrackedConnection } from './connections/connection-table.ts';
import { type NetworkTier, widestNetwork } from './connections/network-tiers.ts';
import { maxPipelined } from './exchanges.ts';
import type { FairTurns } from './fair-turns.ts';
import { httpLimits } from './limits.ts';
import { endOfHead, forwardedForOf, holdsMoreHeads } from './request-heads.ts';

/** Dependencies of the admission front. */
export interface FrontOptions {
  /** Admits connections before a byte of them is read. */
  readonly table: ConnectionTable;
  readonly turns: FairTurns;
  /** Trusted proxies in front: turns are shared between the clients that they name. */
  readonly proxies: number;
  /** Calls back in the next turn of the event loop. */
  readonly nextTurn: (act: () => void) => void;
  /** A clock that never steps, in milliseconds. */
  readonly monotonic: () => number;
  /** Refuses a connection that has sent nothing before the deadline of its headers. */
  readonly refuseSilent: (socket: Socket) => void;
}

/** Connections before and between their requests. */
export interface Front {
  /** Returns true if a new connection of a peer must be closed at once, and counts it as refused. */
  refuses(address: string): boolean;
  /** The response of a connection is complete: its next request may be parsed. */
  next(socket: object): void;
  /** Parses nothing more of a connection, and discards what it sends. */
  discard(socket: object): void;
  /** Refuses connections that have sent nothing in time. */
  refuseSilent(): void;
  /** Closes every connection without a request under way, and others after their response. */
  close(): void;
}

/** A connection that holds more bytes is read no further until its client had its turn. */
const maxSmall = httpLimits.maxHeaderBytes;
/** Bytes that all connections above that hold together. */
const maxHeldBytes = 16 * 1024 * 1024;
/** Charge for a connection that brings no request, in requests: clients that ask for something are served before. */
const uselessCharge = 16;
/** Pieces of one connection that a turn gives to the parser at most, if none of them completes a request. */
const maxPieces = 16;

/** State of all connections of a front. */
interface Shared extends FrontOptions {
  /** Gives a connection to the parser. */
  readonly parse: (socket: Socket) => void;
  /** Names the client of a request behind trusted proxies. */
  readonly forwarded: ClientOf;
  readonly connections: Map<object, FrontConnection>;
  /** Connections that have sent nothing, the oldest first, with their deadlines. */
  readonly silent: Map<FrontConnection, number>;
  /** Bytes of connections that hold many. */
  heldLarge: number;
  closing: boolean;
}

/**
 * Puts an admission front before the parser of an HTTP server. Received bytes wait, bounded, for the turn of their
 * client; the parser then gets one request, and the next one after its response. So a connection costs little before its
 * turn, one that its peer has closed meanwhile never reaches the parser, and pipelining gains a client no more than a turn.
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

  /** Refuses another connection of a client that has many waiting; behind a proxy, the peer stands for many clients. */
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

/** One connection: the bytes that it holds, and its way from its first byte to its last response. */
class FrontConnection {
  readonly #shared: Shared;
  readonly #socket: Socket;
  readonly #tracked: TrackedConnection;
  #held: Buffer | null = null;
  /** Gives bytes to the parser; null before the first request. */
  #feed: ((bytes: Buffer) => void) | null = null;
  #withdraw: (() => void) | null = null;
  #discards = false;
  /** Had its turn before it was read: what arrives is parsed without another one. */
  #granted = false;
  readonly #onData = (bytes: Buffer): void => this.#arrived(bytes);

  constructor(shared: Shared, socket: Socket, tracked: TrackedConnection) {
    this.#shared = shared;
    this.#socket = socket;
    this.#tracked = tracked;
    socket.on('data', this.#onData);
    socket.on('error', destroyed);
    socket.once('end', () => {
      // A client that closes its side before its request was parsed wants no response.
      if (this.#held !== null || this.#feed === null) socket.destroy();
    });
    socket.once('close', () => this.#release());
  }

  /** Reads the connection, in the turn of its client where the connection tells which one that is. */
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
    // Its client left while it waited, or before it had its response.
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

  /** Parses what has arrived, unless the loop finds the connection closed by its peer when it next looks. */
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

  /** Gives the connection to the server, but keeps the reading of its bytes. */
  #attach(): (bytes: Buffer) => void {
    const socket = this.#socket;
    socket.off('data', this.#onData).off('error', destroyed);
    this.#shared.parse(socket);
    const feed = onlyListener(socket, 'data');
    // The server bypasses a stream without other listeners, so the front listens again after it.
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

/** Takes the one listener of an event from its emitter. */
function onlyListener(
  emitter: Pick<Server | Socket, 'listeners' | 'removeAllListeners'>,
  event: string,
): (...args: unknown[]) => void {
  const [listener, ...others] = emitter.listeners(event);
  if (!listener || others.length > 0) throw new Error(`the front expects one ${event} listener of node:http`);
  emitter.removeAllListeners(event);
  return listener as (...args: unknown[]) => void;
}
