import type { CallClass } from './shim.ts';

/** An operation on files. A run is made for each of its system calls, with that call failing. */
export interface Operation {
  readonly name: string;
  /** Creates the files that each run of the operation starts with, in a new directory. */
  prepare(directory: string): Promise<void>;
  /**
   * Runs the operation, or the remaining part if an earlier run ended in the middle. Calls `onStep` after each
   * completed part; an error from `onStep` ends the run. Calls `onReport` for errors that are reported and retried.
   */
  run(directory: string, onStep: () => void, onReport: (error: unknown) => void): Promise<void>;
  /** Returns the content of the directory as read after a restart; rejects if it cannot be read. */
  state(directory: string): Promise<unknown>;
  /** Returns true if the operation documents this kind of error. */
  isDocumented(error: unknown): boolean;
  /** Classes of calls whose failure must be reported, even if the operation then completes. */
  readonly reports: readonly CallClass[];
  /**
   * Returns the reason why an intermediate state is invalid, or null if it is valid. Absent if the operation has no
   * valid intermediate state.
   */
  between?(state: unknown, first: unknown, last: unknown): string | null;
}
