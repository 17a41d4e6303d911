import type { Socket } from 'node:net';
import { type NetworkTier, networkTiers, TieredLimit } from './network-tiers.ts';

/** Reason why the server closed a connection before the peer did. */
export type CutReason = 'full' | 'client_full' | 'idle' | 'stalled' | 'pipelined' | 'unsent';

/** All reasons why the server closes connections; values of a metric dimension. */
export const cutReasons = [
  'full',
  'client_full',
  'idle',
  'stalled',
  'pipelined',
  'unsent',
] as const satisfies readonly CutReason[];

/** Limits on the connections of a server. */
export interface ConnectionBounds {
  /** Maximum number of concurrent connections. */
  readonly total: number;
  /**
   * Maximum number of concurrent connections of one client; null behind trusted proxies, because each proxy
   * represents many clients.
   */
  readonly perClient: number | null;
  /**
   * Time in milliseconds within which a peer must read 64 KiB of its responses, or all remaining bytes if there are
   * fewer.
   */
  readonly stallMs: number;
}

/** A connection in the table, with the data that determines which connection is closed next. */
export interface TrackedConnection {
  readonly socket: Socket;
  readonly tiers: readonly NetworkTier[];
  /** Widest network of the client: of the peer, or of the client that a trusted proxy names. */
  network: NetworkTier;
  /** Number of requests that were answered on the connection; the server increments it. */
  answered: number;
  /** Value of `answered` when the last search for an idle connection examined this connection. */
  seenAnswered: number;
  /** Number of requests without a complete response. */
  outstanding: number;
  /** True while received bytes are waiting to be parsed. */
  held: boolean;
  /** Time by which the peer must have read `goalBytes`; null while no bytes are waiting to be sent. */
  dueMs: number | null;
  /** Total number of bytes that the peer must have read by `dueMs`. */
  goalBytes: number;
}

/** Minimum number of bytes that a peer must read in each stall interval. */
const pieceBytes = 64 * 1024;
/** Maximum number of connections that a search for an idle connection examines. */
const maxLooks = 64;

/** The connections of all clients with the same widest network. */
interface NetworkConnections {
  readonly share: number;
  readonly own: Set<TrackedConnection>;
}

/**
 * If the largest network shrinks below this fraction of its last known size, the largest network is determined again.
 */
const stillLargest = 7 / 8;

/**
 * All connections of a server. A full table closes a connection to admit a new one. If the largest network has more
 * connections than the network of the new connection would have, the table closes a connection of the largest network;
 * otherwise it closes the connection with the longest idle time. If no connection is idle, the table refuses the new
 * connection. Therefore neither many connections of one client nor idle connections exclude other clients.
 */
export class ConnectionTable {
  readonly #bounds: ConnectionBounds;
  readonly #onCut: (reason: CutReason) => void;
  readonly #limit: TieredLimit;
  /** Connections in the order of their last known activity. */
  readonly #connections = new Set<TrackedConnection>();
  readonly #bySocket = new WeakMap<object, TrackedConnection>();
  readonly #networks = new Map<string, NetworkConnections>();
  #largest: { readonly connections: NetworkConnections; readonly until: number } | null = null;

  constructor(bounds: ConnectionBounds, onCut: (reason: CutReason) => void) {
    this.#bounds = bounds;
    this.#onCut = onCut;
    this.#limit = new TieredLimit({ perClient: bounds.perClient, total: bounds.total });
  }

  /** Number of current connections. */
  get size(): number {
    return this.#connections.size;
  }

