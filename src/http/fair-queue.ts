/** An entry of the queue, which waits for a turn. */
export interface Waiting {
  /** Called when the entry gets its turn. */
  readonly admit: () => void;
  /** Called when the entry is removed to make room for another client. */
  readonly refuse: () => void;
  /** Returns true if the entry may have a turn now. If absent, the entry may always have a turn. */
  readonly mayRun?: () => boolean;
  /** Expected cost of the turn. An entry with a high expected cost waits longer. */
  readonly expectedCost?: number;
}

/** Options for a fair queue. */
interface FairQueueOptions {
  /** Maximum number of waiting entries. */
  readonly maxWaiting: number;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
  /**
   * Reciprocal of the share of use that is reserved for the client with the longest wait, regardless of its recent
   * use.
   */
  readonly oldestEvery: number;
  /**
   * Cap on the cost that postpones the turn of the client with the longest wait. A costlier turn is due after the
   * same wait as a turn with this cost.
   */
  readonly maxOldestCost: number;
}

interface WaitingClient {
  readonly client: string;
  readonly entries: Waiting[];
  /** Index of the client's band of recent use. Clients in the same band are treated as equal. */
  band: number;
}

/** An entry that may have a turn now, with its client. */
interface Runnable {
  readonly own: WaitingClient;
  readonly waiting: Waiting;
}

/** Weight of a turn's expected cost relative to recent use. It makes short turns run first. */
const costWeight = 8;
/** Number of bands of recent use. Use doubles every two bands; the last band has no upper limit. */
const bands = 32;
/**
 * A bounded queue that is fair between clients. The client with the smallest recent use has the next turn, so a
 * client with few requests is served soon even if many other clients wait; clients with equal use alternate. Some
 * turns go to the client that has waited longest, so that every client is eventually served. If the queue is full, a
 * new entry replaces the last entry of the client with the most waiting entries, or of a client with a larger recent
 * use. The new entry is refused if there is no such client.
 */
export class FairQueue {
  readonly #maxWaiting: number;
  readonly #oldestEvery: number;
  readonly #maxOldestCost: number;
  readonly #use: RecentUse;
  /** Waiting clients by name, ordered by waiting time, the longest first. */
  readonly #clients = new Map<string, WaitingClient>();
  /** Waiting clients by name, for each band of recent use. */
  readonly #bands: readonly Map<string, WaitingClient>[] = Array.from({ length: bands }, () => new Map());
  #size = 0;
  /**
   * Use by other clients that counts towards the next turn of the client with the longest wait. The value is capped
   * at the use after which even the costliest turn is due.
   */
  #spent = 0;
  /** Entries that had their turn because their client had waited longest. */
  readonly #byAge = new WeakSet<Waiting>();

  constructor({ maxWaiting, monotonic, oldestEvery, maxOldestCost }: FairQueueOptions) {
    this.#maxWaiting = maxWaiting;
    this.#oldestEvery = oldestEvery;
    this.#maxOldestCost = maxOldestCost;
    this.#use = new RecentUse(monotonic);
  }

  get size(): number {
    return this.#size;
  }

  /** Returns the number of waiting entries of a client. */
  waitingOf(client: string): number {
    return this.#clients.get(client)?.entries.length ?? 0;
  }

