/** Limits of the memory that all sources use for decoded input. */
interface DecodedBytesLimits {
  /** Maximum bytes held by all accounts together, beyond their reserves. */
  readonly total: number;
  /** Bytes that each account may hold regardless of the other accounts. */
  readonly reserve: number;
  /**
   * Maximum total size of the input that waits for memory, in bytes; above it, the largest waiting input is rejected.
   */
  readonly buffered: number;
}

/**
 * Result of a memory request. `busy` means that the account already holds memory, so that waiting could cause a
 * deadlock, or that too much input waits.
 */
export type TakeOutcome = 'taken' | 'busy' | 'aborted';

/** Memory quota of one reader, called its account. */
export interface ByteAccount {
  readonly held: number;
  /**
   * True if the account holds more than its reserve, and either this account or all accounts together exceed their
   * maximum. The reader of the account should then pause.
   */
  readonly isOver: boolean;
  /** Takes memory without a limit, for input that has already arrived. */
  hold(bytes: number): void;
  /**
   * Takes memory if the request is within the reserve, or if memory is free and no other account waits. Otherwise
   * returns false.
   */
  tryTake(bytes: number): boolean;
  /**
   * Takes memory. Waits for free memory if the account holds no memory, and otherwise resolves with `busy` if no memory
   * can be taken now. `buffered` is the size of the waiting input, in bytes. Never rejects.
   */
  take(bytes: number, signal: AbortSignal, buffered?: number): Promise<TakeOutcome>;
  /** Releases `bytes` of memory; by default, all memory of the account. */
  release(bytes?: number): void;
}

/** Memory for decoded input, which is shared fairly between accounts. */
export interface DecodedBytes {
  /** Bytes held by all accounts. */
  readonly held: number;
  /** Number of accounts that wait for memory. */
  readonly waiting: number;
  /** Opens an account. An account without memory needs no clean-up. */
  open(): ByteAccount;
}

interface Waiting {
  readonly bytes: number;
  readonly buffered: number;
  readonly account: Account;
  readonly settle: (outcome: TakeOutcome) => void;
  /** Number of later requests that were served before this one. */
  passedOver: number;
}

/**
 * The maximum memory of one account is the total divided by this number. The maximum applies only to an account that
 * already holds memory.
 */
const accountPart = 4;
/** Maximum number of later, smaller requests that are served before a large one. */
const maxPassedOver = 256;

/**
 * Creates the shared memory for decoded input of a process. Small requests are served before large ones, so that a
 * source with little data does not wait for a source with a lot of data; a large request is served after a bounded
 * number of smaller ones. A waiting account holds no memory, so the accounts that hold memory always proceed and
 * release it.
 */
export function createDecodedBytes(limits: DecodedBytesLimits): DecodedBytes {
  return new SharedBytes(limits);
}

class SharedBytes implements DecodedBytes {
  readonly limits: DecodedBytesLimits;
  readonly #queue = new Set<Waiting>();
  #held = 0;
  #buffered = 0;

  constructor(limits: DecodedBytesLimits) {
    this.limits = limits;
  }

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  open(): ByteAccount {
    return new Account(this);
  }

  fits(account: Account, bytes: number): boolean {
    const { reserve, total } = this.limits;
    const after = account.held + bytes;
    if (after <= reserve) return true;
    if (account.held > 0 && after > total / accountPart) return false;
    // Grant a request larger than the total only while no other memory is held.
    return this.#held + bytes <= total || this.#held === 0;
  }

  /** Records a change of an account's memory, in bytes. A release is negative. */
  add(bytes: number): void {
    this.#held += bytes;
  }

  serve(): void {
    for (let one = this.#next(); one !== null && this.fits(one.account, one.bytes); one = this.#next()) {
      one.account.hold(one.bytes);
      one.settle('taken');
      for (const other of this.#queue) if (other.bytes > one.bytes) other.passedOver += 1;
    }
  }

  wait(account: Account, bytes: number, signal: AbortSignal, size: number): Promise<TakeOutcome> {
    return new Promise((resolve) => {
      const settle = (outcome: TakeOutcome): void => {
        if (!this.#queue.delete(entry)) return;
        this.#buffered -= size;
        signal.removeEventListener('abort', abort);
        resolve(outcome);
      };
      const abort = (): void => settle('aborted');
      const entry: Waiting = { bytes, buffered: size, account, settle, passedOver: 0 };
      signal.addEventListener('abort', abort, { once: true });
      this.#queue.add(entry);
      this.#buffered += size;
      this.serve();
      this.#shed();
    });
  }

  /** Returns the smallest waiting request, or the first request that `maxPassedOver` later requests have overtaken. */
  #next(): Waiting | null {
    let chosen: Waiting | null = null;
    for (const one of this.#queue) {
      if (one.passedOver >= maxPassedOver) return one;
      if (chosen === null || one.bytes < chosen.bytes) chosen = one;
    }
    return chosen;
  }

  /** Rejects waiting inputs, the largest first, until the total size of the remaining ones is within the limit. */
  #shed(): void {
    while (this.#buffered > this.limits.buffered) {
      let largest: Waiting | null = null;
      for (const one of this.#queue) if (largest === null || one.buffered > largest.buffered) largest = one;
      if (largest === null) return;
      largest.settle('busy');
    }
  }
}

class Account implements ByteAccount {
  readonly #shared: SharedBytes;
  #held = 0;

  constructor(shared: SharedBytes) {
    this.#shared = shared;
  }

  get held(): number {
    return this.#held;
  }

  get isOver(): boolean {
    const { reserve, total } = this.#shared.limits;
    return this.#held > reserve && (this.#shared.held > total || this.#held > total / accountPart);
  }

  hold(bytes: number): void {
    this.#held += bytes;
    this.#shared.add(bytes);
  }

  tryTake(bytes: number): boolean {
    const { limits, waiting } = this.#shared;
    // Let `serve` select the next request, because other accounts may be waiting.
    if (this.#held + bytes > limits.reserve && (waiting > 0 || !this.#shared.fits(this, bytes))) return false;
    this.hold(bytes);
    return true;
  }

  async take(bytes: number, signal: AbortSignal, size = 0): Promise<TakeOutcome> {
    if (signal.aborted) return 'aborted';
    if (this.tryTake(bytes)) return 'taken';
    return this.#held > 0 ? 'busy' : this.#shared.wait(this, bytes, signal, size);
  }

  release(bytes = this.#held): void {
    const returned = Math.min(bytes, this.#held);
    this.#held -= returned;
    this.#shared.add(-returned);
    this.#shared.serve();
  }
}
