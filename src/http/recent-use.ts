/** Half-life of recorded use, in milliseconds. */
const halfLifeMs = 10_000;
/** Age at which recorded use is removed, in milliseconds. At this age, less than a thousandth of the use remains. */
const forgottenMs = 10 * halfLifeMs;
/** Maximum number of remembered clients. Above this limit, the least recently charged clients are removed. */
const maxRemembered = 16_384;
/**
 * Number of clients that remain after a removal. Removing many clients at once costs less than removing them one by
 * one.
 */
const kept = 12_288;

interface Use {
  amount: number;
  atMs: number;
}

/** Recent use of a shared resource by each client. Recorded use halves every ten seconds and is kept only in memory. */
export class RecentUse {
  readonly #monotonic: () => number;
  /** Use by client, ordered by the last charge. */
  readonly #uses = new Map<string, Use>();
  #nextLookMs = 0;

  /** `monotonic` returns the time of a monotonic clock, in milliseconds. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Number of remembered clients. */
  get size(): number {
    return this.#uses.size;
  }

  /** Returns the remaining use of a client. */
  of(client: string): number {
    const use = this.#uses.get(client);
    return use ? remaining(use, this.#monotonic()) : 0;
  }

  /** Adds an amount to a client's use. */
  charge(client: string, amount: number): void {
    const now = this.#monotonic();
    const use = this.#uses.get(client);
    if (use) this.#uses.delete(client);
    this.#uses.set(client, { amount: (use ? remaining(use, now) : 0) + amount, atMs: now });
    if (this.#uses.size > maxRemembered || now >= this.#nextLookMs) this.#forget(now);
  }

  #forget(now: number): void {
    this.#nextLookMs = now + halfLifeMs;
    const max = this.#uses.size > maxRemembered ? kept : maxRemembered;
    for (const [oldest, { atMs }] of this.#uses) {
      if (this.#uses.size <= max && now - atMs < forgottenMs) return;
      this.#uses.delete(oldest);
    }
  }
}

function remaining({ amount, atMs }: Use, now: number): number {
  return amount * 2 ** ((atMs - now) / halfLifeMs);
}
