/** Limits of the memory for decoded input, over all sources. */
export interface DecodedBytesLimits {
  /** Maximum bytes held by all accounts together, beyond their reserves. */
  readonly total: number;
  /** Bytes that each account may hold regardless of the other accounts. */
  readonly reserve: number;
  /** Maximum total bytes of input that waits for memory; beyond it the largest such input is rejected. */
  readonly buffered: number;
}

/**
 * Result of requesting memory. `busy`: the account already holds some, and waiting with it could block the others
 * forever; or too much input waits.
 */
export type TakeOutcome = 'taken' | 'busy' | 'aborted';

/** The memory account of one reader. */
export interface ByteAccount {
  readonly held: number;
  /** True if it holds more than its share, so that it should pause reading. */
  readonly isOver: boolean;
  /** Takes memory for input that has already arrived. */
  hold(bytes: number): void;
  /** Takes memory if it is free and no other account waits, or within the reserve. */
  tryTake(bytes: number): boolean;
  /**
   * Takes memory, and waits for it if the account holds none. `buffered` is the size of the input while it waits. Never
   * rejects.
   */
  take(bytes: number, signal: AbortSignal, buffered?: number): Promise<TakeOutcome>;
  /** Releases memory; all of it by default. */
  release(bytes?: number): void;
}

/** Memory for decoded input, shared fairly. */
export interface DecodedBytes {
  /** Bytes held by all accounts. */
  readonly held: number;
  /** Number of accounts that wait. */
  readonly waiting: number;
  /** Opens an account, which costs nothing while it holds nothing. */
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

interface Account {
  held: number;
}

/** Divisor of the total: the maximum part of one account, unless it holds nothing else. */
const accountPart = 4;
/** Maximum number of later, smaller requests that are served before a large one. */
const maxPassedOver = 256;

/**
 * Creates the shared memory of a process. Small requests are served before large ones, so that a source with little
 * data does not wait for one with much; a large request is served after a bounded number of smaller ones. A waiting
 * account holds nothing, so the accounts that hold memory always proceed and release it.
 */
export function createDecodedBytes({ total, reserve, buffered: maxBuffered }: DecodedBytesLimits): DecodedBytes {
  const queue = new Set<Waiting>();
  let held = 0;
  let buffered = 0;

  function fits(account: Account, bytes: number): boolean {
    const after = account.held + bytes;
    if (after <= reserve) return true;
    if (account.held > 0 && after > total / accountPart) return false;
    // A request larger than the total is granted alone.
    return held + bytes <= total || held === 0;
  }

  function add(account: Account, bytes: number): void {
    account.held += bytes;
    held += bytes;
  }

  /** Returns the smallest request, or one that too many others have overtaken. */
  function next(): Waiting | null {
    let chosen: Waiting | null = null;
    for (const one of queue) {
      if (one.passedOver >= maxPassedOver) return one;
      if (chosen === null || one.bytes < chosen.bytes) chosen = one;
    }
    return chosen;
  }

  function serve(): void {
    for (let one = next(); one !== null && fits(one.account, one.bytes); one = next()) {
      add(one.account, one.bytes);
      one.settle('taken');
      for (const other of queue) if (other.bytes > one.bytes) other.passedOver += 1;
    }
  }

  /** Rejects the largest input while too much waits. */
  function shed(): void {
    while (buffered > maxBuffered) {
      let largest: Waiting | null = null;
      for (const one of queue) if (largest === null || one.buffered > largest.buffered) largest = one;
      if (largest === null) return;
      largest.settle('busy');
    }
  }

  function wait(account: Account, bytes: number, signal: AbortSignal, size: number): Promise<TakeOutcome> {
    return new Promise((resolve) => {
      const settle = (outcome: TakeOutcome): void => {
        if (!queue.delete(entry)) return;
        buffered -= size;
        signal.removeEventListener('abort', abort);
        resolve(outcome);
      };
      const abort = (): void => settle('aborted');
      const entry: Waiting = { bytes, buffered: size, account, settle, passedOver: 0 };
      signal.addEventListener('abort', abort, { once: true });
      queue.add(entry);
      buffered += size;
      serve();
      shed();
    });
  }

  return {
    get held() {
      return held;
    },
    get waiting() {
      return queue.size;
    },
    open() {
      const account: Account = { held: 0 };
      return {
        get held() {
          return account.held;
        },
        get isOver() {
          return account.held > reserve && (held > total || account.held > total / accountPart);
        },
        hold(bytes) {
          add(account, bytes);
        },
        tryTake(bytes) {
          // If others wait, `serve` decides between them and this one.
          if (account.held + bytes > reserve && (queue.size > 0 || !fits(account, bytes))) return false;
          add(account, bytes);
          return true;
        },
        async take(bytes, signal, size = 0) {
          if (signal.aborted) return 'aborted';
          return this.tryTake(bytes) ? 'taken' : account.held > 0 ? 'busy' : wait(account, bytes, signal, size);
        },
        release(bytes = account.held) {
          const returned = Math.min(bytes, account.held);
          account.held -= returned;
          held -= returned;
          serve();
        },
      };
    },
  };
}
