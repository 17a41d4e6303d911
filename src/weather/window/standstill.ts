const secondUs = 1_000_000;
/** Time that the stream must run without moving the position before the position is abandoned. */
const standstillUs = 15 * secondUs;
/** A position further ahead of this machine's clock than this is suspect: hosts stamp events when they see them. */
const aheadUs = 2 * secondUs;

/**
 * Detects a position that the stream cannot have: events keep coming at the pace of the clock, as live ones do, and
 * none of them moves it. A replay does not run at that pace; a host that lags behind the position is told from a
 * wrong position by the clock: only a position ahead of it, or behind the events' own times, is suspect.
 */
export class Standstill {
  #since = 0;
  #first = 0;

  /** An event moved the position. */
  moved(): void {
    this.#since = 0;
  }

  /**
   * An event did not move it; all times in microseconds. Returns for how long the position has been wrong once that
   * is certain, and 0 before.
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
