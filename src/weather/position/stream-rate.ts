const secondUs = 1_000_000;
/** Time constant of the exponential average, in seconds. */
const memorySeconds = 30;
/** Lower limit of the silence bound, in microseconds. Shorter silences are ordinary intervals between events. */
const shortestSilenceUs = 5 * secondUs;
/** Silence bound while the rate is unknown, in microseconds. */
const unknownSilenceUs = 30 * secondUs;
/** Upper limit of the silence bound, in microseconds, whatever the rate. */
const longestSilenceUs = 300 * secondUs;
/** Number of events that determines the silence bound: the bound is the time that they take at the recent rate. */
const silentEvents = 20;
/** Number of observed seconds after which the measured rate is used. */
const learningSeconds = 5;

/**
 * Measures the recent event rate on the stream's clock, and derives the maximum ordinary silence from it. Whole seconds
 * are folded into an exponential average, so that an event costs only one comparison.
 */
export class StreamRate {
  #secondEnd = 0;
  #events = 0;
  #rate = 0;
  #learned = 0;

  /** Sets the initial rate, in events per second. The rate was measured by an earlier process. */
  seed(rate: number): void {
    this.#rate = rate;
    this.#learned = learningSeconds;
  }

  /** Adds an event. `continuous` is false if the time since the last event was not observed. */
  event(timeUs: number, continuous: boolean): void {
    if (timeUs >= this.#secondEnd) this.#fold(timeUs, continuous);
    this.#events += 1;
  }

  /** Maximum ordinary silence, in microseconds: the time of 20 events at the recent rate, within the limits. */
  get silenceUs(): number {
    if (this.#learned < learningSeconds) return unknownSilenceUs;
    return Math.min(longestSilenceUs, Math.max(shortestSilenceUs, (silentEvents / this.#rate) * secondUs));
  }

  #fold(timeUs: number, continuous: boolean): void {
    if (this.#secondEnd > 0) {
      const elapsed = continuous ? Math.max(1, Math.ceil((timeUs - this.#secondEnd) / secondUs)) : 1;
      const known = 1 - Math.exp(-this.#learned / memorySeconds);
      const weight = 1 - Math.exp(-elapsed / memorySeconds);
      // Weight the first seconds equally, so that the average does not rise slowly from zero.
      const share = weight / (weight + known * (1 - weight));
      this.#rate += (this.#events / elapsed - this.#rate) * share;
      this.#learned += elapsed;
    }
    this.#events = 0;
    this.#secondEnd = timeUs - (timeUs % secondUs) + secondUs;
  }
}
