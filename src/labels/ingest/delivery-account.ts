import type { Source } from '../state/source.ts';
import type { ReaderReport } from './ports.ts';

/** Numbers of rows of one page or of several frames, by what became of them. */
export interface RowsTaken {
  readonly stored: number;
  /** Rows that the store already had. */
  readonly known: number;
  readonly refused: number;
}

/**
 * Outcome of an item that a labeler delivered. An item is a row, or a message whose rows are unknown. A `hole` is
 * closed by pages or becomes a gap later. An item that is `left` is not passed by the position, and arrives again.
 */
type Outcome = keyof RowsTaken | 'hole' | 'left';

/**
 * Account of one delivery of a labeler: a page, or the frames that are read together. Every item that was received must
 * have an outcome when the delivery is finished: received = stored + known + refused + holes + left. An account that is
 * not balanced shows that this program lost a row without a gap. An error that ends the delivery also ends its account,
 * because the position then stays before the delivery.
 */
export class DeliveryAccount {
  readonly #source: Source;
  readonly #report: Pick<ReaderReport, 'log' | 'telemetry'>;
  readonly #received: number;
  readonly #settled: Record<Outcome, number> = { stored: 0, known: 0, refused: 0, hole: 0, left: 0 };

  constructor(source: Source, report: Pick<ReaderReport, 'log' | 'telemetry'>, received: number) {
    this.#source = source;
    this.#report = report;
    this.#received = received;
  }

  settle(outcome: Outcome, items: number): void {
    this.#settled[outcome] += items;
  }

  /** Settles the rows that the intake took. */
  take({ stored, known, refused }: RowsTaken): void {
    this.settle('stored', stored);
    this.settle('known', known);
    this.settle('refused', refused);
  }

  /** Settles all other items, because the delivery ends before the position passes them. */
  leave(): void {
    this.settle('left', this.#open);
  }

  get #open(): number {
    return Object.values(this.#settled).reduce((open, items) => open - items, this.#received);
  }

  /** Finishes the delivery. Reports items without an outcome, and a hole that the position or the state has passed. */
  close(): void {
    const items = Math.abs(this.#open);
    const passed = passesHole(this.#source);
    if (items === 0 && !passed) return;
    const { log, telemetry } = this.#report;
    telemetry.unbalanced(Math.max(1, items));
    log.error('the account of a labeler is not balanced: labels may be missing without a gap', {
      ...{ labeler: this.#source.did, received: this.#received, ...this.#settled, passed },
    });
  }
}

/** Returns true if the position of a source, or the time up to which it is complete, has passed an open hole. */
export function passesHole({
  progress,
  position,
  tracker,
}: Pick<Source, 'progress' | 'position' | 'tracker'>): boolean {
  const [first] = progress.holes;
  if (first === undefined) return false;
  const { hole, tracked } = tracker.reading;
  if (hole === null || (tracked.completeThrough ?? 0) > hole.last) return true;
  return first.before !== null && position.seq !== null && position.seq > first.before.seq;
}
