import type { Socket } from 'node:net';
import { type NetworkTier, networkTiers } from './network-tiers.ts';
import { TieredLimit } from './tiered-limit.ts';

/** Why a connection was closed before its peer closed it. */
export type CutReason = 'full' | 'client_full' | 'idle' | 'stalled' | 'pipelined' | 'unsent';

/** All of them. */
export const cutReasons = [
  'full',
  'client_full',
  'idle',
  'stalled',
  'pipelined',
  'unsent',
] as const satisfies readonly CutReason[];

/** Bounds of the connections of a server. */
export interface ConnectionBounds {
  /** Connections at once. */
  readonly total: number;
  /** Connections of one client at once; null where the peers are proxies, which stand for many clients. */
  readonly perClient: number | null;
  /** A peer that does not take 64 KiB of its responses, or the rest of them, within this time is cut; in milliseconds. */
  readonly stallMs: number;
}

/** A connection, with what decides whether it may stay. */
export interface TrackedConnection {
  readonly socket: Socket;
  readonly tiers: readonly NetworkTier[];
  /** The widest network of its client: of its peer, or of the client that a trusted proxy names. */
  network: NetworkTier;
  /** Requests that were answered on it. The server counts; it costs no clock and no timer. */
  answered: number;
  /** `answered` when the table last looked for an idle connection. */
  seenAnswered: number;
  /** Requests without a complete response. */
  outstanding: number;
  /** True while received bytes wait to be parsed. */
  held: boolean;
  /** Deadline by which the peer must have read `goalBytes`; null while no bytes wait to be sent. */
  dueMs: number | null;
  goalBytes: number;
}

/** Bytes that a peer must take in each stall interval. */
const pieceBytes = 64 * 1024;
/** Connections that are looked at in search of an idle one. */
const maxLooks = 64;

/** The connections of one network, the widest that a client belongs to. */
interface NetworkConnections {
  readonly share: number;
  readonly own: Set<TrackedConnection>;
}

/** A network with this part of the connections that it had when it was the largest is still taken for the largest. */
const stillLargest = 7 / 8;

/**
 * Every connection of a server. A full table closes a connection in favour of a new one: one of the network that has most,
 * if it has more than the network of the new one; otherwise the one that has been idle for longest. So neither many
 * connections nor idle ones keep other clients out.
 */
export class ConnectionTable {
  readonly #bounds: ConnectionBounds;
  readonly #onCut: (reason: CutReason) => void;
  readonly #limit: TieredLimit;
  /** In the order of their last activity, as far as it was looked at. */
  readonly #connections = new Set<TrackedConnection>();
  readonly #bySocket = new WeakMap<object, TrackedConnection>();
  readonly #networks = new Map<string, NetworkConnections>();
  #largest: { readonly connections: NetworkConnections; readonly until: number } | null = null;

  constructor(bounds: ConnectionBounds, onCut: (reason: CutReason) => void) {
    this.#bounds = bounds;
    this.#onCut = onCut;
    this.#limit = new TieredLimit({ perClient: bounds.perClient, total: bounds.total });
  }

  /** Connections now. */
  get size(): number {
    return this.#connections.size;
  }

  /** Admits a new connection; null when it was closed, before a byte of it was read. */
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

  /** The entry of a connection. */
  of(socket: object): TrackedConnection | undefined {
    return this.#bySocket.get(socket);
  }

  /** Closes a new connection instead of admitting it. */
  refuse(socket: Socket, reason: CutReason): void {
    this.countRefused(reason);
    socket.destroy();
  }

  /** Counts a connection that was closed before the server got it. */
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

  /** Closes a connection for a reason that is counted. */
  cut(tracked: TrackedConnection, reason: CutReason): void {
    if (!this.#connections.has(tracked)) return;
    this.#onCut(reason);
    this.#release(tracked);
    tracked.socket.destroy();
  }

  /** Closes every connection whose peer takes too little of what is sent to it. `nowMs` never steps back. */
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
    // With the new connection the asking network has one more.
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

  /** Finds the network with most connections. A search looks at every network, so its result is used several times. */
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

/** Connections of a network, in allowances of a single client. */
function usage({ own, share }: NetworkConnections): number {
  return own.size / share;
}

function widestOf(tiers: readonly NetworkTier[]): NetworkTier {
  return tiers.at(-1) ?? { network: 'unknown', share: 1 };
}

/** Returns true if the connection has sent no response since the last check and has no request under way or waiting. */
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
  // What was handed over and taken: bytes that wait here or in the event loop's own queue are in both numbers.
  const taken = socket.bytesWritten - pending;
  if (tracked.dueMs !== null && taken < tracked.goalBytes) return nowMs >= tracked.dueMs;
  // A single write of more than a piece counts as taken when all of it is: it has as many intervals as pieces.
  tracked.dueMs = nowMs + stallMs * Math.max(1, Math.ceil(pending / pieceBytes));
  tracked.goalBytes = taken + Math.min(pending, pieceBytes);
  return false;
}
