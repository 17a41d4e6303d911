import type { ReceivedLabel } from '../label.ts';
import type { StoreReader, StoreWriter } from '../port.ts';

/** A look at the writer of a store. */
export type WriterSighting =
  /** No process writes the store. */
  | { readonly kind: 'none' }
  /** A process writes the store. `beat` changes with its heartbeats. Null if it has no heartbeat. */
  | { readonly kind: 'writing'; readonly state: 'opening' | 'ready'; readonly beat: string | null };

/** Result of ending the recorded writer. */
export type WriterEnd =
  | { readonly kind: 'killed'; readonly pid: number }
  /** Its lease was ended, so that it can commit nothing more. */
  | { readonly kind: 'ended'; readonly name: string }
  /** It has shown since that it works. */
  | { readonly kind: 'alive' }
  | { readonly kind: 'kept'; readonly why: string };

/** Read access to a store of a process that follows its writer and may replace it. */
export interface StoreStandby
  extends StoreReader,
    Pick<StoreWriter, 'refusedRows' | 'dailyBytes' | 'directoryPosition'> {
  /**
   * Reads the identities of the rows that were stored since the last call, and calls `stored` for each. The first call
   * reads those of all rows for which the store detects duplicates.
   */
  follow(stored?: (identity: string) => void): Promise<void>;
  /** Returns the identity of a label as a text. */
  identityOf(label: ReceivedLabel): string;
  /** Returns true if the store contained a label at the last `follow`. */
  knows(identity: string): boolean;
  /** Looks at the writer without disturbing it. */
  writer(): Promise<WriterSighting>;
  /** Ends the recorded writer. Never signals a process that is not certainly the recorded one. */
  endWriter(): Promise<WriterEnd>;
  /** Records that this standby can replace the writer without a gap. */
  ready(): Promise<void>;
  /**
   * Opens the store for writing in place of the ended writer. Throws `second_writer` if another process writes the
   * store.
   */
  takeOver(): Promise<StoreWriter>;
}

/** Processes that use a store, as a hand-over needs them. */
export interface StoreProcesses {
  /** Token, process and state of the writer, or null if no process writes the store or describes itself. */
  readonly writer: StoreProcess | null;
  readonly standby: StoreProcess | null;
}

/** A process that writes a store or stands by. */
export interface StoreProcess {
  readonly token: string;
  readonly state: 'opening' | 'ready';
  /** Process number on this machine, or null if the process cannot be identified or does not run. */
  readonly pid: number | null;
  /** Name of the process for messages. */
  readonly name: string;
  /** Text that changes with each heartbeat of the process. */
  readonly beat: string;
}
