import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../contract/timestamp.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { type Interval, micros, minute } from '../../store/time.ts';

/** Maximum drift between the wall clock and the monotonic clock, in microseconds; a larger drift is a clock step. */
const maxClockDrift = minute;
/**
 * Maximum difference between an upstream's time and the wall clock for the upstream to confirm the wall clock, in
 * microseconds.
 */
export const maxUpstreamDifference = minute;
/** Time after which smaller drift is discarded, in microseconds, so that slow drift does not add up to a clock step. */
const anchorPeriod = 60 * minute;

/** The two clocks of this machine, both in microseconds. */
export interface Clocks {
  /** Returns the time of the wall clock, since 1970. */
  readonly wall: () => Micros;
  /**
   * Returns the time of the monotonic clock, which has an arbitrary origin and stops while the machine is suspended.
   */
  readonly monotonic: () => number;
}

/** Detects steps of the wall clock by comparison with the monotonic clock, from the time of its creation. */
export class ClockWatch {
  readonly #clocks: Clocks;
  #anchor: { readonly wall: Micros; readonly monotonic: number };
  #state: 'unconfirmed' | 'confirmed' | 'doubtful' = 'unconfirmed';

  constructor(clocks: Clocks) {
    this.#clocks = clocks;
    this.#anchor = this.#now;
  }

  get #now() {
    return { wall: this.#clocks.wall(), monotonic: this.#clocks.monotonic() };
  }

  /**
   * Compares the clocks. Returns the interval that the wall clock skipped or repeated since the last call, or null if
   * there was no clock step. A step sets `doubtful`.
   */
  look(): Interval | null {
    const now = this.#now;
    const expected = this.#expectedAt(now.monotonic);
    if (Math.abs(now.wall - expected) <= maxClockDrift) {
      if (now.monotonic - this.#anchor.monotonic > anchorPeriod) this.#anchor = now;
      return null;
    }
    this.#anchor = now;
    this.#state = 'doubtful';
    return { start: micros(Math.min(expected, now.wall)), end: micros(Math.max(expected, now.wall)) };
  }

  /**
   * Time of the wall clock; null if the clock is doubtful, or has stepped since the last `look`. The next `look` still
   * reports that step.
   */
  get undoubtedTime(): Micros | null {
    const { wall, monotonic } = this.#now;
    return this.doubtful || Math.abs(wall - this.#expectedAt(monotonic)) > maxClockDrift ? null : wall;
  }

  /** Returns the time that the wall clock shows without a step. */
  #expectedAt(monotonic: number): Micros {
    return micros(Math.round(this.#anchor.wall + monotonic - this.#anchor.monotonic));
  }

  /**
   * True if the clock stepped, or an upstream contradicted the unconfirmed clock, and no upstream has confirmed the
   * clock since.
   */
  get doubtful(): boolean {
    return this.#state === 'doubtful';
  }

  /** True if an upstream confirmed the clock since the start and since the last step. */
  get confirmed(): boolean {
    return this.#state === 'confirmed';
  }

  /** Records an upstream's time. The clock is confirmed if that time agrees with the wall clock. */
  onUpstreamTime(upstream: Micros): void {
    if (Math.abs(upstream - this.#clocks.wall()) <= maxUpstreamDifference) this.#state = 'confirmed';
  }

  /**
   * Records the time in an upstream's response. `requestedAt` is the wall-clock time of the request. The clock is
   * confirmed if the time agrees. While the clock is unconfirmed, a contradiction sets `doubtful`.
   */
  onTrustedTime(upstream: Micros, requestedAt: Micros): void {
    const latest = this.#clocks.wall() + maxUpstreamDifference;
    if (upstream >= requestedAt - maxUpstreamDifference && upstream <= latest) this.#state = 'confirmed';
    else if (this.#state === 'unconfirmed') this.#state = 'doubtful';
  }
}

/** Resolves after `ms` milliseconds but at most about 24 days, or immediately when the signal aborts. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    // A timer with a longer delay would fire immediately.
    const timer = setTimeout(done, Math.min(ms, 2 ** 31 - 1));
    signal.addEventListener('abort', done, { once: true });
  });
}

/** Work that its owner can abort, and that the abort of an outer signal aborts too. */
interface Stoppable {
  readonly signal: AbortSignal;
  /** Aborts the work. Must also be called once the work has ended, so that the outer signal no longer refers to it. */
  readonly abort: () => void;
}

/** Reason of the aborts of `stoppable`. Without a reason, each abort would create an error with a stack trace. */
const stopped = new Error('stopped');

/**
 * Creates the signal of work that ends at the latest when `outer` aborts. `AbortSignal.any` is not used, because each of
 * its signals costs weak references that the garbage collector visits, and thousands of labelers have such signals.
 */
export function stoppable(outer: AbortSignal): Stoppable {
  const own = new AbortController();
  const abort = (): void => {
    outer.removeEventListener('abort', abort);
    own.abort(outer.aborted ? outer.reason : stopped);
  };
  if (outer.aborted) abort();
  else outer.addEventListener('abort', abort);
  return { signal: own.signal, abort };
}

/**
 * Runs `work` immediately, and again `ms` milliseconds after each run, until the signal aborts. If
 * `ms` is a function, it is called after each run. Logs each failure, and calls `fail` for a permanent failure of the store.
 */
export async function repeat(
  ms: number | (() => number),
  work: () => Promise<unknown>,
  signal: AbortSignal,
  log: Log,
  fail: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      // Ignore errors after the abort: unfinished work fails when the store is closed.
      if (signal.aborted) return;
      if (error instanceof StoreError && !error.retry) {
        log.error('a periodic task failed permanently', errorFields(error));
        fail(error);
      } else log.warn('a periodic task failed and will be retried', errorFields(error));
    }
    await wait(typeof ms === 'number' ? ms : ms(), signal);
  }
}

/** Time in milliseconds after which work yields to the event loop. */
const turnMs = 2;

/** Maximum time since the first turn, in milliseconds; work that takes longer fails. */
const workMs = 20_000;

/**
 * Divides long work into short turns of the event loop by elapsed time, not by the number of steps. Limits the total
 * duration, because other work waits for the result.
 */
export class Turns {
  readonly #monotonic: () => number;
  readonly #begunAt: number;
  #startedAt: number;

  /** `monotonic` returns a time in milliseconds. */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
    this.#begunAt = monotonic();
    this.#startedAt = this.#begunAt;
  }

  /** True if the turn has lasted too long, so that the work must call `next`. */
  get isOver(): boolean {
    return this.#monotonic() - this.#startedAt >= turnMs;
  }

  /** Yields to the event loop, and starts the next turn. Rejects once the work has lasted longer than `workMs`. */
  async next(): Promise<void> {
    await nextTurn();
    this.#startedAt = this.#monotonic();
    if (this.#startedAt - this.#begunAt >= workMs) throw new Error(`the publication took longer than ${workMs} ms`);
  }
}
