import { saltedMark } from '../budget/salted-mark.ts';

/** Minimum expected duration of a turn that counts as long, in milliseconds. */
const longMs = 300;
/** Minimum expected duration that is remembered, in milliseconds; shorter turns count as cheap. */
const cheapMs = 10;
/** Weight of the newest turn in the moving average. */
const newestShare = 1 / 4;
/** Time for which the duration of turns is remembered, in milliseconds. */
const rememberedMs = 600_000;
/** Maximum number of accounts whose durations are remembered. */
const maxRemembered = 10_000;

interface Cost {
  readonly ms: number;
  readonly untilMs: number;
}

/**
 * Expected durations of turns by account, from recent turns, so that cheap turns run first and long turns never occupy
 * all processes. Accounts are stored only as hashes with a salt of this process.
 */
export class ReadCosts {
  readonly #monotonic: () => number;
  readonly #mark = saltedMark();
  /** Costs by the hash of the account, ordered by the last turn, oldest first. */
  readonly #costs = new Map<string, Cost>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Returns the expected duration of a turn about an account, in milliseconds, or 0 if it is cheap or unknown. */
  expected(account: string | undefined): number {
    const cost = account === undefined ? undefined : this.#costs.get(this.#mark(account));
    return cost && cost.untilMs > this.#monotonic() ? cost.ms : 0;
  }

  /** Returns true if a turn about an account is expected to be long. */
  isLong(account: string | undefined): boolean {
    return this.expected(account) >= longMs;
  }

  /** Records the duration of a turn, in milliseconds. After a long turn, the next one is also expected to be long. */
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
