/**
 * Minimum time on this machine's monotonic clock over which the progress of a connection's stamps is measured, in
 * microseconds.
 */
const spanUs = 10_000_000;
/** Maximum difference between the progress of the stamps and of the monotonic clock, in microseconds. */
const maxDifferenceUs = 2_000_000;

/**
 * Distinguishes the live events of a stream from a replay. A connection that resumes at a cursor first delivers old
 * events with old stamps. If the machine started with the time of its last shutdown, these stamps agree with the
 * wrong clock. Live stamps advance at the pace of the monotonic clock; the stamps of a replay advance much faster.
 */
export class LiveStamps {
  readonly #monotonic: () => number;
  #from: { readonly stamp: number; readonly at: number } | null = null;
  #isLive = false;

  /** `monotonic` is a monotonic clock, in microseconds. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Starts a connection. `resumes` is true if it may begin with old events. */
  open(resumes: boolean): void {
    this.#from = null;
    this.#isLive = !resumes;
  }

  /** Records the stamp of an event, in microseconds. Returns true if the event is live. */
  isLive(stamp: number): boolean {
    if (this.#isLive) return true;
    const at = this.#monotonic();
    this.#from ??= { stamp, at };
    const elapsed = at - this.#from.at;
    if (elapsed < spanUs) return false;
    this.#isLive = Math.abs(stamp - this.#from.stamp - elapsed) <= maxDifferenceUs;
    this.#from = { stamp, at };
    return this.#isLive;
  }
}
