import type { Micros } from '../../contract/timestamp.ts';

/** Serializes work on whole days: a day that is being sealed is not purged at the same time. */
export class DayWork {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves once the started work has ended. */
  async ended(): Promise<void> {
    await this.#last;
  }

  /**
   * Returns a function that starts the work after other work. If the work is already in progress, the function returns
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
