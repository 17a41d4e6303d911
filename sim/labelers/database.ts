import type { LabelLog } from './label-log.ts';

/** A run of labels that the labeler's database holds, one behind the other. */
interface Run {
  readonly fromN: number;
  /** Number behind the last one; Infinity for the run that grows. */
  readonly toN: number;
  readonly firstSeq: number;
}

/**
 * View of a labeler's log: the labels in its database and their `seq`. Every label has its own number, until the
 * database is recreated or restored to an older state.
 */
export class Database {
  readonly #log: LabelLog;
  readonly #replacing: boolean;
  #runs: Run[] = [{ fromN: 1, toN: Number.POSITIVE_INFINITY, firstSeq: 1 }];

  /** `replacing`: a newer label about the same thing takes the place of the older one, as Ozone's do. */
  constructor(log: LabelLog, replacing: boolean) {
    this.#log = log;
    this.#replacing = replacing;
  }

  /** The highest `seq` that was given by the time the log had reached `edge`; 0 for none. */
  newestSeq(edge: number): number {
    const run = this.#runs.findLast(({ fromN }) => fromN <= edge);
    return run === undefined ? 0 : run.firstSeq + Math.min(edge, run.toN - 1) - run.fromN;
  }

  /** The `seq` of a label, or null where the database does not know it any more. */
  seqOf(n: number): number | null {
    const run = this.#runs.find(({ fromN, toN }) => fromN <= n && n < toN);
    return run === undefined ? null : run.firstSeq + n - run.fromN;
  }

  /** The number of the first label whose `seq` is higher; it may not have been emitted yet. */
  after(seq: number): number {
    for (const { fromN, toN, firstSeq } of this.#runs) {
      const n = fromN + Math.max(0, seq + 1 - firstSeq);
      if (n < toN) return n;
    }
    return Number.POSITIVE_INFINITY;
  }

  /** The numbers from `fromN` up to `edge` that are there to be read, in the order of their `seq`. */
  *read(fromN: number, edge: number): Generator<number> {
    for (const run of this.#runs) {
      const last = Math.min(edge, run.toN - 1);
      for (let n = Math.max(fromN, run.fromN); n <= last; n++) {
        if (!this.#replacing || !this.#log.replaced(n, edge)) yield n;
      }
    }
  }

  /** Makes the database anew: everything so far is gone from it, and `seq` begins again at 1. */
  recreate(edge: number): void {
    this.#runs = [{ fromN: edge + 1, toN: Number.POSITIVE_INFINITY, firstSeq: 1 }];
  }

  /** Puts it back to an older state: the last labels are gone from it, and their `seq` are given again. */
  loseTail(rows: number, edge: number): void {
    const cut = Math.max(0, this.newestSeq(edge) - rows);
    this.#runs = this.#runs
      .filter(({ firstSeq }) => firstSeq <= cut)
      .map((run) => ({ ...run, toN: Math.min(run.toN, run.fromN + cut - run.firstSeq + 1) }));
    this.#runs.push({ fromN: edge + 1, toN: Number.POSITIVE_INFINITY, firstSeq: cut + 1 });
  }
}
