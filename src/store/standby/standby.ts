import type { Micros } from '../../contract/timestamp.ts';
import type { ReceivedLabel } from '../label.ts';
import type { Epoch, StoreReader, StoreWriter } from '../port.ts';
import type { Purge } from '../removals.ts';

/** Result of a check for the writer of a store. */
export type WriterSighting =
  /** No process writes to the store. */
  | { readonly kind: 'none' }
  /**
   * A process writes to the store. `beat` changes with each heartbeat of the process, and is null if the process has no
   * heartbeat. `isGone` is true if the process had connections to the store and no longer has any.
   */
  | {
      readonly kind: 'writing';
      readonly state: 'opening' | 'ready';
      readonly beat: string | null;
      readonly isGone: boolean;
    };

/** Result of ending the recorded writer. */
export type WriterEnd =
  /** The process of the writer was killed. */
  | { readonly kind: 'killed'; readonly pid: number }
  /** The lease of the writer was ended, so it can no longer commit. */
  | { readonly kind: 'ended'; readonly name: string }
  /** The writer was not ended, because it has renewed its lease since the standby last checked it. */
  | { readonly kind: 'alive' }
  /** The writer could not be ended. */
  | { readonly kind: 'kept'; readonly why: string };

/** A process that follows the writer of a store, reads the store, and may replace the writer. */
export interface StoreStandby
  extends StoreReader,
    Pick<StoreWriter, 'refusedRows' | 'dailyBytes' | 'directoryPosition'> {
  /**
   * Reads the identities of the rows that were stored since the last call, and calls `stored` for each. The first call,
   * and a call after the revision has changed, reads the identities of all rows for which the store detects duplicates.
   */
  follow(stored?: (identity: string) => void): Promise<void>;
  /** Returns the label identity as text. */
  identityOf(label: ReceivedLabel): string;
  /** Returns true if the store contained the label with this identity at the last `follow`. */
  knows(identity: string): boolean;
  /** Checks whether a writer exists and whether it is alive, without interfering with it. */
  writer(): Promise<WriterSighting>;
  /** Ends the recorded writer. Signals a process only if that process is certainly the recorded writer. */
  endWriter(): Promise<WriterEnd>;
  /** Records that this standby can replace the writer without causing a gap. */
  ready(): Promise<void>;
  /**
   * Opens the store for writing in place of the ended writer. Throws `second_writer` if another process writes to the
   * store.
   */
  takeOver(): Promise<StoreWriter>;
}

/** Processes that take part in a hand-over of a store. */
export interface StoreProcesses {
  /** The writer, or null if no process writes to the store or the writing process has not recorded itself. */
  readonly writer: StoreProcess | null;
  readonly standby: StoreProcess | null;
}

/** A process that writes to a store or is its standby. */
export interface StoreProcess {
  readonly token: string;
  readonly state: 'opening' | 'ready';
  /** Process id on this machine, or null if the process cannot be identified or is not running. */
  readonly pid: number | null;
  /** Name of the process, for use in messages. */
  readonly name: string;
  /** Text that changes with each heartbeat of the process. */
  readonly beat: string;
}

/** Properties of a store that can be read without changing it. */
export interface StoreInspection {
  readonly schema: number;
  readonly epoch: Epoch;
  /** Last durable heartbeat of the writer, or null before the first heartbeat. */
  readonly heartbeat: Micros | null;
  /** True if a process has the store open for writing. */
  readonly writing: boolean;
  readonly sealedDays: number;
  readonly openDays: number;
  /** Days (`YYYY-MM-DD`) that the store lists, but whose rows are missing. */
  readonly missingDays: readonly string[];
  /** Purges that have not completed. */
  readonly pendingPurges: readonly Purge[];
  /** Sealed days (`YYYY-MM-DD`) that upkeep has not yet rewritten with checksums. */
  readonly unverifiedDays: readonly string[];
  /** Total size of the files or tables, in bytes. */
  readonly bytes: number;
}
