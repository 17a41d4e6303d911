import type { CallClass } from './shim.ts';

/** An operation on files. The fault tests run it once for each of its system calls, and make that call fail. */
export interface Operation {
  readonly name: string;
  /** Creates the initial directory, from which each run starts. */
  prepare(directory: string): Promise<void>;
  /**
   * Runs the operation, or the remaining part if a previous run was interrupted. Calls `onStep` after each completed
   * part. An error from `onStep` ends the run. Calls `onReport` for errors that are reported and retried.
   */
  run(directory: string, onStep: () => void, onReport: (error: unknown) => void): Promise<void>;
  /** Returns the directory's content as a reader receives it. Throws if the content cannot be read. */
  state(directory: string): Promise<unknown>;
  /** Returns true if the operation documents this kind of error. */
  isDocumented(error: unknown): boolean;
  /** Classes of calls whose failure must be reported, even if the operation handles it. */
  readonly reports: readonly CallClass[];
  /**
   * Returns the reason why an intermediate state is wrong, or null if the operation may leave it. Absent if the
   * operation has no intermediate states.
   */
  between?(state: unknown, first: unknown, last: unknown): string | null;
}
