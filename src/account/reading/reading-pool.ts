import { clientKey, siteKey } from '../../http/connections/network-tiers.ts';
import { FairQueue, type Waiting } from '../../http/fair-queue.ts';
import type { AccountReads } from './protocol.ts';
import { ReadCosts } from './read-costs.ts';
import { type ReadingChild, ReadingEnded, startReadingChild } from './reading-child.ts';

/** The store cannot be read now: the queue is full, or a deadline passed. */
export class StoreBusy extends Error {
  readonly retryAfterSeconds: number;

  constructor(why: string, retryAfterSeconds: number) {
    super(why);
    this.name = 'StoreBusy';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A turn had no memory for its response, and read nothing: its duration is not a cost of its account. */
export class MemoryRefused extends StoreBusy {
  constructor(retryAfterSeconds: number) {
    super('unsent', retryAfterSeconds);
    this.name = 'MemoryRefused';
  }
}

/** Bounds of reading. */
export interface ReadingBounds {
  /** Reading processes. */
  readonly readers: number;
  /** Requests that wait for one of them. */
  readonly maxWaiting: number;
  /** Maximum waiting time, in milliseconds. */
  readonly waitMs: number;
  /** Maximum time of one turn, in milliseconds; then its process is killed. */
  readonly deadlineMs: number;
  /** Time after which a turn is long, in milliseconds: it ends then if the other long turns are as many as there may be. */
  readonly sliceMs: number;
}

/** Metrics of the pool. */
export interface ReadingTelemetry {
  /** A turn ended, after `waitedMs` in the queue and `ranMs` with the store. */
  turn(waitedMs: number, ranMs: number): void;
  /** One was sent away: the queue was full, it waited too long, or its deadline passed. */
  busy(why: 'full' | 'waited' | 'deadline'): void;
  /** A reading process was killed, or died. */
  restarted(): void;
}

/** The client of a turn, and the account that it reads. */
export interface ReadTurn {
  /** Address of the client. */
  readonly client: string;
  /** The account that is read about: where reading it took long before, it is expected to take long again. */
  readonly account?: string;
  /** Aborted when the client leaves. */
  readonly signal?: AbortSignal;
  /** Told how long the turn took, in milliseconds. */
  readonly onCost?: (readMs: number) => void;
}

/** The store behind a bounded queue, in processes that can be killed. */
export interface ReadingPool {
  /**
   * Runs one turn of reads for a client: a short sequence, chunk by chunk. Rejects with StoreBusy when no turn comes
   * in time or the turn outlasts its deadline, and with what `work` rejects with. Turns of clients that read little recently
   * go first, and those about accounts whose turns are short. A client has one turn at a time, and turns that are long, or expected to be, never have every process, nor do those of one IPv6 site.
   */
  run<T>(turn: ReadTurn, work: (store: AccountReads) => Promise<T>): Promise<T>;
  /**
   * Starts every process and has it make these reads, which open all that it will read from. Never rejects: a store
   * that is not there yet is opened by the turn that finds it.
   */
  warm(reads: (store: AccountReads) => Promise<unknown>): Promise<void>;
  /** Turns that wait now. */
  waiting(): number;
  /** Sends away who waits, kills every process, and resolves when they are gone. */
  stop(): Promise<void>;
}

/** Dependencies of a pool besides its bounds. */
export interface ReadingPoolOptions extends ReadingBounds {
  readonly url: string;
  readonly telemetry: ReadingTelemetry;
  /** A clock that never steps, in milliseconds. */
  readonly monotonic: () => number;
}

/** A place for one reading process; the process comes with the first turn, or a warm-up, and is replaced when it is gone. */
interface Place {
  child: ReadingChild | null;
}

interface GivenPlace {
  readonly place: Place;
  /** The bounds that its turn counts against. */
  readonly names: string[];
  /** Its entry in the queue, if it had to wait. */
  readonly waiting?: Waiting;
}

/** One part of so many of the time goes to requests that have waited longest, and more if their turns take long. */
const oldestEvery = 8;

/** The bound of turns that are long, or expected to be. */
const longTurns = 'long';

/** Makes a pool; no process is started before the first turn. */
export function createReadingPool(options: ReadingPoolOptions): ReadingPool {
  const { url, readers, maxWaiting, waitMs, deadlineMs, sliceMs, telemetry, monotonic } = options;
  const places: Place[] = Array.from({ length: readers }, () => ({ child: null }));
  const free = [...places];
  // With every process in use by others, the longest waiting request is due before it is refused, whatever its cost.
  const maxOldestCost = (waitMs * readers) / oldestEvery;
  const queue = new FairQueue({ maxWaiting, monotonic, oldestEvery, maxOldestCost });
  const refusals = new Set<() => void>();
  const costs = new ReadCosts(monotonic);
  /** Turns under way, by client, site and kind. */
  const running = new Map<string, number>();
  const maxShared = Math.max(1, readers - 1);
  let stopped = false;

  function busy(why: 'full' | 'waited' | 'deadline'): StoreBusy {
    telemetry.busy(why);
    return new StoreBusy(why, why === 'deadline' ? 5 : 1);
  }

  function bounds({ client, account }: ReadTurn): readonly { readonly name: string; readonly max: number }[] {
    const own = { name: `client ${clientKey(client)}`, max: 1 };
    const site = { name: `site ${siteKey(client)}`, max: maxShared };
    if (account === undefined) return [own, site];
    const same = { name: `account ${account}`, max: maxShared };
    return costs.isLong(account) ? [own, site, same, { name: longTurns, max: maxShared }] : [own, site, same];
  }

  function mayRun(turn: ReadTurn): boolean {
    return bounds(turn).every(({ name, max }) => (running.get(name) ?? 0) < max);
  }

  function count(names: readonly string[], change: 1 | -1): void {
    for (const name of names) {
      const now = (running.get(name) ?? 0) + change;
      if (now === 0) running.delete(name);
      else running.set(name, now);
    }
  }

  /** Resolves with a place of one's own, which must be given back. */
  function admitted(turn: ReadTurn): Promise<GivenPlace> {
    const give = (place: Place, waiting?: Waiting): GivenPlace => {
      const names = bounds(turn).map(({ name }) => name);
      count(names, 1);
      return { place, names, ...(waiting ? { waiting } : {}) };
    };
    const place = mayRun(turn) ? free.pop() : undefined;
    if (place) return Promise.resolve(give(place));
    const { signal } = turn;
    const site = siteKey(turn.client);
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
        refusals.delete(waiting.refuse);
      };
      const refuse = (why: 'full' | 'waited'): void => {
        settle();
        reject(busy(why));
      };
      const late = (): void => {
        queue.remove(site, waiting);
        refuse('waited');
      };
      // Not counted as busy: the client left by itself.
      const leave = (): void => {
        queue.remove(site, waiting);
        settle();
        reject(new StoreBusy('left', 1));
      };
      const waiting: Waiting = {
        admit: () => {
          settle();
          const given = free.pop();
          if (given) resolve(give(given, waiting));
          else refuse('full');
        },
        refuse: () => refuse('full'),
        mayRun: () => mayRun(turn),
        expectedCost: costs.expected(turn.account),
      };
      const timer = setTimeout(late, waitMs);
      signal?.addEventListener('abort', leave);
      refusals.add(waiting.refuse);
      if (!queue.add(site, waiting)) refuse('full');
    });
  }

  /** Only with the work really ended: its process idle, or gone. */
  function giveBack({ place, names }: GivenPlace): void {
    if (stopped) return;
    free.push(place);
    count(names, -1);
    // One that ended may have kept several from running: as many go on as there are places for.
    for (let next = queue.take(); next !== null; next = free.length > 0 ? queue.take() : null) next.admit();
  }

  /** A turn that became long counts as one; one more than there may be ends. */
  function becomeLong({ names }: GivenPlace, child: ReadingChild): void {
    if (names.includes(longTurns)) return;
    if (readers > 1 && (running.get(longTurns) ?? 0) >= maxShared) {
      void child.kill();
      return;
    }
    names.push(longTurns);
    count([longTurns], 1);
  }

  async function work<T>(given: GivenPlace, reads: (store: AccountReads) => Promise<T>): Promise<T> {
    if (stopped) throw busy('full');
    const { place } = given;
    if (place.child === null || place.child.ended()) place.child = startReadingChild(url);
    const { child } = place;
    const slice = setTimeout(() => becomeLong(given, child), sliceMs);
    const deadline = setTimeout(() => void child.kill(), deadlineMs);
    try {
      return await reads(child.store);
    } catch (error) {
      if (error instanceof ReadingEnded) throw busy('deadline');
      throw error;
    } finally {
      // What was asked and not waited for is work too.
      await child.idle();
      clearTimeout(slice);
      clearTimeout(deadline);
      if (child.ended()) telemetry.restarted();
    }
  }

  async function run<T>(turn: ReadTurn, reads: (store: AccountReads) => Promise<T>): Promise<T> {
    if (stopped) throw busy('full');
    const asked = monotonic();
    const given = await admitted(turn);
    const began = monotonic();
    let hasRead = true;
    try {
      return await work(given, reads);
    } catch (error) {
      hasRead = !(error instanceof MemoryRefused);
      throw error;
    } finally {
      const ranMs = monotonic() - began;
      if (hasRead) costs.note(turn.account, ranMs);
      queue.spend(siteKey(turn.client), ranMs, given.waiting);
      turn.onCost?.(ranMs);
      telemetry.turn(began - asked, ranMs);
      giveBack(given);
    }
  }

  return {
    run,
    async warm(reads) {
      await Promise.all(places.map((_, n) => run({ client: `warm-up ${n}` }, reads).catch(() => undefined)));
    },
    waiting: () => queue.size,
    async stop() {
      stopped = true;
      for (const refuse of refusals) refuse();
      await Promise.all(places.flatMap(({ child }) => (child ? [child.kill()] : [])));
    },
  };
}
