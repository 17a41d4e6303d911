import { type Interval, union } from './interval.ts';
import { windowStart } from './window.ts';

/**
 * Maximum number of interruptions in one window. After the last, a span is kept only if it continues in the next
 * window.
 */
const maxBreaksPerWindow = 16;

/**
 * Observed spans of the stream's clock that `take` has not returned yet, in microseconds. Frequent interruptions
 * cannot create many spans: after the last permitted interruption of a window, a span counts as observed only if it
 * continues in the next window.
 */
export class ObservedSpans {
  #closed: Interval[] = [];
  #from = 0;
  #to = 0;
  #window = 0;
  #breaks = 0;

  /** End of the current span, exclusive. */
  get to(): number {
    return this.#to;
  }

  /** Number of spans that `take` returns in addition to the current one. */
  get size(): number {
    return this.#closed.length;
  }

  /** Ends the current span and starts one at an event. */
  open(from: number): void {
    this.#close();
    this.#from = from;
    this.#to = from;
    const window = windowStart(from);
    if (window !== this.#window) {
      this.#window = window;
      this.#breaks = 0;
    }
    this.#breaks += 1;
  }

  /** Continues the current span up to an event, inclusive. */
  extend(timeUs: number): void {
    this.#to = timeUs + 1;
  }

  /** Returns the spans since the last call, sorted and disjoint, and clears them. The current span continues. */
  take(): Interval[] {
    if (this.#close()) this.#from = this.#to;
    const spans = union(this.#closed);
    this.#closed = [];
    return spans;
  }

  /**
   * Keeps the current span and returns true. Returns false without keeping the span if its window has had too many
   * interruptions and the span does not yet continue in the next window.
   */
  #close(): boolean {
    if (this.#breaks > maxBreaksPerWindow && windowStart(this.#to - 1) === this.#window) return false;
    if (this.#to > this.#from) this.#closed.push({ from: this.#from, to: this.#to });
    return true;
  }
}
