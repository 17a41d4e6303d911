import { type LookupDelays, liveLookupDelays } from '../roster/event-lookups.ts';

/** Intervals and timeouts of reading sources, in milliseconds. Tests use shorter times. */
export interface Timings {
  /** Interval between polls of a quiet source. */
  readonly pollMs: number;
  /** Silence of a live stream after which the reader confirms that the stream has missed no labels. */
  readonly confirmMs: number;
  /** Interval between checks of the last row of a polled source. */
  readonly tailMs: number;
  /** Time within which a resumed stream must repeat its last frame. */
  readonly resumeMs: number;
  /** Interval between attempts to open a stream of a source that rejects streams. */
  readonly streamRetryMs: number;
  /**
   * Maximum of the first random wait after a failure of an enrolled source; the maximum doubles with each further
   * failure.
   */
  readonly firstRetryMs: number;
  /** Maximum wait after a failure of an enrolled source. */
  readonly maxRetryMs: number;
  /** Interval between attempts for a source that is known but not enrolled. */
  readonly notEnrolledMs: number;
  /** Timeout of a request, and of opening a connection. */
  readonly requestMs: number;
  /** Interval between heartbeats, and between checks of the disk. */
  readonly heartbeatMs: number;
  /** Interval between runs of the store's upkeep. */
  readonly upkeepMs: number;
  /**
   * Maximum time for which the instrument waits for an upstream's time at startup, and the minimum interval between two
   * rounds of requests for the time.
   */
  readonly clockMs: number;
  /** Waits from an event to the look-ups of the document that the event announces. */
  readonly lookupDelays: LookupDelays;
}

/** Timings that are used on the live network. */
export const liveTimings: Timings = {
  pollMs: 30_000,
  // Keep this value below the coverage tolerance of 10 minutes, so that a quiet network is confirmed before its silence
  // counts as a gap.
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
  lookupDelays: liveLookupDelays,
};
