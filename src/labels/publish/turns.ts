import { setImmediate as nextTurn } from 'node:timers/promises';

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
