import type { Micros } from '../contract/timestamp.ts';
import { labelBytes } from '../store/label.ts';
import type { LabelerCount, NewObservation } from '../store/port.ts';
import { dayOf, dayStart } from '../store/time.ts';

/** Most rows of one source in one UTC day of our clock. */
export const maxDailyRows = 2_000_000;
/** Most bytes of the labels of one source in one UTC day of our clock: 1 GB, some five times those of as many usual rows. */
export const maxDailyBytes = 1_000_000_000;
/** What a row takes in the mean, as measured: what a day held before a restart is counted at. */
const meanRowBytes = 205;

/** Thrown where a source may give no more today. */
export class CapReached extends Error {
  constructor() {
    super('no more of this source is stored today');
    this.name = 'CapReached';
  }
}

/**
 * Bounds what one source adds to a day: whoever gives more pauses until midnight, and is then read on from where it was.
 * One runaway labeler must not fill the disk, nor lead a ranking that counts it only in part.
 */
export class DailyCap {
  readonly limit: number;
  readonly #clock: () => Micros;
  readonly #maxBytes: number;
  readonly #rows = new Map<string, number>();
  readonly #bytes = new Map<string, number>();
  readonly #paused = new Set<string>();
  #day = Number.NEGATIVE_INFINITY;

  constructor(limit: number, clock: () => Micros, maxBytes = maxDailyBytes) {
    this.limit = limit;
    this.#maxBytes = maxBytes;
    this.#clock = clock;
  }

  /** Takes over what the day that is under way holds already. */
  load(counts: readonly LabelerCount[]): void {
    this.#turn();
    for (const { labeler, applied, removed } of counts) {
      this.#rows.set(labeler, applied + removed);
      this.#bytes.set(labeler, (applied + removed) * meanRowBytes);
    }
  }

  /** Whether a page of so many rows may be stored; if not, the source is paused from now on. The first of a day always may. */
  admits(source: string, rows: number): boolean {
    if (this.paused(source)) return false;
    const before = this.#rows.get(source) ?? 0;
    const heavy = (this.#bytes.get(source) ?? 0) >= this.#maxBytes && rows > 0;
    if (!heavy && (before === 0 || before + rows <= this.limit)) return true;
    this.#paused.add(source);
    return false;
  }

  /** Rows were stored. */
  count(source: string, rows: number): void {
    this.#turn();
    this.#rows.set(source, (this.#rows.get(source) ?? 0) + rows);
  }

  /** Of a page of one source so many rows were new: their share of its bytes counts. */
  countBytes(observations: readonly NewObservation[], stored: number): void {
    this.#turn();
    const [first] = observations;
    if (first === undefined || stored === 0) return;
    const source = first.label.src;
    const bytes = observations.reduce((sum, { label }) => sum + labelBytes(label), 0);
    this.#bytes.set(source, (this.#bytes.get(source) ?? 0) + (bytes * stored) / observations.length);
  }

  /** Whether nothing more of a source is stored today. */
  paused(source: string): boolean {
    this.#turn();
    return this.#paused.has(source);
  }

  /** The sources that are paused now. */
  get pausedSources(): readonly string[] {
    this.#turn();
    return [...this.#paused];
  }

  /** Milliseconds until a paused source goes on. */
  get msLeft(): number {
    const now = this.#clock();
    return Math.max(0, dayStart(dayOf(now) + 1) - now) / 1000;
  }

  /** A clock that is set back does not give a day's rows anew. */
  #turn(): void {
    const today = dayOf(this.#clock());
    if (today <= this.#day) return;
    this.#day = today;
    this.#rows.clear();
    this.#bytes.clear();
    this.#paused.clear();
  }
}
