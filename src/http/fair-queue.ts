/** An entry that waits for a turn. */
export interface Waiting {
  /** Told that its turn has come. */
  readonly admit: () => void;
  /** Told that it must give way to another client. */
  readonly refuse: () => void;
  /** Returns true if it may have a turn now; absent: it may. */
  readonly mayRun?: () => boolean;
}

/**
 * A bounded queue that is fair between clients: turns go round between them, whatever each has waiting. In a full
 * queue a client that has less waiting takes the last place of the one that has most.
 */
export class FairQueue {
  readonly #most: number;
  /** The clients in the order of their turns, each with what it has waiting. */
  readonly #clients = new Map<string, Waiting[]>();
  #size = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  /** Entries of a client that wait. */
  waitingOf(client: string): number {
    return this.#clients.get(client)?.length ?? 0;
  }

  /** Adds an entry; returns false if the queue is full. */
  add(client: string, waiting: Waiting): boolean {
    const own = this.#clients.get(client) ?? [];
    if (this.#size >= this.#most && !this.#makeRoom(own.length)) return false;
    own.push(waiting);
    this.#clients.set(client, own);
    this.#size += 1;
    return true;
  }

  /** Takes whose turn it is, of those that may have one; null where there is none. */
  take(): Waiting | null {
    for (const [client, own] of this.#clients) {
      const index = own.findIndex(({ mayRun }) => mayRun?.() ?? true);
      if (index < 0) continue;
      const [taken = null] = own.splice(index, 1);
      this.#clients.delete(client);
      if (own.length > 0) this.#clients.set(client, own);
      this.#size -= 1;
      return taken;
    }
    return null;
  }

  /** Takes one out that waits no longer. */
  remove(client: string, waiting: Waiting): void {
    const own = this.#clients.get(client);
    const at = own?.indexOf(waiting) ?? -1;
    if (!own || at < 0) return;
    own.splice(at, 1);
    this.#size -= 1;
    if (own.length === 0) this.#clients.delete(client);
  }

  #makeRoom(own: number): boolean {
    let longest: Waiting[] | null = null;
    for (const one of this.#clients.values()) if (one.length > (longest?.length ?? own + 1)) longest = one;
    const last = longest?.pop();
    if (!last) return false;
    this.#size -= 1;
    last.refuse();
    return true;
  }
}
