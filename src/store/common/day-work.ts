import type { Micros } from '../../contract/timestamp.ts';

/** Serializes work on whole days, so that a day is never sealed and purged at the same time. */
export class DayWork {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves once all requested work has finished. */
  async ended(): Promise<void> {
    await this.#last;
  }

  /**
   * Wraps work so that each run waits until all previously requested work has finished. A call while a run is waiting
   * or in progress returns the result of that run.
   */
  joined<T>(work: (at: Micros) => Promise<T>): (at: Micros) => Promise<T> {
    let running: Promise<T> | null = null;
    return (at) => {
      running ??= this.#afterOthers(() => work(at)).finally(() => {
        running = null;
      });
      return running;
    };
  }

  #afterOthers<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