  /**
   * Admits a new connection. A full table may close another connection to make room. If a limit still prevents the
   * admission, closes the new connection and returns null.
   */
  admit(socket: Socket): TrackedConnection | null {
    const tiers = networkTiers(socket.remoteAddress ?? 'unknown');
    let reached = this.#limit.take(tiers, 1);
    if (reached === 'total' && (this.#closeOfLargest(tiers) || this.#closeIdle())) reached = this.#limit.take(tiers, 1);
    if (reached !== null) {
      this.refuse(socket, reached === 'client' ? 'client_full' : 'full');
      return null;
    }
    const tracked: TrackedConnection = {
      socket,
      tiers,
      network: widestOf(tiers),
      answered: 0,
      seenAnswered: 0,
      outstanding: 0,
      held: false,
      dueMs: null,
      goalBytes: 0,
    };
    this.#connections.add(tracked);
    this.#join(tracked);
    this.#bySocket.set(socket, tracked);
    socket.once('close', () => this.#release(tracked));
    return tracked;
  }

  /** Returns the entry of a connection, or undefined if the connection was not admitted. */
  of(socket: object): TrackedConnection | undefined {
    return this.#bySocket.get(socket);
  }

  /** Closes a new connection instead of admitting it. */
  refuse(socket: Socket, reason: CutReason): void {
    this.countRefused(reason);
    socket.destroy();
  }

  /** Counts a refused connection. */
  countRefused(reason: CutReason): void {
    this.#onCut(reason);
  }

  /** Attributes a connection to the client that a trusted proxy names. */
  attribute(tracked: TrackedConnection, client: string): void {
    const network = widestOf(networkTiers(client));
    if (network.network === tracked.network.network || !this.#connections.has(tracked)) return;
    this.#part(tracked);
    tracked.network = network;
    this.#join(tracked);
  }

  /** Closes a connection and counts the reason. */
  cut(tracked: TrackedConnection, reason: CutReason): void {
    if (!this.#connections.has(tracked)) return;
    this.#onCut(reason);
    this.#release(tracked);
    tracked.socket.destroy();
  }

  /** Closes every connection whose peer reads too slowly. `nowMs` is the time of a monotonic clock, in milliseconds. */
  cutStalled(nowMs: number): void {
    for (const tracked of this.#connections)
      if (isStalled(tracked, nowMs, this.#bounds.stallMs)) this.cut(tracked, 'stalled');
  }

  /** Closes every connection. */
  closeAll(): void {
    for (const { socket } of this.#connections) socket.destroy();
  }

  #join(tracked: TrackedConnection): void {
    const { network, share } = tracked.network;
    const known = this.#networks.get(network);
    if (known) known.own.add(tracked);
    else this.#networks.set(network, { share, own: new Set([tracked]) });
  }

  #part(tracked: TrackedConnection): void {
    const known = this.#networks.get(tracked.network.network);
    known?.own.delete(tracked);
    if (known?.own.size === 0) this.#networks.delete(tracked.network.network);
  }

  #closeOfLargest(asking: readonly NetworkTier[]): boolean {
    // Count the network of the new connection as if it already included that connection.
    const { network, share } = widestOf(asking);
    const atLeast = ((this.#networks.get(network)?.own.size ?? 0) + 1) / share;
    const largest = this.#largestNetwork();
    if (!largest || usage(largest) <= atLeast) return false;
    let victim: TrackedConnection | undefined;
    for (const one of largest.own) {
      victim = one;
      if (isIdle(one)) break;
    }
    if (victim) this.cut(victim, 'full');
    return victim !== undefined;
  }

  /**
   * Returns the network with the most connections relative to its allowance; null if there are no connections. The
   * result is cached until that network has shrunk, because a search visits every network.
   */
  #largestNetwork(): NetworkConnections | null {
    if (this.#largest && usage(this.#largest.connections) >= this.#largest.until) return this.#largest.connections;
    let found: NetworkConnections | null = null;
    for (const one of this.#networks.values()) if (!found || usage(one) > usage(found)) found = one;
    this.#largest = found && { connections: found, until: usage(found) * stillLargest };
    return found;
  }

  #closeIdle(): boolean {
    let looks = 0;
    for (const tracked of this.#connections) {
      if (++looks > maxLooks) return false;
      if (isIdle(tracked)) {
        this.cut(tracked, 'idle');
        return true;
      }
      tracked.seenAnswered = tracked.answered;
      this.#connections.delete(tracked);
      this.#connections.add(tracked);
    }
    return false;
  }

  #release(tracked: TrackedConnection): void {
    if (!this.#connections.delete(tracked)) return;
    this.#limit.give(tracked.tiers, 1);
    this.#part(tracked);
  }
}

/** Returns the number of a network's connections divided by its allowance. */
function usage({ own, share }: NetworkConnections): number {
  return own.size / share;
}

function widestOf(tiers: readonly NetworkTier[]): NetworkTier {
  return tiers.at(-1) ?? { network: 'unknown', share: 1 };
}

/**
 * Returns true if a connection has sent no response since the last check, and has no unparsed bytes, no pending
 * request and no unsent bytes.
 */
function isIdle({ socket, answered, seenAnswered, outstanding, held }: TrackedConnection): boolean {
  return !held && outstanding === 0 && socket.writableLength === 0 && answered === seenAnswered;
}

function isStalled(tracked: TrackedConnection, nowMs: number, stallMs: number): boolean {
  const { socket } = tracked;
  const pending = socket.writableLength;
  if (pending === 0) {
    tracked.dueMs = null;
    return false;
  }
  // `bytesWritten` includes buffered bytes, so the difference is the number of bytes that the kernel has accepted.
  const taken = socket.bytesWritten - pending;
  if (tracked.dueMs !== null && taken < tracked.goalBytes) return nowMs >= tracked.dueMs;
  // A write counts as pending until the kernel has accepted all of it, so allow one interval per piece of a large
  // write.
  tracked.dueMs = nowMs + stallMs * Math.max(1, Math.ceil(pending / pieceBytes));
  tracked.goalBytes = taken + Math.min(pending, pieceBytes);
  return false;
}

/** Limits on the memory for responses that clients have not read yet, in bytes. */
export interface UnsentBounds {
  readonly perClient: number;
  readonly total: number;
}

/** A claim on memory for one response. */
export interface UnsentClaim {
  /**
   * Reserves at least `bytes` before the response is built. Returns false if that would exceed a limit, and after the
   * claim was released or its response was aborted.
   */
  reserve(bytes: number): boolean;
  /** Records that sending begins. Call it for a response that is built while it is sent. */
  sending(): void;
  /** Sets the claim to the size of the built response, whose sending begins. Returns false like `reserve`. */
  settle(bytes: number): boolean;
  /** Releases the claim. Call it after the response was sent or abandoned. */
  release(): void;
}

interface Held {
  readonly tiers: readonly NetworkTier[];
  readonly cut: () => void;
  bytes: number;
  /** Time at which sending began, in milliseconds; null while the response is being built. */
  sendingSince: number | null;
}

/** Minimum sending time in milliseconds before a response may be aborted to make room for others. */
const protectedMs = 2_000;

/**
 * Limits the memory of unsent responses by client and in total. At the total limit, a response to a network that uses
 * more memory than the requesting network is aborted to make room, but only after `protectedMs` of sending.
 */
export class UnsentBytes {
  readonly #limit: TieredLimit;
  readonly #monotonic: () => number;
  readonly #held = new Set<Held>();

  constructor(bounds: UnsentBounds, monotonic: () => number) {
    this.#limit = new TieredLimit(bounds);
    this.#monotonic = monotonic;
  }

  /** Number of bytes that all claims hold. */
  get total(): number {
    return this.#limit.total;
  }

  /** Creates a claim for one response; `cut` must abort the response. */
  claim(tiers: readonly NetworkTier[], cut: () => void): UnsentClaim {
    const held: Held = { tiers, cut, bytes: 0, sendingSince: null };
    this.#held.add(held);
    return {
      reserve: (bytes) => bytes <= held.bytes || this.#grow(held, bytes),
      sending: () => {
        held.sendingSince = this.#monotonic();
      },
      settle: (bytes) => {
        held.sendingSince = this.#monotonic();
        if (bytes > held.bytes) return this.#grow(held, bytes);
        this.#limit.give(tiers, held.bytes - bytes);
        held.bytes = bytes;
        return true;
      },
      release: () => {
        if (!this.#held.delete(held)) return;
        this.#limit.give(tiers, held.bytes);
        held.bytes = 0;
      },
    };
  }

  #grow(held: Held, bytes: number): boolean {
    // Nothing would give back what a claim takes after its release.
    if (!this.#held.has(held)) return false;
    const more = bytes - held.bytes;
    let reached = this.#limit.take(held.tiers, more);
    while (reached === 'total' && this.#cutLargest(held, more)) reached = this.#limit.take(held.tiers, more);
    if (reached !== null) return false;
    held.bytes = bytes;
    return true;
  }

  /**
   * Aborts a response of the network that uses the most memory, if that is more than the asking network will use with
   * `more` bytes. Returns false if there is none.
   */
  #cutLargest(asking: Held, more: number): boolean {
    const before = this.#monotonic() - protectedMs;
    let largest: Held | null = null;
    let usage = this.#limit.usage(asking.tiers, more);
    for (const one of this.#held) {
      if (one.bytes === 0 || one.sendingSince === null || one.sendingSince > before) continue;
      const own = this.#limit.usage(one.tiers);
      if (own > usage) [largest, usage] = [one, own];
    }
    if (!largest) return false;
    this.#held.delete(largest);
    this.#limit.give(largest.tiers, largest.bytes);
    largest.bytes = 0;
    largest.cut();
    return true;
  }
}
