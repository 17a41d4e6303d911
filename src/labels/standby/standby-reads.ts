import { StoreError } from '../../store/errors.ts';
import type { StoreReader, StoreWriter } from '../../store/port.ts';
import type { StoreStandby } from '../../store/standby/standby.ts';

/** Reads from the store that is valid at the time of the read. */
export type Read = <T>(work: (store: StoreStandby | StoreWriter) => Promise<T>) => Promise<T>;

/**
 * Reads of a standby, which go to its view of the store, and then to the writer that it has become. The view closes before
 * the new writer receives the reads: a read that met the end of the view waits for the writer, and is repeated there.
 */
export class StandbyReads {
  readonly #view: StoreStandby;
  readonly #current: () => StoreStandby | StoreWriter;
  readonly #succeeded = Promise.withResolvers<void>();
  #isClosing = false;

  constructor(view: StoreStandby, current: () => StoreStandby | StoreWriter) {
    this.#view = view;
    this.#current = current;
  }

  async read<T>(work: (store: StoreStandby | StoreWriter) => Promise<T>): Promise<T> {
    const store = this.#current();
    try {
      return await work(store);
    } catch (error) {
      const isReplaced = store === this.#view && error instanceof StoreError && error.code === 'closed';
      if (!isReplaced || this.#isClosing) throw error;
      await this.#succeeded.promise;
      return work(this.#current());
    }
  }

  /** Repeats the reads that wait: the new writer is the current store. */
  succeed(): void {
    this.#succeeded.resolve();
  }

  /** Lets the reads that wait fail: the store closes without a new writer. */
  close(): void {
    this.#isClosing = true;
    this.#succeeded.resolve();
  }
}

/** Returns the reads of a store that changes. */
export function readsOf(read: Read, current: () => StoreReader): Omit<StoreReader, 'close'> {
  return {
    epoch: () => read((store) => store.epoch()),
    frontier: () => read((store) => store.frontier()),
    readAccount: (query) => read((store) => store.readAccount(query)),
    accountIntervals: (query) => read((store) => store.accountIntervals(query)),
    tallyAccount: (query) => read((store) => store.tallyAccount(query)),
    busyAccounts: (limit) => read((store) => store.busyAccounts(limit)),
    countsByLabeler: (interval) => read((store) => store.countsByLabeler(interval)),
    countsOverTime: (query) => read((store) => store.countsOverTime(query)),
    labelersActive: (interval) => read((store) => store.labelersActive(interval)),
    labelerCounters: (interval) => read((store) => store.labelerCounters(interval)),
    refusals: (interval) => read((store) => store.refusals(interval)),
    positions: () => read((store) => store.positions()),
    gaps: (query) => read((store) => store.gaps(query)),
    coverage: (query) => read((store) => store.coverage(query)),
    heartbeat: () => read((store) => store.heartbeat()),
    roster: () => read((store) => store.roster()),
    keys: (did) => read((store) => store.keys(did)),
    definitions: (did) => read((store) => store.definitions(did)),
    note: (name) => read((store) => store.note(name)),
    purges: () => read((store) => store.purges()),
    spaceRemoval: () => read((store) => store.spaceRemoval()),
    verify: () => current().verify(),
  };
}
