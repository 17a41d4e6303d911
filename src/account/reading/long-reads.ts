import { saltedMark } from '../budget/salted-mark.ts';

/** A turn that took this long is long, in milliseconds. */
const longMs = 300;
/** Time for which a long read is remembered. */
const rememberedMs = 600_000;
const maxRemembered = 10_000;

/**
 * Remembers which accounts took long to read, so that reading one of them again can be kept from occupying every
 * process. It holds no account: names are kept under a salt of this process.
 */
export class LongReads {
  readonly #monotonic: () => number;
  readonly #mark = saltedMark();
  readonly #until = new Map<string, number>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Returns true if reading about an account is expected to take long. */
  isLong(account: string | undefined): boolean {
    return account !== undefined && (this.#until.get(this.#mark(account)) ?? 0) > this.#monotonic();
  }

  /** Notes how long a turn took, in milliseconds. */
  note(account: string | undefined, ranMs: number): void {
    if (account === undefined || ranMs < longMs) return;
    const mark = this.#mark(account);
    this.#until.delete(mark);
    if (this.#until.size >= maxRemembered) this.#until.delete(this.#until.keys().next().value ?? '');
    this.#until.set(mark, this.#monotonic() + rememberedMs);
  }
}