  /**
   * Adds an entry and `cost` to the client's recent use. A full queue refuses another entry to make room. Returns
   * false, and adds nothing, if the queue is full and no other entry may be refused.
   */
  add(client: string, waiting: Waiting, cost = 0): boolean {
    const known = this.#clients.get(client);
    if (this.#size >= this.#maxWaiting && !this.#makeRoom(known?.entries.length ?? 0, this.#bandOf(client, waiting)))
      return false;
    // `makeRoom` may have removed the client's last entry.
    const own = this.#clients.get(client);
    if (own) own.entries.push(waiting);
    else this.#join({ client, entries: [waiting], band: this.#bandOf(client, waiting) });
    this.#size += 1;
    if (cost > 0) this.#use.charge(client, cost);
    return true;
  }

  /**
   * Adds the use of a client's turn to its recent use. `waiting` is the entry that had the turn; it is absent if the
   * turn needed no wait.
   */
  spend(client: string, amount: number, waiting?: Waiting): void {
    // Do not count the turn if no other entry is waiting, or if the turn was granted because of a long wait.
    if (this.#size > 0 && !(waiting && this.#byAge.has(waiting))) this.#count(amount);
    this.charge(client, amount);
  }

  /** Adds to the recent use of a client and updates the position of its waiting entries. */
  charge(client: string, amount: number): void {
    this.#use.charge(client, amount);
    const own = this.#clients.get(client);
    if (!own) return;
    const band = this.#bandOf(client, own.entries[0]);
    if (band === own.band) return;
    this.#bands[own.band]?.delete(client);
    own.band = band;
    this.#bands[band]?.set(client, own);
  }

  /** Removes and returns the entry that has the next turn; null if no entry may have a turn now. */
  take(): Waiting | null {
    const oldest = firstRunnable(this.#clients.values());
    if (!oldest) return null;
    if (this.#size === 1) this.#spent = 0;
    const next = firstRunnable(this.#byUse()) ?? oldest;
    const due = this.#dueFor(oldest.waiting.expectedCost ?? 0);
    if (next.own !== oldest.own && this.#spent >= due) {
      // Keep the remainder for the next client with the longest wait, so that a cheap turn that was granted because of
      // a long wait does not postpone a later costly turn.
      this.#spent -= due;
      this.#byAge.add(oldest.waiting);
      return this.#taken(oldest);
    }
    this.#count(1);
    return this.#taken(next);
  }

  /** Removes an entry that no longer waits. Does nothing for an unknown entry. */
  remove(client: string, waiting: Waiting): void {
    const own = this.#clients.get(client);
    const at = own?.entries.indexOf(waiting) ?? -1;
    if (!own || at < 0) return;
    own.entries.splice(at, 1);
    this.#size -= 1;
    if (own.entries.length === 0) this.#part(own);
  }

  /** Returns the use by other clients after which a turn with this cost is due for the client with the longest wait. */
  #dueFor(cost: number): number {
    return (this.#oldestEvery - 1) * Math.max(1, Math.min(cost, this.#maxOldestCost));
  }

  #count(amount: number): void {
    this.#spent = Math.min(this.#spent + amount, this.#dueFor(this.#maxOldestCost));
  }

  #taken({ own, waiting }: Runnable): Waiting {
    own.entries.splice(own.entries.indexOf(waiting), 1);
    this.#size -= 1;
    this.#part(own);
    if (own.entries.length > 0) this.#join({ ...own, band: this.#bandOf(own.client, own.entries[0]) });
    return waiting;
  }

  *#byUse(): Generator<WaitingClient> {
    for (const band of this.#bands) yield* band.values();
  }

  #bandOf(client: string, next: Waiting | undefined): number {
    const use = this.#use.of(client) + (next?.expectedCost ?? 0) * costWeight;
    return Math.min(bands - 1, Math.floor(2 * Math.log2(1 + use)));
  }

  #join(own: WaitingClient): void {
    this.#clients.set(own.client, own);
    this.#bands[own.band]?.set(own.client, own);
  }

  #part({ client, band }: WaitingClient): void {
    this.#clients.delete(client);
    this.#bands[band]?.delete(client);
  }

  /**
   * Refuses the last entry of another client: the client with the most entries, if it has at least two more entries
   * than `waiting`, and otherwise a client in a higher band than `band`. Returns false if there is no such client.
   */
  #makeRoom(waiting: number, band: number): boolean {
    const victim = this.#withMoreWaiting(waiting) ?? this.#withMoreUse(band);
    const last = victim?.entries.pop();
    if (!victim || !last) return false;
    this.#size -= 1;
    if (victim.entries.length === 0) this.#part(victim);
    last.refuse();
    return true;
  }

  #withMoreWaiting(waiting: number): WaitingClient | null {
    let longest: WaitingClient | null = null;
    for (const one of this.#clients.values())
      if (one.entries.length > (longest?.entries.length ?? waiting + 1)) longest = one;
    return longest;
  }

  /** Returns the last client in the highest occupied band above `than`; null if there is no such client. */
  #withMoreUse(than: number): WaitingClient | null {
    for (let band = bands - 1; band > than; band--) {
      const last = [...(this.#bands[band]?.values() ?? [])].at(-1);
      if (last) return last;
    }
    return null;
  }
}

function firstRunnable(clients: Iterable<WaitingClient>): Runnable | null {
  for (const own of clients) {
    const waiting = own.entries.find(({ mayRun }) => mayRun?.() ?? true);
    if (waiting) return { own, waiting };
  }
  return null;
}

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
