import type { NetworkTier } from './network-tiers.ts';
import { TieredLimit } from './tiered-limit.ts';

/** Bounds of what is held in memory for clients that have not taken it yet, in bytes. */
export interface UnsentBounds {
  readonly perClient: number;
  readonly total: number;
}

/** The bytes that one response holds. */
export interface UnsentClaim {
  /** Reserves at least so many bytes before they are made; false where a bound forbids it. */
  reserve(bytes: number): boolean;
  /** Sets the claim to what the response really holds; false where a bound forbids it. */
  settle(bytes: number): boolean;
  /** The response is whole, or gone. */
  release(): void;
}

interface Held {
  readonly tiers: readonly NetworkTier[];
  readonly cut: () => void;
  bytes: number;
  /** Start of sending, in milliseconds; null while the response is being built. */
  sendingSince: number | null;
}

/** A response that has been sent for this long may be cut in favour of others when memory is short. */
const protectedMs = 2_000;

/**
 * Bounds the memory of unsent responses, by client and in total. When the total is used up, the response of the
 * network that holds most is cut, unless that is the network that asks.
 */
export class UnsentBytes {
  readonly #limit: TieredLimit;
  readonly #monotonic: () => number;
  readonly #held = new Set<Held>();

  constructor(bounds: UnsentBounds, monotonic: () => number) {
    this.#limit = new TieredLimit(bounds);
    this.#monotonic = monotonic;
  }

  /** Bytes held now. */
  get total(): number {
    return this.#limit.total;
  }

  /** A claim for one response; `cut` ends its sending. */
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
