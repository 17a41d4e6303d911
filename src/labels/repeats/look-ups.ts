import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../contract/timestamp.ts';
import { hour } from '../../store/time.ts';
import { threadCpuMs } from '../shares/pace.ts';

/** Maximum look-ups of a source in an hour of the clock; its further rows count as acts. */
export const maxLookUps = 2_000;
/** Processor time of look-ups of all sources before the event loop gets a turn, in milliseconds. */
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
 * Bounds the look-ups of all sources: one at a time, in order of arrival, in slices of processor time. Each source pays for
 * its own ones, and has a budget per hour.
 */
export class LookUps {
  readonly #options: Required<LookUpOptions>;
  #before: Promise<unknown> = Promise.resolve();
  #spentMs = 0;
  #hour = 0;
  /** Look-ups of the current hour by source. */
  readonly #used = new Map<string, number>();

  constructor(options: LookUpOptions) {
    this.#options = { cpuMs: threadCpuMs, ...options };
  }

  /** Runs a look-up of a source in its turn; resolves to null without running it if the source's budget is used up. */
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
