/** Time in which remembered use halves, in milliseconds. */
const halfLifeMs = 10_000;
/** Use that is this old is forgotten: less than a thousandth of it is left. */
const forgottenMs = 10 * halfLifeMs;
/** Clients that are remembered; beyond it those that were charged longest ago are forgotten. */
const maxRemembered = 16_384;
/** Clients that are kept then: forgetting many at once costs less than one at a time. */
const kept = 12_288;

interface Use {
  amount: number;
  atMs: number;
}

/** Recent use of a shared resource by client, halved every ten seconds. It is kept in memory only. */
export class RecentUse {
  readonly #monotonic: () => number;
  /** In the order in which clients were last charged. */
  readonly #uses = new Map<string, Use>();
  #nextLookMs = 0;

  /** `monotonic` is a clock that never steps, in milliseconds. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Clients that are remembered now. */
  get size(): number {
    return this.#uses.size;
  }

  /** Returns what is left of a client's use. */
  of(client: string): number {
    const use = this.#uses.get(client);
    return use ? remaining(use, this.#monotonic()) : 0;
  }

  /** Adds to a client's use. */
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
