import { signatureVerdicts } from '../../label.ts';
import type { DayCounters } from '../labeler/day-counters.ts';
import { LabelerSum } from '../labeler/labeler-sum.ts';

/** Counters of a day, with the texts for the numeric ids of labelers and values. */
export interface CountedDay {
  readonly counted: readonly (readonly [source: number, counters: DayCounters])[];
  readonly names: ReadonlyMap<number, string>;
  readonly values: ReadonlyMap<number, string>;
}

/** Counters of all labelers of one day in a single array, because objects would need several times the memory. */
export class PackedDay {
  /** Index in `#numbers` at which the counters of each labeler begin. */
  readonly #labelers: ReadonlyMap<string, number>;
  readonly #numbers: Float64Array;
  readonly #values: ReadonlyMap<number, string>;

  private constructor(labelers: ReadonlyMap<string, number>, numbers: Float64Array, values: CountedDay['values']) {
    this.#labelers = labelers;
    this.#numbers = numbers;
    this.#values = values;
  }

  /** Packs the counters of a day. */
  static of({ counted, names, values }: CountedDay): PackedDay {
    const labelers = new Map<string, number>();
    const numbers: number[] = [];
    for (const [source, { verdicts, values: own, others, delays }] of counted) {
      labelers.set(names.get(source) ?? '', numbers.length);
      for (const verdict of signatureVerdicts) numbers.push(verdicts.get(verdict) ?? 0);
      numbers.push(...others, own.size);
      for (const [value, [applied, removed]] of own) numbers.push(value, applied, removed);
      numbers.push(delays.size);
      for (const [range, count] of delays) numbers.push(range, count);
    }
    return new PackedDay(labelers, Float64Array.from(numbers), values);
  }

  /**
   * Adds the counters of each labeler to the labeler's sum. Yields after each labeler, so that the caller can pause.
   */
  *adding(sums: Map<string, LabelerSum>): Generator<void> {
    for (const [labeler, at] of this.#labelers) {
      const sum = sums.get(labeler) ?? new LabelerSum();
      sums.set(labeler, sum);
      this.#addLabeler(at, sum);
      yield;
    }
  }

  #addLabeler(from: number, sum: LabelerSum): void {
    let at = from;
    const take = (): number => this.#numbers[at++] ?? 0;
    const verdicts: DayCounters['verdicts'] = new Map(signatureVerdicts.map((verdict) => [verdict, take()]));
    const others: DayCounters['others'] = [take(), take()];
    const values: DayCounters['values'] = new Map();
    for (let left = take(); left > 0; left -= 1) values.set(take(), [take(), take()]);
    const delays: DayCounters['delays'] = new Map();
    for (let left = take(); left > 0; left -= 1) delays.set(take(), take());
    sum.addDay({ verdicts, values, others, delays }, this.#values);
  }
}
