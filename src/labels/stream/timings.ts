/** Intervals and timeouts of reading sources; all in milliseconds. Tests use shorter ones. */
export interface Timings {
  /** Between polls of a quiet source. */
  readonly pollMs: number;
  /** A stream that was quiet for this long is confirmed by a read of its tail. */
  readonly confirmMs: number;
  /** Between looks for the remembered tail of a polled source. */
  readonly tailMs: number;
  /** A resumed stream shows what it last gave within this time, or it is missing. */
  readonly resumeMs: number;
  /** A source that knows no stream is asked for one this often. */
  readonly streamRetryMs: number;
  /** First and longest wait after a failure, of an enrolled source. */
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
  /** Between tries of a source that is known but not enrolled. */
  readonly notEnrolledMs: number;
  /** For a request, and for a connection to open. */
  readonly requestMs: number;
  /** Between heartbeats and looks at the disk. */
  readonly heartbeatMs: number;
  /** Between runs of the store's upkeep. */
  readonly upkeepMs: number;
  /** A start waits this long for an upstream's time. */
  readonly clockMs: number;
}

/** The timings against the live network. */
export const liveTimings: Timings = {
  pollMs: 30_000,
  // Below the coverage tolerance of 10 minutes: a quiet network is confirmed before its silence counts as a gap.
  confirmMs: 540_000,
  tailMs: 3_600_000,
  resumeMs: 20_000,
  streamRetryMs: 3_600_000,
  firstRetryMs: 2_000,
  maxRetryMs: 900_000,
  notEnrolledMs: 86_400_000,
  requestMs: 30_000,
  heartbeatMs: 10_000,
  upkeepMs: 300_000,
  clockMs: 5_000,
};
