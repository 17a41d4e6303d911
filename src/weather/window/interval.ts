import { windowStart } from './window.ts';

/** An interval of the stream's clock in microseconds: `from` inclusive, `to` exclusive. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** Returns the union of intervals, sorted and disjoint. Adjacent intervals are merged. */
export function union(intervals: readonly Interval[]): Interval[] {
  const sorted = intervals.filter(({ from, to }) => to > from).sort((a, b) => a.from - b.from);
  const joined: { from: number; to: number }[] = [];
  for (const { from, to } of sorted) {
    const last = joined.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else joined.push({ from, to });
  }
  return joined;
}

/** Returns the parts of sorted, disjoint intervals that no interval in `cuts` covers. */
export function without(intervals: readonly Interval[], cuts: readonly Interval[]): Interval[] {
  const sorted = union(cuts);
  return intervals.flatMap((interval) => {
    const parts: Interval[] = [];
    let { from } = interval;
    for (const cut of sorted) {
      if (cut.to <= from || cut.from >= interval.to) continue;
      if (cut.from > from) parts.push({ from, to: cut.from });
      from = cut.to;
    }
    return from < interval.to ? [...parts, { from, to: interval.to }] : parts;
  });
}

/**
 * Divides the time from `start` into `spans` spans of `width` microseconds, and returns the covered length of each.
 * The intervals must be sorted and disjoint, as `union` returns them. If an interval crosses several spans, each span
 * includes only the part within that span.
 */
export function coverage(intervals: readonly Interval[], start: number, width: number, spans: number): Float64Array {
  const covered = new Float64Array(spans);
  const end = start + spans * width;
  for (const interval of intervals) {
    const to = Math.min(interval.to, end);
    let from = Math.max(interval.from, start);
    while (from < to) {
      const span = Math.floor((from - start) / width);
      const edge = Math.min(to, start + (span + 1) * width);
      covered[span] = (covered[span] ?? 0) + edge - from;
      from = edge;
    }
  }
  return covered;
}

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
