import type { CallClass } from './shim.ts';

/** An operation on files that runs once for each of its system calls, which then fails. */
export interface Operation {
  readonly name: string;
  /** Makes the directory that each run begins with. */
  prepare(directory: string): Promise<void>;
  /**
   * Runs the operation, or the rest of it where an earlier run ended in the middle. Calls `onStep` after each part that is
   * complete; an error that `onStep` throws ends the run. Calls `onReport` for what is reported and then tried again.
   */
  run(directory: string, onStep: () => void, onReport: (error: unknown) => void): Promise<void>;
  /** Everything that the directory holds, as its next reader finds it; throws where it cannot be read. */
  state(directory: string): Promise<unknown>;
  /** Whether the error is of a kind that the operation documents. */
  isDocumented(error: unknown): boolean;
  /** Classes of calls whose failure must be reported, whatever the operation does about it. */
  readonly reports: readonly CallClass[];
  /**
   * Why a state is wrong that is none of those before and after a step, or null where the operation may leave it. Absent:
   * there are no such states.
   */
  between?(state: unknown, first: unknown, last: unknown): string | null;
}
