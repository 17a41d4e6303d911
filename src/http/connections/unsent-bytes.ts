import type { NetworkTier } from './network-tiers.ts';
import { TieredLimit } from './tiered-limit.ts';

/** Limits on the memory for responses that clients have not read yet, in bytes. */
export interface UnsentBounds {
  readonly perClient: number;
  readonly total: number;
}

/** A claim on memory for one response. */
export interface UnsentClaim {
  /** Reserves at least `bytes` before the response is built. Returns false if that would exceed a limit. */
  reserve(bytes: number): boolean;
  /** Sets the claim to the size of the built response. Returns false if that would exceed a limit. */
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
    const more = bytes - held.bytes;
    let reached = this.#limit.take(held.tiers, more);
    while (reached === 'total' && this.#cutLargest(held)) reached = this.#limit.take(held.tiers, more);
    if (reached !== null) return false;
    held.bytes = bytes;
    return true;
  }

  #cutLargest(asking: Held): boolean {
    const before = this.#monotonic() - protectedMs;
    let largest: Held | null = null;
    let usage = this.#limit.usage(asking.tiers);
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
