import { setImmediate as nextTurn } from 'node:timers/promises';

/** Time in milliseconds after which work yields to the event loop. */
const turnMs = 4;

/** Maximum duration of a piece of work, in milliseconds, after which it fails. */
const workMs = 20_000;

/**
 * Divides long work into short turns of the event loop, whatever its steps cost. Limits the duration of the work,
 * because other work waits for it.
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

  /** Yields to the event loop, and starts the next turn. Rejects if the work takes too long. */
  async next(): Promise<void> {
    await nextTurn();
    this.#startedAt = this.#monotonic();
    if (this.#startedAt - this.#begunAt >= workMs) throw new Error(`the work took longer than ${workMs} ms`);
  }
}
