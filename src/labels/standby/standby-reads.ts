import { StoreError } from '../../store/errors.ts';
import type { StoreReader, StoreWriter } from '../../store/port.ts';
import type { StoreStandby } from '../../store/standby/standby.ts';

/** Function that reads from the store that is current at the time of the read. */
export type Read = <T>(work: (store: StoreStandby | StoreWriter) => Promise<T>) => Promise<T>;

/**
 * Directs the reads of a standby to its view of the store, and after the takeover to the new writer. The view closes
 * before the new writer is available: a read that fails because the view closed waits for the new writer, and is
 * repeated there.
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

  /** Repeats the waiting reads. The new writer must be the current store. */
  succeed(): void {
    this.#succeeded.resolve();
  }

  /** Makes waiting reads fail, because the store closes without a new writer. */
  close(): void {
    this.#isClosing = true;
    this.#succeeded.resolve();
  }
}

/** Returns the read methods of a store that may be replaced. */
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
