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
