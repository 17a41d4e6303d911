import { fraction } from '../random.ts';

/** Consecutive labels that are emitted at the same rate. */
interface Stretch {
  readonly fromN: number;
  readonly fromUs: number;
  /**
   * Time between two labels, in microseconds; 0 if all labels are emitted at the same time, and Infinity if none is
   * emitted.
   */
  readonly periodUs: number;
  /** Number of labels in the stretch; Infinity for the last stretch. */
  readonly count: number;
}

/** Emission times of a labeler's labels, computed in closed form. Labels are numbered from 1. */
export class Pace {
  readonly #seed: number;
  readonly #stretches: Stretch[];

  constructor({ seed, rate, startUs }: { readonly seed: number; readonly rate: number; readonly startUs: number }) {
    this.#seed = seed;
    this.#stretches = [{ fromN: 1, fromUs: startUs, periodUs: period(rate), count: Number.POSITIVE_INFINITY }];
  }

  /** Returns the number of the newest label at `nowUs`, or 0 if no label was emitted. */
  edge(nowUs: number): number {
    const stretch = this.#stretches.findLast(({ fromUs }) => fromUs <= nowUs);
    if (stretch === undefined) return 0;
    const { fromN, fromUs, periodUs, count } = stretch;
    if (periodUs === 0) return fromN + count - 1;
    if (periodUs === Number.POSITIVE_INFINITY) return fromN - 1;
    const slots = Math.floor((nowUs - fromUs) / periodUs);
    const last = fromN + slots;
    return Math.min(fromN + count - 1, this.#at(stretch, last) <= nowUs ? last : last - 1);
  }

  /** Returns the emission time of a label, in microseconds. */
  emittedUs(n: number): number {
    return this.#at(this.#stretch(n), n);
  }

  /** Returns true if the label was emitted by `emit`, at the same time as other labels. */
  atOnce(n: number): boolean {
    return this.#stretch(n).periodUs === 0;
  }

  /** Sets the rate of the following labels, in labels per second. */
  setRate(rate: number, nowUs: number): void {
    this.#cut(nowUs);
    const fromN = this.edge(nowUs) + 1;
    this.#stretches.push({ fromN, fromUs: nowUs, periodUs: period(rate), count: Number.POSITIVE_INFINITY });
  }

  /** Emits labels at a given time, in addition to the regular ones. Returns the first of their numbers. */
  emit(count: number, nowUs: number): number {
    const periodUs = this.#stretches.at(-1)?.periodUs ?? Number.POSITIVE_INFINITY;
    this.#cut(nowUs);
    const fromN = this.edge(nowUs) + 1;
    this.#stretches.push({ fromN, fromUs: nowUs, periodUs: 0, count });
    this.#stretches.push({
      fromN: fromN + count,
      // Begin after the time of the emitted labels, so that a search for that time finds their stretch.
      fromUs: nowUs + 1,
      periodUs,
      count: Number.POSITIVE_INFINITY,
    });
    return fromN;
  }

  /** Ends the current stretch after the labels that were emitted by `nowUs`. */
  #cut(nowUs: number): void {
    const edge = this.edge(nowUs);
    while ((this.#stretches.at(-1)?.fromN ?? 0) > edge) this.#stretches.pop();
    const last = this.#stretches.pop();
    if (last) this.#stretches.push({ ...last, count: edge - last.fromN + 1 });
  }

  #stretch(n: number): Stretch {
    const found = this.#stretches.findLast(({ fromN }) => fromN <= n);
    if (found === undefined) throw new RangeError(`label number ${n} is less than 1`);
    return found;
  }

  #at({ fromN, fromUs, periodUs }: Stretch, n: number): number {
    if (periodUs === 0) return fromUs;
    const within = 0.05 + fraction(this.#seed, 1, n) * 0.9;
    return fromUs + Math.floor((n - fromN + within) * periodUs);
  }
}

function period(rate: number): number {
  return rate > 0 ? 1_000_000 / rate : Number.POSITIVE_INFINITY;
}
