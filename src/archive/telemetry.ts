import type { FactName, FailureReason } from './days/line.ts';

/** Result of archiving one body. */
type LineOutcome = 'archived' | FailureReason;

/** Receives the events of an archiver, for metrics. */
export interface ArchiveTelemetry {
  /** Called when a line was written or a request failed. */
  line(fact: FactName, outcome: LineOutcome): void;
  /** Called when every body of the current hour is archived and the days are up to date. */
  complete(): void;
  /**
   * Called when content was withheld because the privacy scan found an identity in it. `file` is the name or path of the
   * file that lacks this content.
   */
  withheld(file: string): void;
  /** Called with the number of damaged files found in one update of the days. */
  damaged(files: number): void;
  /** Called with false while the system refuses writes, and with true once they succeed. */
  writable(isWritable: boolean): void;
  /** Called with the numbers of open and closed days in the index. */
  days(counts: { readonly open: number; readonly closed: number }): void;
}

/** Telemetry that discards every event. */
export const noTelemetry: ArchiveTelemetry = {
  line: () => undefined,
  complete: () => undefined,
  withheld: () => undefined,
  damaged: () => undefined,
  writable: () => undefined,
  days: () => undefined,
};
