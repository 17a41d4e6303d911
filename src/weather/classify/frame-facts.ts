/** Kind of a notice, which the host sends in a frame that is not an event. Every other frame has the kind `none`. */
export type Notice = 'none' | 'future_cursor' | 'outdated_cursor' | 'too_slow' | 'error' | 'unknown';

/**
 * Result of classifying one frame. The next call of the same classifier reuses the object: copy values to keep them.
 * The type enforces privacy, because it cannot hold a DID, key, text or record.
 */
export interface FrameFacts {
  /**
   * Outcome of classifying the frame. `parse_error`: the frame is not JSON. `no_time_us`: the frame has no usable time
   * (or, in the method, no number) and belongs to no window. `resync`: the frame is a row that repeats a repository
   * after a `sync`, and not an action of an account. `notice`: the frame is a notice of the host. `counted`: every
   * other frame, of any kind.
   */
  outcome: 'counted' | 'parse_error' | 'no_time_us' | 'resync' | 'notice';
  notice: Notice;
  /**
   * Time of the event on the stream's clock, in microseconds since 1970. It is 0 unless the frame is counted or a row
   * of a re-sync.
   */
  timeUs: number;
  /** Number of the event on its host, an integer literal from 1 to 2^53 - 1, or null if the frame has none. */
  seq: number | null;
  /** Indexes into `metricNames`; only the first `metricCount` entries are valid, each at most once. */
  metrics: Uint8Array;
  /** Number of metrics: at least 1 for a counted frame, 0 for any other frame. */
  metricCount: number;
}

/** A function that classifies one frame and never throws. */
export type Classifier = (frame: Uint8Array) => FrameFacts;

/** Maximum number of metrics of one frame: a post's operation, reply, embed, quote. */
const maxMetrics = 4;

/** Creates empty facts of a frame. */
export function emptyFacts(): FrameFacts {
  const metrics = new Uint8Array(maxMetrics);
  return { outcome: 'counted', notice: 'none', timeUs: 0, seq: null, metrics, metricCount: 0 };
}
