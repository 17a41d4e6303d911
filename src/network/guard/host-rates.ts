/** Rate limit of one host: an amount per second, and the maximum amount that accumulates while the host is unused. */
export interface HostRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Number of hosts in memory above which hosts with a full bucket are removed. */
const maxHosts = 16_384;

interface Bucket {
  readonly balance: number;
  readonly atMs: number;
}

/** Token buckets, one for each host. A host without a bucket in memory has a full bucket. */
export class HostRates {
  readonly #rate: HostRate;
  readonly #clock: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** `clock` is a monotonic clock, in milliseconds. */
  constructor(rate: HostRate, clock: () => number) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /** Returns the time in milliseconds until a claim for the host may be granted; 0 if it may be granted now. */
  msUntilFree(host: string): number {
    return Math.ceil(Math.max(0, ((1 - this.#balanceOf(host)) / this.#rate.perSecond) * 1_000));
  }

  /** Charges the host for a claim, or for another amount. */
  take(host: string, amount = 1): void {
    const balance = this.#balanceOf(host) - amount;
    this.#buckets.delete(host);
    if (this.#buckets.size >= maxHosts) this.#removeFull();
    this.#buckets.set(host, { balance, atMs: this.#clock() });
  }

  #balanceOf(host: string): number {
    const { perSecond, burst } = this.#rate;
    const bucket = this.#buckets.get(host);
    if (bucket === undefined) return burst;
    return Math.min(burst, bucket.balance + ((this.#clock() - bucket.atMs) / 1_000) * perSecond);
  }

  /** Removes the hosts with a full bucket and, if that frees no space, the host that was charged least recently. */
  #removeFull(): void {
    const [oldest] = this.#buckets.keys();
    for (const host of this.#buckets.keys()) if (this.#balanceOf(host) >= this.#rate.burst) this.#buckets.delete(host);
    if (this.#buckets.size >= maxHosts && oldest !== undefined) this.#buckets.delete(oldest);
  }
}
