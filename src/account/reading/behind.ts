import { setTimeout as delay } from 'node:timers/promises';
import { StoreError } from '../../store/errors.ts';
import { StoreBusy } from './reading-pool.ts';

/** Maximum time that a request waits for a standby to receive the data up to the requested end, in milliseconds. */
export const maxBehindMs = 2_000;
/** Delay before the second attempt, in milliseconds. It doubles with each attempt, up to `maxPauseMs`. */
const firstPauseMs = 50;
/** Maximum delay between two attempts, in milliseconds. */
const maxPauseMs = 400;
/** Maximum number of requests that wait at the same time; fewer than the memory for responses allows. */
const maxWaiting = 16;

/** Error for a request whose data a standby did not receive within the time limit. */
export class StoreBehind extends Error {
  constructor() {
    super('the standby has not received all data up to the requested end yet');
    this.name = 'StoreBehind';
  }
}

/** Options for waiting for a standby. */
export interface BehindOptions {
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Resolves after a number of milliseconds, or when the signal is aborted. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Runs a turn, and repeats it while the store throws `behind`. Rejects with `StoreBehind` after `maxBehindMs`, or at
 * once if `maxWaiting` requests are already waiting.
 */
type BehindWait = <T>(turn: () => Promise<T>, gone: AbortSignal) => Promise<T>;

/**
 * Creates a `BehindWait`. A request waits between turns, so that it does not occupy a reading process. The wait ends
 * with `StoreBusy` if the client disconnects.
 */
export function createBehindWait({ clock, pause = pauseFor }: BehindOptions): BehindWait {
  let waiting = 0;

  async function repeated<T>(turn: () => Promise<T>, gone: AbortSignal): Promise<T> {
    const until = clock() + maxBehindMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      const left = until - clock();
      if (left <= 0) throw new StoreBehind();
      await pause(Math.min(pauseMs, left), gone);
      if (gone.aborted) throw new StoreBusy('left', 1);
      try {
        return await turn();
      } catch (error) {
        if (!isBehind(error)) throw error;
      }
    }
  }

  return async (turn, gone) => {
    try {
      return await turn();
    } catch (error) {
      if (!isBehind(error)) throw error;
    }
    if (waiting >= maxWaiting) throw new StoreBehind();
    waiting += 1;
    try {
      return await repeated(turn, gone);
    } finally {
      waiting -= 1;
    }
  };
}

function isBehind(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'behind';
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}
