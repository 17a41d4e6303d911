import type { NetworkTier } from './network-tiers.ts';

/** Why an amount was not granted: the networks of the client have theirs, or all clients together have. */
export type LimitReached = 'client' | 'total';

/** Bounds of an amount that clients hold for a while; `perClient` null: only the total is bounded. */
export interface TieredBounds {
  readonly perClient: number | null;
  readonly total: number;
}

/** Counts what clients hold, and grants no more than each of their networks and all together may hold. */
export class TieredLimit {
  readonly #bounds: TieredBounds;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(bounds: TieredBounds) {
    this.#bounds = bounds;
  }

  /** The amount that all clients hold. */
  get total(): number {
    return this.#total;
  }

  /** The amount that the widest network of a client holds, in allowances of a single client. */
  usage(tiers: readonly NetworkTier[]): number {
    const widest = tiers.at(-1);
    return widest ? (this.#held.get(widest.network) ?? 0) / widest.share : 0;
  }

  /** Takes an amount; nothing is taken where a bound would be exceeded, and the bound is returned. */
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

  /** Gives back an amount that was taken. */
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
