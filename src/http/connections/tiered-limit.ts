import type { NetworkTier } from './network-tiers.ts';

/**
 * Limit that was exceeded: `client` means the limit of one of the client's networks, `total` the limit of all clients
 * together.
 */
type LimitReached = 'client' | 'total';

/** Limits on the amount that clients may hold at the same time. `perClient` is null if only the total is limited. */
interface TieredBounds {
  readonly perClient: number | null;
  readonly total: number;
}

/** Counts the amounts that clients hold and enforces the limits of each network and of the total. */
export class TieredLimit {
  readonly #bounds: TieredBounds;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(bounds: TieredBounds) {
    this.#bounds = bounds;
  }

  /** Amount that all clients hold. */
  get total(): number {
    return this.#total;
  }

  /** Returns the amount held by the widest network of a client, divided by its allowance. */
  usage(tiers: readonly NetworkTier[]): number {
    const widest = tiers.at(-1);
    return widest ? (this.#held.get(widest.network) ?? 0) / widest.share : 0;
  }

  /**
   * Adds an amount to the client's networks and returns null. If this would exceed a limit, adds nothing and returns
   * that limit.
   */
  take(tiers: readonly NetworkTier[], amount: number): LimitReached | null {
    const { perClient, total } = this.#bounds;
    if (perClient !== null) {
      for (const { network, share } of tiers) {
        if ((this.#held.get(network) ?? 0) + amount > perClient * share) return 'client';
      }
    }
    if (this.#total + amount > total) return 'total';
    this.#add(tiers, amount);
    return null;
  }

  /** Releases an amount that was taken. */
  give(tiers: readonly NetworkTier[], amount: number): void {
    this.#add(tiers, -amount);
  }

  #add(tiers: readonly NetworkTier[], amount: number): void {
    this.#total += amount;
    for (const { network } of tiers) {
      const held = (this.#held.get(network) ?? 0) + amount;
      if (held === 0) this.#held.delete(network);
      else this.#held.set(network, held);
    }
  }
}
