const secondUs = 1_000_000;
/**
 * Time for which the stream must advance without moving the position before the position is abandoned, in microseconds.
 */
const standstillUs = 15 * secondUs;
/**
 * Minimum time by which a suspect position is ahead of this machine's clock, in microseconds. Hosts set an event's time
 * when they receive the event.
 */
const aheadUs = 2 * secondUs;

/**
 * Detects a wrong position: events arrive at the pace of the clock, as live events do, but none of them advances the
 * position. A replay does not have that pace. A position is suspect only if it is ahead of the clock, or if its time
 * is earlier than the times of the events. Otherwise, the host may merely be lagging.
 */
export class Standstill {
  #since = 0;
  #first = 0;

  /** Records that an event advanced the position. */
  moved(): void {
    this.#since = 0;
  }

  /**
   * Records an event that did not advance the position. All times are in microseconds. Returns the time for which the
   * position has been wrong, or 0 until that is certain.
   */
  event(timeUs: number, positionUs: number, nowUs: number): number {
    if (timeUs <= positionUs && positionUs <= nowUs + aheadUs) return 0;
    const elapsed = nowUs - this.#since;
    if (this.#since === 0 || elapsed < 0) this.#begin(timeUs, nowUs);
    else if (elapsed >= standstillUs) {
      const passed = timeUs - this.#first;
      if (passed >= elapsed / 2 && passed <= elapsed * 2) {
        this.#since = 0;
        return elapsed;
      }
      this.#begin(timeUs, nowUs);
    }
    return 0;
  }

  #begin(timeUs: number, nowUs: number): void {
    this.#since = nowUs;
    this.#first = timeUs;
  }
}

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
