import { saltedMark } from '../budget/salted-mark.ts';

/** A turn that is expected to take this long is long, in milliseconds. */
const longMs = 300;
/** A turn below this is as cheap as any, and an account with cheap turns is not remembered; in milliseconds. */
const cheapMs = 10;
/** Weight of the newest turn in the expected duration. */
const newestShare = 1 / 4;
/** Time for which the duration of a turn is remembered. */
const rememberedMs = 600_000;
const maxRemembered = 10_000;

interface Cost {
  readonly ms: number;
  readonly untilMs: number;
}

/**
 * Remembers how long turns about an account took, so that cheap ones go first and long ones do not occupy every process. It
 * holds no account: names are kept under a salt of this process.
 */
export class ReadCosts {
  readonly #monotonic: () => number;
  readonly #mark = saltedMark();
  /** In the order in which accounts were last read. */
  readonly #costs = new Map<string, Cost>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Milliseconds that a turn about an account is expected to take; 0 for one that is cheap, or not known. */
  expected(account: string | undefined): number {
    const cost = account === undefined ? undefined : this.#costs.get(this.#mark(account));
    return cost && cost.untilMs > this.#monotonic() ? cost.ms : 0;
  }

  /** Returns true if a turn about an account is expected to take long. */
  isLong(account: string | undefined): boolean {
    return this.expected(account) >= longMs;
  }

  /** Notes how long a turn took, in milliseconds. A long turn is expected again at once. */
  note(account: string | undefined, ranMs: number): void {
    if (account === undefined) return;
    const before = this.expected(account);
    const ms = ranMs >= longMs ? Math.max(ranMs, before) : before + (ranMs - before) * newestShare;
    const mark = this.#mark(account);
    this.#costs.delete(mark);
    if (ms < cheapMs) return;
    if (this.#costs.size >= maxRemembered) this.#costs.delete(this.#costs.keys().next().value ?? '');
    this.#costs.set(mark, { ms, untilMs: this.#monotonic() + rememberedMs });
  }
}
