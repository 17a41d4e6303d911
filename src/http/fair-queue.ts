import { RecentUse } from './recent-use.ts';

/** An entry that waits for a turn. */
export interface Waiting {
  /** Told that its turn has come. */
  readonly admit: () => void;
  /** Told that it must give way to another client. */
  readonly refuse: () => void;
  /** Returns true if it may have a turn now; absent: it may. */
  readonly mayRun?: () => boolean;
  /** Use that its turn is expected to add: an entry waits as if its client had used several times that already. */
  readonly expectedCost?: number;
}

/** Options of a fair queue. */
export interface FairQueueOptions {
  /** Entries that wait at once. */
  readonly maxWaiting: number;
  /** A clock that never steps, in milliseconds. */
  readonly monotonic: () => number;
  /** One part of so many of what turns use goes to the client that has waited longest, whatever it used before. */
  readonly oldestEvery: number;
  /** Maximum cost for which the client that has waited longest must wait: one whose turn costs more has it as soon as one that costs this. */
  readonly maxOldestCost: number;
}

/** A client with waiting entries. */
interface WaitingClient {
  readonly client: string;
  readonly entries: Waiting[];
  /** Index of its recent use: clients of one band are taken for equal. */
  band: number;
}

/** An entry that may have a turn, and its client. */
interface Runnable {
  readonly own: WaitingClient;
  readonly waiting: Waiting;
}

/** Weight of what a turn will use, compared with what was used: short turns first serve more clients in the same time. */
const costWeight = 8;
/** Two bands for each doubling of recent use; the last one has no upper end. */
const bands = 32;
/**
 * A bounded queue that is fair between clients. A turn goes to the client with the least recent use, so a client that asks
 * seldom is served at once, however many others wait; clients of equal use take turns. Some turns go to the client that has
 * waited longest, so that each is served in the end. In a full queue the last place of the client that has most
 * waiting, else of one with more recent use, goes to another client.
 */
export class FairQueue {
  readonly #maxWaiting: number;
  readonly #oldestEvery: number;
  readonly #maxOldestCost: number;
  readonly #use: RecentUse;
  /** The clients that wait, those first that have waited longest for their next turn. */
  readonly #clients = new Map<string, WaitingClient>();
  /** The same clients by their recent use. */
  readonly #bands: readonly Map<string, WaitingClient>[] = Array.from({ length: bands }, () => new Map());
  #size = 0;
  /**
   * Use of other turns, each with one added, that is not yet followed by a turn of the client that has waited longest. Its
   * bound is the use after which the most costly turn of such a client is due.
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

  /** Entries of a client that wait. */
  waitingOf(client: string): number {
    return this.#clients.get(client)?.entries.length ?? 0;
  }

  /** Adds an entry; returns false if the queue is full. `cost` counts as use when the client's next turns are decided. */
  add(client: string, waiting: Waiting, cost = 0): boolean {
    const known = this.#clients.get(client);
    if (this.#size >= this.#maxWaiting && !this.#makeRoom(known?.entries.length ?? 0, this.#bandOf(client, waiting)))
      return false;
    // Making room may have taken the client's own place.
    const own = this.#clients.get(client);
    if (own) own.entries.push(waiting);
    else this.#join({ client, entries: [waiting], band: this.#bandOf(client, waiting) });
    this.#size += 1;
    if (cost > 0) this.#use.charge(client, cost);
    return true;
  }

  /** Adds what a turn of a client used; `waiting` is the entry that had the turn, if it had to wait. */
  spend(client: string, amount: number, waiting?: Waiting): void {
    // What was used before others waited delayed none of them.
    if (this.#size > 0 && !(waiting && this.#byAge.has(waiting))) this.#count(amount);
    this.charge(client, amount);
  }

  /** Adds to the recent use of a client, also for what it has waiting. */
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

  /** Takes whose turn it is, of those that may have one; null where there is none. */
  take(): Waiting | null {
    const oldest = firstRunnable(this.#clients.values());
    if (!oldest) return null;
    if (this.#size === 1) this.#spent = 0;
    const next = firstRunnable(this.#byUse()) ?? oldest;
    const due = this.#dueFor(oldest.waiting.expectedCost ?? 0);
    if (next.own !== oldest.own && this.#spent >= due) {
      // What is left is due to the next: a cheap turn of the oldest takes no time from a costly one.
      this.#spent -= due;
      this.#byAge.add(oldest.waiting);
      return this.#taken(oldest);
    }
    this.#count(1);
    return this.#taken(next);
  }

  /** Takes one out that waits no longer. */
  remove(client: string, waiting: Waiting): void {
    const own = this.#clients.get(client);
    const at = own?.entries.indexOf(waiting) ?? -1;
    if (!own || at < 0) return;
    own.entries.splice(at, 1);
    this.#size -= 1;
    if (own.entries.length === 0) this.#part(own);
  }

  /** Use of others after which the client that has waited longest has a turn. */
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

  /** Takes a place from a client that has more waiting than another, or else from one of a higher band. */
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

  /** Finds the last client of those with most recent use, if that is more than the use of a band. */
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
