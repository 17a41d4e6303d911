const secondUs = 1_000_000;
/** Time constant of the exponential mean, in seconds. */
const memorySeconds = 30;
/** Minimum silence bound, in microseconds: shorter silences are ordinary distances between events. */
const shortestSilenceUs = 5 * secondUs;
/** Silence bound while the rate is unknown, in microseconds. */
const unknownSilenceUs = 30 * secondUs;
/** Maximum silence bound, in microseconds, for any rate. */
const longestSilenceUs = 300 * secondUs;
/** Number of events at the recent rate whose duration is the silence bound. */
const silentEvents = 20;
/** Number of observed seconds after which the rate is used. */
const learningSeconds = 5;

/**
 * Recent event rate on the stream's clock, and the resulting maximum silence. Whole seconds are folded into an
 * exponential mean, so that an event costs one comparison.
 */
export class StreamRate {
  #secondEnd = 0;
  #events = 0;
  #rate = 0;
  #learned = 0;

  /** Sets the initial rate from an earlier process, in events per second. */
  seed(rate: number): void {
    this.#rate = rate;
    this.#learned = learningSeconds;
  }

  /** Adds an event; `continuous` is false if the time since the last event was not observed. */
  event(timeUs: number, continuous: boolean): void {
    if (timeUs >= this.#secondEnd) this.#fold(timeUs, continuous);
    this.#events += 1;
  }

  /** Maximum ordinary silence in microseconds: at least 5 s, or 20 events at the recent rate. */
  get silenceUs(): number {
    if (this.#learned < learningSeconds) return unknownSilenceUs;
    return Math.min(longestSilenceUs, Math.max(shortestSilenceUs, (silentEvents / this.#rate) * secondUs));
  }

  #fold(timeUs: number, continuous: boolean): void {
    if (this.#secondEnd > 0) {
      const elapsed = continuous ? Math.max(1, Math.ceil((timeUs - this.#secondEnd) / secondUs)) : 1;
      const known = 1 - Math.exp(-this.#learned / memorySeconds);
      const weight = 1 - Math.exp(-elapsed / memorySeconds);
      // Weight the first seconds equally, so that the mean does not rise slowly from zero.
      const share = weight / (weight + known * (1 - weight));
      this.#rate += (this.#events / elapsed - this.#rate) * share;
      this.#learned += elapsed;
    }
    this.#events = 0;
    this.#secondEnd = timeUs - (timeUs % secondUs) + secondUs;
  }
}
