const secondUs = 1_000_000;
/** Seconds over which the rate forgets. */
const memorySeconds = 30;
/** Silence shorter than this is the ordinary distance between events. */
const shortestSilenceUs = 5 * secondUs;
/** Silence bound while the rate is not known. */
const unknownSilenceUs = 30 * secondUs;
/** No rate is so small that silence beyond this is ordinary. */
const longestSilenceUs = 300 * secondUs;
/** As many events at the recent rate as would come in an ordinary silence. */
const silentEvents = 20;
/** Seconds that must have been seen before the rate is believed. */
const learningSeconds = 5;

/**
 * Recent events per second of the stream's clock, and from it how long that stream may be silent. Whole seconds are
 * folded into an exponential mean, so that an event costs one comparison.
 */
export class StreamRate {
  #secondEnd = 0;
  #events = 0;
  #rate = 0;
  #learned = 0;

  /** Starts from a rate that is known from before, in events per second. */
  seed(rate: number): void {
    this.#rate = rate;
    this.#learned = learningSeconds;
  }

  /** An event at this time; `continuous` false: the time since the last one was not watched. */
  event(timeUs: number, continuous: boolean): void {
    if (timeUs >= this.#secondEnd) this.#fold(timeUs, continuous);
    this.#events += 1;
  }

  /** Silence up to this long is ordinary, in microseconds: at least 5 s, or 20 events at the recent rate. */
  get silenceUs(): number {
    if (this.#learned < learningSeconds) return unknownSilenceUs;
    return Math.min(longestSilenceUs, Math.max(shortestSilenceUs, (silentEvents / this.#rate) * secondUs));
  }

  #fold(timeUs: number, continuous: boolean): void {
    if (this.#secondEnd > 0) {
      const elapsed = continuous ? Math.max(1, Math.ceil((timeUs - this.#secondEnd) / secondUs)) : 1;
      const known = 1 - Math.exp(-this.#learned / memorySeconds);
      const weight = 1 - Math.exp(-elapsed / memorySeconds);
      // The first seconds share the weight evenly: a mean, not a slow climb from zero.
      const share = weight / (weight + known * (1 - weight));
      this.#rate += (this.#events / elapsed - this.#rate) * share;
      this.#learned += elapsed;
    }
    this.#events = 0;
    this.#secondEnd = timeUs - (timeUs % secondUs) + secondUs;
  }
}
