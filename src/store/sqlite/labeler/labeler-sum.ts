import { type SignatureVerdict, signatureVerdicts } from '../../label.ts';
import { delayBounds, type LabelerCounters, maxCountedValues } from '../../labeler-counters.ts';
import type { DayCounters, Events } from './day-counters.ts';

/** Maximum number of values in a sum. Above this number, the values with the smallest counts are added to `others`. */
const maxSummedValues = 2 * maxCountedValues;

/** Sum of one labeler's counters over several days. */
export class LabelerSum {
  readonly #verdicts = new Map<SignatureVerdict, number>();
  readonly #values = new Map<string, Events>();
  readonly #others: Events = [0, 0];
  readonly #delays: number[] = Array.from({ length: delayBounds.length + 1 }, () => 0);

  /** Adds the counters of a day. `texts` contains the texts of the day's values by id. */
  addDay({ verdicts, values, others, delays }: DayCounters, texts: ReadonlyMap<number, string>): void {
    for (const [verdict, count] of verdicts) this.#addVerdict(verdict, count);
    for (const [value, [applied, removed]] of values) {
      if (applied + removed > 0) this.#addValue(texts.get(value) ?? '', applied, removed);
    }
    this.#addOthers(others);
    for (const [range, count] of delays) this.#addDelays(range, count);
  }

  /** Adds another sum of the same labeler. */
  add(sum: LabelerSum): void {
    for (const [verdict, count] of sum.#verdicts) this.#addVerdict(verdict, count);
    for (const [value, [applied, removed]] of sum.#values) this.#addValue(value, applied, removed);
    this.#addOthers(sum.#others);
    for (const [range, count] of sum.#delays.entries()) this.#addDelays(range, count);
  }

  /** Returns the sum in the form of the port. */
  counters(labeler: string): LabelerCounters {
    const sorted = largestFirst(this.#values);
    const others: Events = [...this.#others];
    for (const [, events] of sorted.slice(maxCountedValues)) increase(others, events);
    const verdicts = Object.fromEntries(
      signatureVerdicts.map((verdict) => [verdict, this.#verdicts.get(verdict) ?? 0]),
    );
    return {
      labeler,
      verdicts: verdicts as Record<SignatureVerdict, number>,
      values: sorted.slice(0, maxCountedValues).map(([value, [applied, removed]]) => ({ value, applied, removed })),
      others: { applied: others[0], removed: others[1] },
      delays: [...this.#delays],
    };
  }

  #addVerdict(verdict: SignatureVerdict, count: number): void {
    this.#verdicts.set(verdict, (this.#verdicts.get(verdict) ?? 0) + count);
  }

  #addValue(value: string, applied: number, removed: number): void {
    const events = this.#values.get(value);
    if (events) increase(events, [applied, removed]);
    else this.#values.set(value, [applied, removed]);
    if (this.#values.size > maxSummedValues) this.#shrink();
  }

  #addOthers(events: Events): void {
    increase(this.#others, events);
  }

  #addDelays(range: number, count: number): void {
    this.#delays[range] = (this.#delays[range] ?? 0) + count;
  }

  /** Limits the number of values, because different days may have different values. */
  #shrink(): void {
    for (const [value, events] of largestFirst(this.#values).slice(maxCountedValues)) {
      increase(this.#others, events);
      this.#values.delete(value);
    }
  }
}

function increase(sum: Events, [applied, removed]: Events): void {
  sum[0] += applied;
  sum[1] += removed;
}

function largestFirst(values: ReadonlyMap<string, Events>): [string, Events][] {
  return [...values].sort(([a, x], [b, y]) => y[0] + y[1] - x[0] - x[1] || (a < b ? -1 : 1));
}
