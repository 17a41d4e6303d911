import { futureUs } from './window.ts';

/** Maximum delay of an event at which a replay counts as having reached the present, in microseconds. */
const liveUs = 2_000_000;

/** A connection's replay of the host's history, up to the present. */
export class Replay {
  readonly #clockUs: () => number;
  #isRunning = false;
  /** True if no event of the connection was within `liveUs` of this machine's clock. */
  #isBehind = false;
  #startedUs = 0;
  #nowUs = 0;

  constructor(clockUs: () => number) {
    this.#clockUs = clockUs;
  }

  /** True while events may come from the host's history. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  start(): void {
    this.#isRunning = true;
    this.#isBehind = true;
    this.#startedUs = this.#clockUs();
    this.#nowUs = this.#startedUs;
  }

  end(): void {
    this.#isRunning = false;
    this.#isBehind = false;
  }

  /**
   * Returns true if the replay may have reached the present at this event. It also ends at an event that is newer than its start:
   * if this machine's clock is ahead, no event ever seems to be in the present.
   */
  reachesPresent(timeUs: number): boolean {
    if (!this.#isBehind || timeUs < this.#nowUs - (this.#isRunning ? futureUs : liveUs)) return false;
    this.#nowUs = this.#clockUs();
    if (timeUs >= this.#nowUs - liveUs) {
      this.end();
      return true;
    }
    if (!this.#isRunning || timeUs < this.#startedUs || timeUs < this.#nowUs - futureUs) return false;
    this.#isRunning = false;
    return true;
  }
}
