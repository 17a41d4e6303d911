import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../contract/timestamp.ts';
import { threadCpuMs } from '../../ops/thread-cpu.ts';
import { hour } from '../../store/time.ts';

/** Maximum number of look-ups of a source per hour. Further rows of the source count as new events. */
export const maxLookUps = 2_000;
/** Maximum processor time of look-ups in one turn of the event loop, in milliseconds. */
const sliceMs = 2;

/** Dependencies of look-ups. */
export interface LookUpOptions {
  readonly clock: () => Micros;
  /** Charges a source for the processor time of its look-ups, in milliseconds. */
  readonly charge: (source: string, cpuMs: number) => void;
  /** Returns the processor time of this thread, in milliseconds. */
  readonly cpuMs?: () => number;
}

/**
 * Limits the look-ups of all sources. Look-ups run one at a time in order of arrival, and yield to the event loop after
 * each slice of processor time. The processor time is charged to the source, and each source has a budget per hour.
 */
export class LookUps {
  readonly #options: Required<LookUpOptions>;
  #before: Promise<unknown> = Promise.resolve();
  #spentMs = 0;
  #hour = 0;
  /** Number of look-ups in the current hour, by source. */
  readonly #used = new Map<string, number>();

  constructor(options: LookUpOptions) {
    this.#options = { cpuMs: threadCpuMs, ...options };
  }

  /**
   * Runs a look-up when it is the source's turn. Resolves with null, without running the look-up, if the source's
   * hourly budget is used up.
   */
  async run<T>(source: string, lookUp: () => Promise<T>): Promise<T | null> {
    if (!this.#take(source)) return null;
    const turn = this.#before.then(() => this.#runNow(source, lookUp));
    this.#before = turn.catch(() => undefined);
    return turn;
  }

  async #runNow<T>(source: string, lookUp: () => Promise<T>): Promise<T> {
    const { cpuMs, charge } = this.#options;
    if (this.#spentMs >= sliceMs) {
      await nextTurn();
      this.#spentMs = 0;
    }
    const begun = cpuMs();
    try {
      return await lookUp();
    } finally {
      const spent = cpuMs() - begun;
      this.#spentMs += spent;
      charge(source, spent);
    }
  }

  #take(source: string): boolean {
    const now = Math.floor(this.#options.clock() / hour);
    if (now !== this.#hour) this.#used.clear();
    this.#hour = now;
    const used = this.#used.get(source) ?? 0;
    if (used >= maxLookUps) return false;
    this.#used.set(source, used + 1);
    return true;
  }
}
