import type { LabelLog } from './label-log.ts';

/** Consecutive labels with consecutive `seq` numbers. */
interface Run {
  readonly fromN: number;
  /** Number after the last label; Infinity for the current run. */
  readonly toN: number;
  readonly firstSeq: number;
}

/**
 * View of a labeler's log that shows which labels its database contains, and their `seq`. A label's `seq` equals its
 * number until the database is recreated or restored to an older state.
 */
export class Database {
  readonly #log: LabelLog;
  readonly #replacing: boolean;
  #runs: Run[] = [{ fromN: 1, toN: Number.POSITIVE_INFINITY, firstSeq: 1 }];

  /** With `replacing`, a newer label replaces an older one with the same subject and value, as in Ozone. */
  constructor(log: LabelLog, replacing: boolean) {
    this.#log = log;
    this.#replacing = replacing;
  }

  /** Returns the highest `seq` that was assigned when the log ended at `edge`, or 0 if no `seq` was assigned. */
  newestSeq(edge: number): number {
    const run = this.#runs.findLast(({ fromN }) => fromN <= edge);
    return run === undefined ? 0 : run.firstSeq + Math.min(edge, run.toN - 1) - run.fromN;
  }

  /** Returns the `seq` of a label, or null if the database lost the label when it was recreated or restored. */
  seqOf(n: number): number | null {
    const run = this.#runs.find(({ fromN, toN }) => fromN <= n && n < toN);
    return run === undefined ? null : run.firstSeq + n - run.fromN;
  }

  /** Returns the number of the first label after the given `seq`. That label may not have been emitted yet. */
  after(seq: number): number {
    for (const { fromN, toN, firstSeq } of this.#runs) {
      const n = fromN + Math.max(0, seq + 1 - firstSeq);
      if (n < toN) return n;
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Yields the numbers of the labels in the database from `fromN` to `edge`, in `seq` order. */
  *read(fromN: number, edge: number): Generator<number> {
    for (const run of this.#runs) {
      const last = Math.min(edge, run.toN - 1);
      for (let n = Math.max(fromN, run.fromN); n <= last; n++) {
        if (!this.#replacing || !this.#log.replaced(n, edge)) yield n;
      }
    }
  }

  /** Recreates the database: all labels so far are lost, and `seq` starts at 1 again. */
  recreate(edge: number): void {
    this.#runs = [{ fromN: edge + 1, toN: Number.POSITIVE_INFINITY, firstSeq: 1 }];
  }

  /** Restores an older state: the last `rows` labels are lost, and their `seq` numbers are assigned again. */
  loseTail(rows: number, edge: number): void {
    const cut = Math.max(0, this.newestSeq(edge) - rows);
    this.#runs = this.#runs
      .filter(({ firstSeq }) => firstSeq <= cut)
      .map((run) => ({ ...run, toN: Math.min(run.toN, run.fromN + cut - run.firstSeq + 1) }));
    this.#runs.push({ fromN: edge + 1, toN: Number.POSITIVE_INFINITY, firstSeq: cut + 1 });
  }
}
