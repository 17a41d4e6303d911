import { clientKey, siteKey } from '../../http/connections/network-tiers.ts';
import { FairQueue, type Waiting } from '../../http/fair-queue.ts';
import { StoreError, type StoreErrorCode } from '../../store/errors.ts';
import { saltedMark } from '../budget/budgets.ts';
import { type AccountReads, type ReadingChild, ReadingEnded, startReadingChild } from './reading-child.ts';

/** Error for a store that cannot be read now, for example because the queue is full or a deadline has passed. */
export class StoreBusy extends Error {
  readonly retryAfterSeconds: number;

  constructor(why: string, retryAfterSeconds: number) {
    super(why);
    this.name = 'StoreBusy';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Error for a turn that could not reserve memory for its response. Such a turn has read no data, so its duration does
 * not affect the expected cost of its account.
 */
export class MemoryRefused extends StoreBusy {
  constructor(retryAfterSeconds: number) {
    super('unsent', retryAfterSeconds);
    this.name = 'MemoryRefused';
  }
}

/** Codes of the store errors that make the store unreadable, so that its clients get `store_busy`. */
export const storeFaults = [
  'busy',
  'unreachable',
  'closed',
  'not_a_store',
  // Never return data of a damaged day; the operator must restore the day.
  'damaged',
  'io_failed',
  'misconfigured',
  'unexpected',
] as const satisfies readonly StoreErrorCode[];
/** Code of a store error that makes the store unreadable. */
export type StoreFault = (typeof storeFaults)[number];

/** Returns the code of an error that makes the store unreadable; null for any other error. */
export function storeFaultOf(error: unknown): StoreFault | null {
  if (!(error instanceof StoreError)) return null;
  return storeFaults.find((code) => code === error.code) ?? null;
}

/** Receives the metrics of the pool. */
export interface ReadingTelemetry {
  /** Called at the end of a turn that waited `waitedMs` in the queue and ran for `ranMs` in a reading process. */
  turn(waitedMs: number, ranMs: number): void;
  /**
   * Called when a turn is refused or ended. `full`: the queue is full or the pool has stopped. `waited`: the turn
   * waited too long. `deadline`: the process of the turn exited, usually because it was killed when the turn took too
   * long.
   */
  busy(why: 'full' | 'waited' | 'deadline'): void;
  /** Called when a turn fails because the store cannot be read. */
  storeFailed(code: StoreFault): void;
  /** Called when a reading process has exited or was killed. */
  restarted(): void;
}

/** Client and account of a turn. */
export interface ReadTurn {
  /** Address of the client. */
  readonly client: string;
  /** DID of the account. The duration of the turn is estimated from earlier turns about the same account. */
  readonly account?: string;
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal;
  /** Called with the duration of the turn, in milliseconds. */
  readonly onCost?: (readMs: number) => void;
}

/** A pool of reading processes, which can be killed, with a bounded queue of turns. */
export interface ReadingPool {
  /**
   * Runs one turn: a short sequence of reads for a client. Rejects with `StoreBusy` if no process becomes free in time,
   * the queue is full, the client disconnects while waiting, or the turn is ended because it takes too long. Rejects
   * with the error of `work` if it fails. Clients with little recent use and accounts with short turns are served
   * first. A client has at most one turn at a time. Neither long turns nor the turns of one account or of one IPv6 site
   * can occupy all of several processes.
   */
  run<T>(turn: ReadTurn, work: (store: AccountReads) => Promise<T>): Promise<T>;
  /**
   * Starts all processes and runs `reads` in each of them, so that the store's files are open before the first turn.
   * Never rejects: if the store does not exist yet, a later turn opens it.
   */
  warm(reads: (store: AccountReads) => Promise<unknown>): Promise<void>;
  /** Returns the number of turns in the queue. */
  waiting(): number;
  /** Refuses all waiting turns and kills all processes. Resolves once all processes have exited. */
  stop(): Promise<void>;
}

/** Options for a reading pool. */
interface ReadingPoolOptions {
  readonly url: string;
  /** Number of reading processes. */
  readonly readers: number;
  /** Maximum number of requests waiting for a reading process. */
  readonly maxWaiting: number;
  /** Maximum waiting time, in milliseconds. */
  readonly waitMs: number;
  /** Maximum duration of one turn, in milliseconds, after which its process is killed. */
  readonly deadlineMs: number;
  /**
   * Duration in milliseconds after which a running turn counts as long. If the maximum number of long turns is already
   * reached, the turn is ended.
   */
  readonly sliceMs: number;
  readonly telemetry: ReadingTelemetry;
  /** Monotonic clock, in milliseconds. */
  readonly monotonic: () => number;
}

/**
 * Slot of one reading process. The first turn starts the process. If the process has exited, the next turn starts a
 * new one.
 */
interface Place {
  child: ReadingChild | null;
}

interface GivenPlace {
  readonly place: Place;
  /** Names of the limits that apply to the turn. */
  readonly names: string[];
  /** Entry of the turn in the queue, if it had to wait. */
  readonly waiting?: Waiting;
}

/**
 * Reciprocal of the minimum share of time for the requests that have waited longest. These requests use a larger
 * share if their turns take long.
 */
const oldestEvery = 8;

/**
 * Maximum duration of a warm-up in milliseconds, after which its process is killed. The limit is longer than the limit
 * of a turn: on a busy machine, a process that is killed while it starts would be started again and again.
 */
const maxWarmUpMs = 30_000;

/** Name of the limit on turns that are long or expected to be long. */
const longTurns = 'long';

/** Creates a reading pool. The first turn starts the first process. */
export function createReadingPool(options: ReadingPoolOptions): ReadingPool {
  const { url, readers, maxWaiting, waitMs, deadlineMs, sliceMs, telemetry, monotonic } = options;
  const places: Place[] = Array.from({ length: readers }, () => ({ child: null }));
  const free = [...places];
  // Limit the cost, so that the longest-waiting request has its turn before it is refused, even if other turns occupy
  // all processes.
  const maxOldestCost = (waitMs * readers) / oldestEvery;
  const queue = new FairQueue({ maxWaiting, monotonic, oldestEvery, maxOldestCost });
  const refusals = new Set<() => void>();
  const costs = new ReadCosts(monotonic);
  /** Number of running turns by limit name. */
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

  /** Waits for a free slot. The caller must return the slot with `giveBack`. */
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
      // A client that disconnects does not count as refused.
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

  /** Releases a slot, whose process must be idle or have exited, and starts waiting turns. */
  function giveBack({ place, names }: GivenPlace): void {
    if (stopped) return;
    free.push(place);
    count(names, -1);
    // The ended turn may have blocked several waiting turns by its limits, so use every free slot.
    for (let next = queue.take(); next !== null; next = free.length > 0 ? queue.take() : null) next.admit();
  }

  /** Marks a turn as a long turn. Kills the process of the turn instead if there are already too many long turns. */
  function becomeLong({ names }: GivenPlace, child: ReadingChild): void {
    if (names.includes(longTurns)) return;
    if (readers > 1 && (running.get(longTurns) ?? 0) >= maxShared) {
      void child.kill();
      return;
    }
    names.push(longTurns);
    count([longTurns], 1);
  }

  async function work<T>(given: GivenPlace, reads: (store: AccountReads) => Promise<T>, isWarmUp: boolean): Promise<T> {
    if (stopped) throw busy('full');
    const { place } = given;
    if (place.child === null || place.child.ended()) place.child = startReadingChild(url);
    const { child } = place;
    // Do not count warm-ups as long turns: they run in all processes at once, so on a busy machine one would be
    // killed.
    const slice = isWarmUp ? undefined : setTimeout(() => becomeLong(given, child), sliceMs);
    const deadline = setTimeout(() => void child.kill(), isWarmUp ? maxWarmUpMs : deadlineMs);
    try {
      return await reads(child.store);
    } catch (error) {
      if (error instanceof ReadingEnded) throw busy('deadline');
      throw error;
    } finally {
      // Wait for reads that `reads` has started but not awaited; they also belong to the turn.
      await child.idle();
      clearTimeout(slice);
      clearTimeout(deadline);
      if (child.ended()) telemetry.restarted();
    }
  }

  async function run<T>(turn: ReadTurn, reads: (store: AccountReads) => Promise<T>, isWarmUp = false): Promise<T> {
    if (stopped) throw busy('full');
    const asked = monotonic();
    const given = await admitted(turn);
    const began = monotonic();
    let hasRead = true;
    try {
      return await work(given, reads, isWarmUp);
    } catch (error) {
      hasRead = !(error instanceof MemoryRefused);
      const fault = storeFaultOf(error);
      if (fault !== null) telemetry.storeFailed(fault);
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
    run: (turn, reads) => run(turn, reads),
    async warm(reads) {
      await Promise.all(places.map((_, n) => run({ client: `warm-up ${n}` }, reads, true).catch(() => undefined)));
    },
    waiting: () => queue.size,
    async stop() {
      stopped = true;
      for (const refuse of refusals) refuse();
      await Promise.all(places.flatMap(({ child }) => (child ? [child.kill()] : [])));
    },
  };
}

/** Minimum expected duration of a turn that counts as long, in milliseconds. */
const longMs = 300;
/** Minimum expected duration that is remembered, in milliseconds; shorter turns count as cheap. */
const cheapMs = 10;
/** Weight of the newest turn in the moving average. */
const newestShare = 1 / 4;
/** Time for which the duration of turns is remembered, in milliseconds. */
const rememberedMs = 600_000;
/** Maximum number of accounts whose durations are remembered. */
const maxRemembered = 10_000;

interface Cost {
  readonly ms: number;
  readonly untilMs: number;
}

/**
 * Expected durations of turns by account, from recent turns, so that cheap turns run first and long turns never occupy
 * all processes. Accounts are stored only as hashes with a salt of this process.
 */
export class ReadCosts {
  readonly #monotonic: () => number;
  readonly #mark = saltedMark();
  /** Costs by the hash of the account, ordered by the last turn, oldest first. */
  readonly #costs = new Map<string, Cost>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Returns the expected duration of a turn about an account, in milliseconds, or 0 if it is cheap or unknown. */
  expected(account: string | undefined): number {
    const cost = account === undefined ? undefined : this.#costs.get(this.#mark(account));
    return cost && cost.untilMs > this.#monotonic() ? cost.ms : 0;
  }

  /** Returns true if a turn about an account is expected to be long. */
  isLong(account: string | undefined): boolean {
    return this.expected(account) >= longMs;
  }

  /** Records the duration of a turn, in milliseconds. After a long turn, the next one is also expected to be long. */
  note(account: string | undefined, ranMs: number): void {
    if (account === undefined) return;
    const before = this.expected(account);
    const ms = ranMs >= longMs ? Math.max(ranMs, before) : before + (ranMs - before) * newestShare;
    const mark = this.#mark(account);
    this.#costs.delete(mark);
    if (ms < cheapMs) return;
    if (this.#costs.size >= maxRemembered) this.#costs.delete(this.#costs.keys().next().value ?? '');
    this.#costs.set(mark, { ms, untilMs: this.#monotonic() + rememberedMs });
  }
}
