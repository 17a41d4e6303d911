/** What a host says of itself in a frame that is no event; `none` for every other frame. */
export type Notice = 'none' | 'future_cursor' | 'outdated_cursor' | 'too_slow' | 'error' | 'unknown';

/**
 * All that is known of one frame. One object, reused by the next call of the same classifier: copy what must last.
 * Its type is the privacy rule: no DID, key, text or record fits into it.
 */
export interface FrameFacts {
  /**
   * `parse_error`: not JSON. `no_time_us`: JSON, but without a usable time (and, on the method, number); such a frame
   * belongs to no window. `resync`: a row that repeats a repository after a `sync`, and is no act. `notice`: a word of the
   * host itself. `counted`: everything else, whatever its kind.
   */
  outcome: 'counted' | 'parse_error' | 'no_time_us' | 'resync' | 'notice';
  notice: Notice;
  /** The stream's clock, microseconds since 1970; 0 unless counted or a row of a re-sync. */
  timeUs: number;
  /** The host's own number, an integer literal from 1 to 2^53 - 1; null where the frame carries none. */
  seq: number | null;
  /** Indexes into `metricNames`: the first `metricCount` entries, each at most once. */
  metrics: Uint8Array;
  /** 0 unless counted, then at least 1. */
  metricCount: number;
}

/** Reads one frame. */
export type Classifier = (frame: Uint8Array) => FrameFacts;

/** Most metrics of one frame: a post's operation, reply, embed, quote. */
const mostMetrics = 4;

/** Facts of nothing yet. */
export function emptyFacts(): FrameFacts {
  const metrics = new Uint8Array(mostMetrics);
  return { outcome: 'counted', notice: 'none', timeUs: 0, seq: null, metrics, metricCount: 0 };
}
