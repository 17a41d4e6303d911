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
  /** Requests that were answered on it. The server counts; it costs no clock and no timer. */
  answered: number;
  /** `answered` when the table last looked for an idle connection. */
  seenAnswered: number;
  /** Requests without a complete response. */
  outstanding: number;
  /** Deadline by which the peer must have read `goalBytes`; null while no bytes wait to be sent. */
  dueMs: number | null;
  goalBytes: number;
}

/** Bytes that a peer must take in each stall interval. */
const pieceBytes = 64 * 1024;
/** Connections that are looked at in search of an idle one. */
const maxLooks = 64;

/**
 * Every connection of a server. A full table closes the connection that has been idle for longest in favour of a new
 * one, so that idle connections cannot keep other clients out.
 */
export class ConnectionTable {
  readonly #bounds: ConnectionBounds;
  readonly #onCut: (reason: CutReason) => void;
  readonly #limit: TieredLimit;
  /** In the order of their last activity, as far as it was looked at. */
  readonly #connections = new Set<TrackedConnection>();
  readonly #bySocket = new WeakMap<object, TrackedConnection>();

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
    if (reached === 'total' && this.#closeIdle()) reached = this.#limit.take(tiers, 1);
    if (reached !== null) {
      this.#onCut(reached === 'client' ? 'client_full' : 'full');
      socket.destroy();
      return null;
    }
    const tracked: TrackedConnection = {
      socket,
      tiers,
      answered: 0,
      seenAnswered: 0,
      outstanding: 0,
      dueMs: null,
      goalBytes: 0,
    };
    this.#connections.add(tracked);
    this.#bySocket.set(socket, tracked);
    socket.once('close', () => this.#release(tracked));
    return tracked;
  }

  /** The entry of a connection. */
  of(socket: object): TrackedConnection | undefined {
    return this.#bySocket.get(socket);
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
    if (this.#connections.delete(tracked)) this.#limit.give(tracked.tiers, 1);
  }
}

/** Returns true if the connection has sent no response since the last check and has no request under way. */
function isIdle({ socket, answered, seenAnswered, outstanding }: TrackedConnection): boolean {
  return outstanding === 0 && socket.writableLength === 0 && answered === seenAnswered;
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
