/** Maximum number of remembered pairs of account and time. The oldest pairs are dropped first. */
const maxPairs = 32_768;

/**
 * Detects rows that repeat a repository after a `sync`. The rows are not marked as such, but they have the account and
 * the time of the `sync`. Only a salted hash of each pair is kept, in memory: it reveals no account and is never
 * stored.
 */
export class ResyncMemory {
  readonly #pairs = new Set<number>();
  readonly #salt: number;

  /** Creates a detector that remembers no pairs yet. `salt` is 32 random bits. */
  constructor(salt: number) {
    this.#salt = salt;
  }

  /** Records a `sync` of the account whose DID is in `[from, to)`. */
  sync(bytes: Uint8Array, from: number, to: number, timeUs: number): void {
    this.#add(this.#pair(bytes, from, to, timeUs));
  }

  /**
   * Returns true if a create is a row of a re-sync. A create is a row if its `sync` was read. An `old` create, whose
   * time precedes the first event of this reader, is also a row, because its `sync` may have been missed. Hosts
   * without `witnessedAt` also send imported creates with old times: on these hosts, the first old create with a
   * given account and time counts as an event, and all further ones count as rows.
   */
  isRow(bytes: Uint8Array, from: number, to: number, timeUs: number, old: boolean, witnessed: boolean): boolean {
    if (this.#pairs.size === 0 && !old) return false;
    const pair = this.#pair(bytes, from, to, timeUs);
    if (this.#pairs.has(pair)) return true;
    if (!old) return false;
    this.#add(pair);
    return witnessed;
  }

  #add(pair: number): void {
    this.#pairs.add(pair);
    if (this.#pairs.size <= maxPairs) return;
    for (const oldest of this.#pairs) {
      this.#pairs.delete(oldest);
      return;
    }
  }

  /** Computes 53 bits from two FNV-1a hashes. A collision among the remembered pairs is improbable. */
  #pair(bytes: Uint8Array, from: number, to: number, timeUs: number): number {
    let high = 0x811c9dc5 ^ this.#salt;
    let low = 0x9e3779b9 ^ this.#salt;
    for (let i = from; i < to; i += 1) {
      const byte = bytes[i] ?? 0;
      high = Math.imul(high ^ byte, 0x01000193);
      low = Math.imul(low ^ byte, 0x85ebca6b);
      low ^= low >>> 13;
    }
    for (const part of [timeUs % 0x1_0000_0000, Math.floor(timeUs / 0x1_0000_0000)]) {
      high = Math.imul(high ^ (part >>> 0), 0x01000193);
      high ^= high >>> 15;
      low = Math.imul(low ^ (part >>> 0), 0x85ebca6b);
      low ^= low >>> 13;
    }
    return (high >>> 0) * 0x20_0000 + (low >>> 11);
  }
}

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
