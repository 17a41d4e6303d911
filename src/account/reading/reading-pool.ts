import { FairQueue, type Waiting } from './fair-queue.ts';
import type { AccountReads } from './protocol.ts';
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

/** Bounds of reading. */
export interface ReadingBounds {
  /** Reading processes. */
  readonly readers: number;
  /** Requests that wait for one of them. */
  readonly maxWaiting: number;
  /** How long one waits at most, in milliseconds. */
  readonly waitMs: number;
  /** How long one turn may last, in milliseconds; then its process is killed. */
  readonly deadlineMs: number;
}

/** What the pool tells of itself. */
export interface ReadingTelemetry {
  /** A turn ended, after `waitedMs` in the queue and `ranMs` with the store. */
  turn(waitedMs: number, ranMs: number): void;
  /** One was sent away: the queue was full, it waited too long, or its deadline passed. */
  busy(why: 'full' | 'waited' | 'deadline'): void;
  /** A reading process was killed, or died. */
  restarted(): void;
}

/** The store behind a bounded queue, in processes that can be killed. */
export interface ReadingPool {
  /**
   * Runs one turn of reads for a client: a short sequence, chunk by chunk. Rejects with StoreBusy when no turn comes
   * in time or the turn outlasts its deadline, and with what `work` rejects with.
   */
  run<T>(client: string, work: (store: AccountReads) => Promise<T>, signal?: AbortSignal): Promise<T>;
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

/** What a pool needs beside its bounds. */
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

/** Makes a pool; no process is started before the first turn. */
export function createReadingPool(options: ReadingPoolOptions): ReadingPool {
  const { url, readers, maxWaiting, waitMs, deadlineMs, telemetry, monotonic } = options;
  const places: Place[] = Array.from({ length: readers }, () => ({ child: null }));
  const free = [...places];
  const queue = new FairQueue(maxWaiting);
  const refusals = new Set<() => void>();
  let stopped = false;

  function busy(why: 'full' | 'waited' | 'deadline'): StoreBusy {
    telemetry.busy(why);
    return new StoreBusy(why, why === 'deadline' ? 5 : 1);
  }

  /** Resolves with a place of one's own, which must be given back. */
  function turn(client: string, signal: AbortSignal | undefined): Promise<Place> {
    const place = queue.size === 0 ? free.pop() : undefined;
    if (place) return Promise.resolve(place);
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
        queue.remove(client, waiting);
        refuse('waited');
      };
      // Nobody is told, and nobody was kept waiting for too long.
      const leave = (): void => {
        queue.remove(client, waiting);
        settle();
        reject(new StoreBusy('left', 1));
      };
      const waiting: Waiting = {
        admit: () => {
          settle();
          const given = free.pop();
          if (given) resolve(given);
          else refuse('full');
        },
        refuse: () => refuse('full'),
      };
      const timer = setTimeout(late, waitMs);
      signal?.addEventListener('abort', leave);
      refusals.add(waiting.refuse);
      if (!queue.add(client, waiting)) refuse('full');
    });
  }

  /** Only with the work really ended: its process idle, or gone. */
  function giveBack(place: Place): void {
    if (stopped) return;
    free.push(place);
    queue.take()?.admit();
  }

  async function work<T>(place: Place, reads: (store: AccountReads) => Promise<T>): Promise<T> {
    if (stopped) throw busy('full');
    if (place.child === null || place.child.ended()) place.child = startReadingChild(url);
    const { child } = place;
    const deadline = setTimeout(() => void child.kill(), deadlineMs);
    try {
      return await reads(child.store);
    } catch (error) {
      if (error instanceof ReadingEnded) throw busy('deadline');
      throw error;
    } finally {
      // What was asked and not waited for is work too.
      await child.idle();
      clearTimeout(deadline);
      if (child.ended()) telemetry.restarted();
    }
  }

  async function run<T>(client: string, reads: (store: AccountReads) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (stopped) throw busy('full');
    const asked = monotonic();
    const place = await turn(client, signal);
    const began = monotonic();
    try {
      return await work(place, reads);
    } finally {
      telemetry.turn(began - asked, monotonic() - began);
      giveBack(place);
    }
  }

  return {
    run,
    async warm(reads) {
      await Promise.all(places.map(() => run('', reads).catch(() => undefined)));
    },
    waiting: () => queue.size,
    async stop() {
      stopped = true;
      for (const refuse of refusals) refuse();
      await Promise.all(places.flatMap(({ child }) => (child ? [child.kill()] : [])));
    },
  };
}
