import type { Micros } from '../../contract/timestamp.ts';

/** Serializes work on whole days, so that a day is never sealed and purged at the same time. */
export class DayWork {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves once all work that was started has ended. */
  async ended(): Promise<void> {
    await this.#last;
  }

  /**
   * Wraps work so that it starts after all earlier work. While a run is in progress or waiting, further calls return
   * the result of that run.
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
