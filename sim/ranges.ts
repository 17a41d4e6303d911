/** A half-open range of integers. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A set of integers, stored as sorted, disjoint ranges. Ranges that touch are merged. */
export class RangeSet {
  #ranges: Range[] = [];

  /** Adds a range. An empty range has no effect. */
  add({ from, to }: Range): void {
    if (to <= from) return;
    const last = this.#ranges.at(-1);
    // In most cases, the new range extends the last one.
    if (last && last.from <= from && from <= last.to) {
      this.#ranges[this.#ranges.length - 1] = { from: last.from, to: Math.max(last.to, to) };
      return;
    }
    if (last && last.to < from) {
      this.#ranges.push({ from, to });
      return;
    }
    const before = this.#ranges.filter((range) => range.to < from);
    const after = this.#ranges.filter((range) => range.from > to);
    const touched = this.#ranges.slice(before.length, this.#ranges.length - after.length);
    const joined = {
      from: Math.min(from, ...touched.map((range) => range.from)),
      to: Math.max(to, ...touched.map((range) => range.to)),
    };
    this.#ranges = [...before, joined, ...after];
  }

  /** The ranges of the set in ascending order. */
  get list(): readonly Range[] {
    return this.#ranges;
  }

  /**
   * Returns the first range that ends after `number`: the range that contains the number, or else the next range.
   * Returns null if no such range exists.
   */
  at(number: number): Range | null {
    let low = 0;
    let high = this.#ranges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ranges[middle]?.to ?? 0) <= number) low = middle + 1;
      else high = middle;
    }
    return this.#ranges[low] ?? null;
  }

  /** Returns true if the set contains the number. */
  has(number: number): boolean {
    const range = this.at(number);
    return range !== null && range.from <= number;
  }

  /** Number of integers in the set. */
  get size(): number {
    return this.#ranges.reduce((sum, { from, to }) => sum + to - from, 0);
  }
}
