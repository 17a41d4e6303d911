/** Notice of the host in a frame that is not an event; `none` for every other frame. */
export type Notice = 'none' | 'future_cursor' | 'outdated_cursor' | 'too_slow' | 'error' | 'unknown';

/**
 * Result of classifying one frame. The next call of the same classifier reuses the object: copy what must last. Its type
 * enforces privacy: it cannot hold a DID, key, text or record.
 */
export interface FrameFacts {
  /**
   * `parse_error`: not JSON. `no_time_us`: JSON, but without a usable time (and, on the method, number); such a frame
   * belongs to no window. `resync`: a row that repeats a repository after a `sync`, and is no act. `notice`: a notice of the
   * host. `counted`: everything else, of any kind.
   */
  outcome: 'counted' | 'parse_error' | 'no_time_us' | 'resync' | 'notice';
  notice: Notice;
  /** The stream's clock, microseconds since 1970; 0 unless counted or a row of a re-sync. */
  timeUs: number;
  /** The host's own number, an integer literal from 1 to 2^53 - 1; null if the frame has none. */
  seq: number | null;
  /** Indexes into `metricNames`: the first `metricCount` entries, each at most once. */
  metrics: Uint8Array;
  /** 0 unless counted, then at least 1. */
  metricCount: number;
}

/** Classifies one frame. Never throws. */
export type Classifier = (frame: Uint8Array) => FrameFacts;

/** Maximum number of metrics of one frame: a post's operation, reply, embed, quote. */
const maxMetrics = 4;

/** Creates empty facts. */
export function emptyFacts(): FrameFacts {
  const metrics = new Uint8Array(maxMetrics);
  return { outcome: 'counted', notice: 'none', timeUs: 0, seq: null, metrics, metricCount: 0 };
}
