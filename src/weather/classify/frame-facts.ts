/** Kind of notice that the host sends in a frame that is not an event. Every other frame has the kind `none`. */
export type Notice = 'none' | 'future_cursor' | 'outdated_cursor' | 'too_slow' | 'error' | 'unknown';

/**
 * Result of classifying one frame. The next call of the same classifier reuses the object, so callers must copy the
 * values that they keep. The type enforces privacy, because it cannot hold a DID, key, text or record.
 */
export interface FrameFacts {
  /**
   * Outcome of classifying the frame. `parse_error`: the frame is not JSON. `no_time_us`: the frame belongs to no
   * window, because it has no usable time or, in the `subscribeEvents` method, no number. `resync`: the frame is a row
   * that repeats a repository after a `sync`, or a `sync` that the host has made itself, not an action of an account. `notice`: the frame is a notice of the host.
   * `counted`: every other frame, of any kind.
   */
  outcome: 'counted' | 'parse_error' | 'no_time_us' | 'resync' | 'notice';
  notice: Notice;
  /**
   * Time of the event on the stream's clock, in microseconds since 1970. It is 0 unless the frame is counted or is a
   * row of a re-sync.
   */
  timeUs: number;
  /** The host's sequence number of the event, an integer from 1 to 2^53 - 1, or null if the frame has none. */
  seq: number | null;
  /**
   * True if the event creates a record, so that it may be a row of a download: a host that downloads all repositories
   * sends its copy as creates without a mark.
   */
  creates: boolean;
  /** Indexes into `metricNames`. Only the first `metricCount` entries are valid, and each index occurs at most once. */
  metrics: Uint8Array;
  /** Number of metrics: at least 1 for a counted frame, 0 for any other frame. */
  metricCount: number;
}

/** A function that classifies one frame and never throws. */
export type Classifier = (frame: Uint8Array) => FrameFacts;

/** Maximum number of metrics of one frame: a post's operation, reply, embed and quote. */
const maxMetrics = 4;

/** Creates the facts about a frame, with no metrics. */
export function emptyFacts(): FrameFacts {
  const metrics = new Uint8Array(maxMetrics);
  return { outcome: 'counted', notice: 'none', timeUs: 0, seq: null, creates: false, metrics, metricCount: 0 };
}
