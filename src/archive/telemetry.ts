import type { FactName } from './days/facts.ts';
import type { FailureReason } from './days/line.ts';

/** Results of archiving one body. */
export type LineOutcome = 'archived' | FailureReason;

/** Receives what an archiver does, for metrics. */
export interface ArchiveTelemetry {
  /** A line was written, or a request failed. */
  line(fact: FactName, outcome: LineOutcome): void;
  /** Every body of the current hour is archived, and the days are up to date. */
  complete(): void;
  /** The privacy scan found an identity; `file` is the name of the file that was not written. */
  withheld(file: string): void;
  /** Number of damaged files that were found. */
  damaged(files: number): void;
  /** False while the system refuses to write. */
  writable(isWritable: boolean): void;
  /** Numbers of days in the index. */
  days(counts: { readonly open: number; readonly closed: number }): void;
}

/** Telemetry that is not recorded. */
export const noTelemetry: ArchiveTelemetry = {
  line: () => undefined,
  complete: () => undefined,
  withheld: () => undefined,
  damaged: () => undefined,
  writable: () => undefined,
  days: () => undefined,
};
