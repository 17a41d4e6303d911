import type { NetworkTier } from './connections/network-tiers.ts';
import { FairQueue } from './fair-queue.ts';

/** Dependencies of `FairTurns`. */
interface FairTurnsOptions {
  /** Maximum number of waiting pieces of work. */
  readonly maxWaiting: number;
  /** Calls `act` in the next turn of the event loop. */
  readonly nextTurn: (act: () => void) => void;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
}

/** Time in milliseconds after which a turn of the event loop begins no more pieces of work. */
const sliceMs = 2;
/** Maximum number of pieces of work that a turn of the event loop begins. */
const piecesPerTurn = 8;
/** Maximum number of consecutive turns of the event loop that only accept connections. */
const maxAcceptTurns = 4;

/** Reciprocal of the share of work that is reserved for the network that has waited longest. */
const oldestEvery = 16;
/**
 * Charge for each piece of work, even if the work is withdrawn, because opening and closing a connection also takes
 * time.
 */
const pieceCost = 1;

/** Number of waiting pieces of work at which `maxOfClient` begins to apply. */
const crowd = 256;
/** Maximum number of waiting pieces of work of a network with the share 1 while much work is waiting. */
const maxOfClient = 8;

/**
 * Shares the event loop fairly between clients, which are identified by their widest network. Each turn of the loop
 * begins a few pieces of work of the networks with the smallest recent use. The loop accepts one connection per
 * listening socket in each turn. A turn that accepts a connection begins no work, for at most `maxAcceptTurns` turns
 * in a row. Otherwise new clients would wait in the kernel's queue, which is not fair between clients.
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

  /** Number of waiting pieces of work. */
  get waiting(): number {
    return this.#queue.size;
  }

  /**
   * Returns true if at least `crowd` pieces of work are waiting and the network has reached its maximum of waiting
   * pieces.
   */
  isCrowdedBy({ network, share }: NetworkTier): boolean {
    return this.#queue.size >= crowd && this.#queue.waitingOf(network) >= maxOfClient * share;
  }

  /** Records that the event loop accepted a connection in the current turn. */
  accepted(): void {
    this.#accepted = true;
  }

  /** Charges a network for `pieces` pieces of work. */
  charge({ network, share }: NetworkTier, pieces: number): void {
    this.#queue.charge(network, (pieces * pieceCost) / share);
  }

  /**
   * Adds a piece of work, charges the network for it, and calls `begin` at the network's turn. Calls `refuse` if the
   * work is not accepted, or later has to make room for work of another network. Returns a function that withdraws
   * the work.
   */
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
