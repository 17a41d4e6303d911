import type { NetworkTier } from './connections/network-tiers.ts';
import { FairQueue } from './fair-queue.ts';

/** Dependencies of fair turns. */
export interface FairTurnsOptions {
  /** Pieces of work that wait at once. */
  readonly maxWaiting: number;
  /** Calls back in the next turn of the event loop. */
  readonly nextTurn: (act: () => void) => void;
  /** A clock that never steps, in milliseconds. */
  readonly monotonic: () => number;
}

/** A turn of the event loop begins no further piece of work after this time, in milliseconds. */
const sliceMs = 2;
/** Pieces of work that a turn of the event loop begins at most. */
const piecesPerTurn = 8;
/** Successive turns of the event loop that may only accept connections. */
const maxAcceptTurns = 4;

/** One piece of work of so many is that of the network that has waited longest. */
const oldestEvery = 16;
/** Charge for a piece of work, also one that is withdrawn: opening and closing connections uses the event loop too. */
const pieceCost = 1;

/** With this many pieces of work waiting, a client may have `maxOfClient` of them, a site several times as many. */
const crowd = 256;
const maxOfClient = 8;

/**
 * Shares the event loop between clients, by the widest network of each: each turn of the loop begins a few pieces of work,
 * those of networks that began fewest recently. The loop accepts one connection a turn, so a turn that accepted one begins no work, up to a bound: otherwise
 * new clients would wait in the kernel's queue, where no fairness applies, while work is done for those before them.
 */
export class FairTurns {
  readonly #nextTurn: FairTurnsOptions['nextTurn'];
  readonly #monotonic: FairTurnsOptions['monotonic'];
  readonly #queue: FairQueue;
  #scheduled = false;
  #accepted = false;
  #acceptTurns = 0;

  constructor({ maxWaiting, nextTurn, monotonic }: FairTurnsOptions) {
    this.#nextTurn = nextTurn;
    this.#monotonic = monotonic;
    this.#queue = new FairQueue({ maxWaiting, monotonic, oldestEvery, maxOldestCost: pieceCost });
  }

  /** Pieces of work that wait now. */
  get waiting(): number {
    return this.#queue.size;
  }

  /** Returns true if much work waits, and the network has more of it than its part. */
  isCrowdedBy({ network, share }: NetworkTier): boolean {
    return this.#queue.size >= crowd && this.#queue.waitingOf(network) >= maxOfClient * share;
  }

  /** Notes that the event loop accepted and admitted a connection in this turn. */
  accepted(): void {
    this.#accepted = true;
  }

  /** Counts as so many pieces of work that a network had. */
  charge({ network, share }: NetworkTier, pieces: number): void {
    this.#queue.charge(network, (pieces * pieceCost) / share);
  }

  /** Begins a piece of work in the network's turn; calls `refuse` instead if too much waits. Returns a function that withdraws it. */
  enter({ network, share }: NetworkTier, begin: () => void, refuse: () => void): () => void {
    const waiting = { admit: begin, refuse };
    if (!this.#queue.add(network, waiting, pieceCost / share)) refuse();
    else this.#schedule();
    return () => this.#queue.remove(network, waiting);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#nextTurn(() => {
      this.#scheduled = false;
      this.#turn();
      if (this.#queue.size > 0) this.#schedule();
    });
  }

  #turn(): void {
    const accepted = this.#accepted;
    this.#accepted = false;
    if (accepted && this.#acceptTurns < maxAcceptTurns) {
      this.#acceptTurns += 1;
      return;
    }
    this.#acceptTurns = 0;
    const end = this.#monotonic() + sliceMs;
    for (let begun = 0; begun < piecesPerTurn; begun++) {
      this.#queue.take()?.admit();
      if (this.#queue.size === 0 || this.#monotonic() >= end) return;
    }
  }
}
