import type { Micros } from '../../contract/timestamp.ts';
import { StoreError } from '../../store/errors.ts';
import type { StoreReader, StoreWriter } from '../../store/port.ts';
import type { StoreStandby } from '../../store/standby/standby.ts';
import { micros } from '../../store/time.ts';
import type { Role } from '../state/role.ts';
import { defaultBufferLimits, Kept } from './kept.ts';

/** A store that keeps changes in memory until another store takes them over. */
interface StandbyStore {
  /** The store as the instrument uses it, before and after the takeover. */
  readonly store: StoreWriter;
  readonly kept: Kept;
  /** Removes kept rows that the writer has stored. */
  follow(): Promise<void>;
  /** Directs reads to the new writer, and makes changes wait until `activate`. */
  hold(writer: StoreWriter): void;
  /** Resolves once changes need not wait: immediately, or at `activate`. */
  released(): Promise<void>;
  /** Discards the kept changes, and passes all changes to the new writer from now on. */
  activate(): void;
}

/** Options for a standby store. */
interface StandbyStoreOptions {
  readonly standby: StoreStandby;
  readonly clock: () => Micros;
  readonly limits?: typeof defaultBufferLimits;
  /** Called with the number of rows that were dropped. */
  readonly dropped?: (rows: number) => void;
}

/** Applies a change: keeps it in memory, or passes it to the new writer. */
type Change = <T>(keep: () => T, write: (store: StoreWriter) => Promise<T>) => Promise<T>;

/** Creates the store of a standby. */
export function createStandbyStore({
  standby,
  clock,
  limits = defaultBufferLimits,
  dropped = () => undefined,
}: StandbyStoreOptions): StandbyStore {
  const kept = new Kept(standby, limits, dropped);
  let writer: StoreWriter | null = null;
  let held: PromiseWithResolvers<void> | null = null;
  let activeSince: Micros = micros(0);
  const released = async (): Promise<void> => {
    while (held !== null) await held.promise;
  };
  const change: Change = async (keep, write) => {
    if (held !== null) await released();
    return writer === null ? keep() : write(writer);
  };
  const current = (): StoreStandby | StoreWriter => writer ?? standby;
  const reads = new StandbyReads(standby, current);
  const read: Read = (work) => reads.read(work);
  return {
    store: {
      ...readsOf(read, current),
      ...changesOf(change, kept),
      append: (batch) =>
        change(
          () => kept.append(batch),
          // Replace the time of a batch that had to wait, because the store refuses a time far before its last stamp.
          (to) => to.append(batch.at < activeSince ? { ...batch, at: clock() } : batch),
        ),
      refusedRows: () => read((store) => store.refusedRows()),
      dailyBytes: (day) => read((store) => store.dailyBytes(day)),
      directoryPosition: (host) => read((store) => store.directoryPosition(host)),
      close() {
        reads.close();
        return current().close();
      },
    },
    kept,
    follow: () => standby.follow((identity) => kept.rows.delete(identity)),
    released,
    hold(next) {
      held = Promise.withResolvers();
      writer = next;
      reads.succeed();
    },
    activate() {
      activeSince = clock();
      kept.clear();
      held?.resolve();
      held = null;
    },
  };
}

/** Returns the methods that change a store, except `append`. */
function changesOf(change: Change, kept: Kept) {
  const gaps = kept.gaps;
  const ignored = (write: (store: StoreWriter) => Promise<void>): Promise<void> => change(() => undefined, write);
  return {
    recordGap: (gap) =>
      change(
        () => gaps.change({ kind: 'record', gap }),
        (to) => to.recordGap(gap),
      ),
    withdrawGap: (gap) =>
      change(
        () => gaps.change({ kind: 'withdraw', gap }),
        (to) => to.withdrawGap(gap),
      ),
    changeGaps: (all) =>
      change(
        () => {
          for (const one of all) gaps.change(one);
        },
        (to) => to.changeGaps(all),
      ),
    putKeys: (keys) =>
      change(
        () => kept.putKeys(keys),
        (to) => to.putKeys(keys),
      ),
    putDefinitions: (revisions, shares) =>
      change(
        () => kept.putDefinitions(revisions),
        (to) => to.putDefinitions(revisions, shares),
      ),
    // Before the takeover, ignore the following changes, because the writer makes them.
    beat: (at) => ignored((to) => to.beat(at)),
    dropRoster: (dids) => ignored((to) => to.dropRoster(dids)),
    putRoster: (rows) => ignored((to) => to.putRoster(rows)),
    putDailyBytes: (bytes) => ignored((to) => to.putDailyBytes(bytes)),
    putDirectoryPosition: (position) => ignored((to) => to.putDirectoryPosition(position)),
    putNote: (name, text) => ignored((to) => to.putNote(name, text)),
    assertWriter: () => ignored((to) => to.assertWriter()),
    endReads: (revision) => ignored((to) => to.endReads(revision)),
    requestPurge: (request) =>
      change(
        () => false,
        (to) => to.requestPurge(request),
      ),
    purge: (at) =>
      change(
        () => false,
        (to) => to.purge(at),
      ),
    maintain: (at) =>
      change(
        () => ({ sealed: [], postponed: [], expired: [] }),
        (to) => to.maintain(at),
      ),
  } satisfies Partial<StoreWriter>;
}

/** Function that reads from the store that is current at the time of the read. */
type Read = <T>(work: (store: StoreStandby | StoreWriter) => Promise<T>) => Promise<T>;

/**
 * Directs the reads of a standby to its view of the store, and after the takeover to the new writer. The view closes
 * before the new writer is available: a read that fails because the view closed waits for the new writer, and is
 * repeated there.
 */
class StandbyReads {
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
function readsOf(read: Read, current: () => StoreReader): Omit<StoreReader, 'close'> {
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

/** Role of an instrument that began as a standby, with its store. */
export interface InstrumentRole {
  role: Role;
  /**
   * Number that increases at the takeover. Pages that were judged before the takeover must be judged again, because
   * the refused labels of the former writer count from then on.
   */
  generation: number;
  /** View of the store while another process writes it. */
  readonly standby: StoreStandby;
  /** Store that keeps the standby's changes in memory until the takeover. */
  readonly kept: StandbyStore;
  /** Called once, after the instrument has become active. */
  readonly activated: () => void;
}

/** Returns true if the instrument writes and publishes. */
export function isActive(role: InstrumentRole | undefined): boolean {
  return role === undefined || role.role === 'active';
}
