import type { Micros } from '../../contract/timestamp.ts';
import type { LabelerCount } from '../../store/counts.ts';
import { labelBytes } from '../../store/label.ts';
import type { NewObservation } from '../../store/port.ts';
import type { DailyBytes } from '../../store/roster.ts';
import { day, dayOf, dayStart } from '../../store/time.ts';
import { type PriorityClass, priorityClasses } from '../state/reading-state.ts';
import { FairQueue, priorityWeights, type ShareKey } from './fair-queue.ts';

/** Maximum number of rows of one source in one UTC day of the local clock. */
const maxDailyRows = 2_000_000;
/** Maximum number of bytes of one source in one UTC day of the local clock: 1 GB. */
const maxDailyBytes = 1_000_000_000;
/** Measured mean size of a row, in bytes; assumed for rows of the current day that were stored before a restart. */
const meanRowBytes = 205;
/** Measured bytes per row of an open day in addition to its fields: indexes, counters, and the label identity. */
const rowOverheadBytes = 64;
/**
 * Maximum number of sources whose bytes are stored for the next start; the rows of other sources count with the mean
 * size.
 */
const maxSavedSources = 5_000;

/** Maximum amounts that one source of a class may add in a day. */
interface SourceShare {
  readonly rows: number;
  readonly bytes: number;
  /** Maximum bytes of the source, as a fraction of the daily budget. */
  readonly part: number;
  /** Maximum bytes of all sources of the class in one registrable domain, as a fraction of the daily budget. */
  readonly domainPart: number;
}

/** Limits on the bytes that all sources of a class may add in a day. */
interface ClassShare {
  /** Fraction of the daily budget that is reserved for the class, regardless of the other classes. */
  readonly part: number;
  /** Maximum fraction of the daily budget that the class may use, including the unused shares of other classes. */
  readonly maxPart: number;
  /**
   * Fraction of the share that is available at the start of the day; the rest becomes available evenly through the day.
   */
  readonly atOnce: number;
}

/**
 * Shares of one source, by class, and of the classes. Seeded sources may also use the part of the daily budget that the
 * other classes leave unused.
 */
export const capShares: {
  readonly source: Readonly<Record<PriorityClass, SourceShare>>;
  readonly class: Readonly<Record<PriorityClass, ClassShare>>;
} = {
  source: {
    seeded: { rows: maxDailyRows, bytes: maxDailyBytes, part: 0.4, domainPart: 0.5 },
    established: { rows: maxDailyRows, bytes: maxDailyBytes, part: 0.15, domainPart: 0.2 },
    new: { rows: 100_000, bytes: 20_000_000, part: 0.02, domainPart: 0.04 },
  },
  class: {
    seeded: { part: 0.5, maxPart: 0.8, atOnce: 1 },
    established: { part: 0.3, maxPart: 0.3, atOnce: 0.5 },
    new: { part: 0.2, maxPart: 0.2, atOnce: 0.125 },
  },
};

/**
 * Reason for a pause of a source: the share of the source, its domain or its class is used up, or the disk is nearly
 * full.
 */
export type CapReason = 'source' | 'domain' | 'class' | 'disk';

/** Number of rows, and the bytes that they occupy in the store. */
interface DayCost {
  readonly rows: number;
  readonly bytes: number;
}

/** Error for a page that may not be stored because a share of its source is used up. */
export class CapReached extends Error {
  constructor() {
    super('a daily allowance of this source is used up, so no more of its labels are accepted at present');
    this.name = 'CapReached';
  }
}

/** Dependencies of the daily cap. */
interface DailyCapOptions {
  readonly clock: () => Micros;
  readonly shareOf: (source: string) => ShareKey;
  /** Returns true if a source is at present neither seeded nor established. Its share may be that of another class. */
  readonly isNew: (source: string) => boolean;
  /** Returns the bytes that all sources together may add to a day. */
  readonly budgetBytes: () => number;
  /** Returns true if the disk has so little space that only privileged sources are stored. */
  readonly isTight: () => boolean;
  /** Maximum number of rows of any source in a day (default 2 million). Tests use a lower limit. */
  readonly maxRows?: number;
}

/** Returns the storage cost of rows. */
export function costOf(observations: readonly NewObservation[]): DayCost {
  const bytes = observations.reduce((sum, { label }) => sum + labelBytes(label) + rowOverheadBytes, 0);
  return { rows: observations.length, bytes };
}

/**
 * Divides the daily budget by class, registrable domain and source. A source that used up its own share, or the share
 * of its domain, pauses until midnight. If the available share of its class is used up, a source waits. Waiting sources
 * continue in fair order as more of that share becomes available. Paused sources later resume at their position.
 */
export class DailyCap {
  /** Maximum number of rows of any source in a day. */
  readonly limit: number;
  readonly #options: DailyCapOptions;
  readonly #sources = new Map<string, { rows: number; bytes: number }>();
  readonly #domains = new Map<string, number>();
  readonly #classes: Record<PriorityClass, number> = { seeded: 0, established: 0, new: 0 };
  readonly #paused = new Map<string, CapReason>();
  /** Sources that wait for the share of their class, with the size of their next page. */
  #waiting = emptyQueues();
  /** Bytes that were granted to waiting sources and are not used yet, and the class that was charged for them. */
  readonly #granted = new Map<string, { readonly priority: PriorityClass; readonly bytes: number }>();
  #day = Number.NEGATIVE_INFINITY;

  constructor(options: DailyCapOptions) {
    this.#options = options;
    this.limit = options.maxRows ?? maxDailyRows;
  }

  /** Loads the usage of the current day: its rows, and their bytes if `save` returned them on the same day. */
  load(counts: readonly LabelerCount[], saved: DailyBytes | null = null): void {
    this.#updateDay();
    const bytes = saved?.day === this.#day ? saved.bytes : new Map<string, number>();
    for (const { labeler, applied, removed } of counts) {
      const rows = applied + removed;
      this.#add(labeler, { rows, bytes: bytes.get(labeler) ?? rows * meanRowBytes });
    }
  }

  /** Returns today's bytes of the sources that used the most bytes, for the next start. */
  save(): DailyBytes {
    this.#updateDay();
    const largest = [...this.#sources].sort(([, a], [, b]) => b.bytes - a.bytes).slice(0, maxSavedSources);
    return { day: this.#day, bytes: new Map(largest.map(([source, { bytes }]) => [source, Math.round(bytes)])) };
  }

  /**
   * Returns true if a page with these rows may be stored, and counts the rows. Otherwise pauses the source and returns
   * false. The first page of a day always fits the shares of the source and its domain.
   */
  admits(source: string, cost: DayCost): boolean {
    if (this.isPaused(source)) return false;
    if (cost.rows === 0) return true;
    const reason = this.#refusal(source, cost);
    if (reason === null) {
      this.#add(source, cost);
      return true;
    }
    this.#paused.set(source, reason);
    if (reason === 'class') {
      const share = this.#options.shareOf(source);
      this.#waiting[share.priority].push(share, { source, bytes: cost.bytes }, cost.bytes);
    }
    return false;
  }

  /** Refunds rows that were admitted and not stored. */
  refund(source: string, { rows, bytes }: DayCost): void {
    this.#add(source, { rows: -rows, bytes: -bytes });
  }

  /**
   * Returns true if the labels of a source are currently not stored. Pauses a new source while the disk is nearly full,
   * and first resumes waiting sources whose class has bytes available.
   */
  isPaused(source: string): boolean {
    this.#updateDay();
    if (this.#options.isNew(source) && this.#options.isTight()) {
      if (!this.#paused.has(source)) this.#paused.set(source, 'disk');
      return true;
    }
    if (this.#paused.get(source) === 'disk') this.#paused.delete(source);
    this.#grant(this.classOf(source));
    return this.#paused.has(source);
  }

  /** Returns the class whose daily share a source uses. */
  classOf(source: string): PriorityClass {
    return this.#options.shareOf(source).priority;
  }

  /** Returns the reason for the pause of a source, or null if it is not paused. */
  reasonOf(source: string): CapReason | null {
    return this.#paused.get(source) ?? null;
  }

  /** DIDs of the sources that are currently paused. */
  get pausedSources(): readonly string[] {
    this.#updateDay();
    for (const priority of priorityClasses) this.#grant(priority);
    return [...this.#paused.keys()];
  }

  /** Bytes that were added today, by class. */
  get usedBytes(): Readonly<Record<PriorityClass, number>> {
    this.#updateDay();
    return { ...this.#classes };
  }

  /** Milliseconds until midnight UTC. */
  get msLeft(): number {
    const now = this.#options.clock();
    return Math.max(0, dayStart(dayOf(now) + 1) - now) / 1000;
  }

  /**
   * Ends the pause and the wait of a source that is no longer read. Its usage of the day remains charged, so that a source
   * that leaves and returns has no further share.
   */
  forget(source: string): void {
    this.#refundGrant(source);
    // A waiting source is paused, so the queues need not be searched for any other source.
    if (!this.#paused.delete(source)) return;
    for (const priority of priorityClasses) this.#waiting[priority].remove((one) => one.source === source);
  }

  /** Must be called after the clock was corrected, so that the usage is reset at the next midnight. */
  clockCorrected(): void {
    this.#day = Math.min(this.#day, dayOf(this.#options.clock()));
  }

  /** Returns the bytes that were granted to a source to its class. Returns false if the source had none. */
  #refundGrant(source: string): boolean {
    const granted = this.#granted.get(source);
    if (granted === undefined) return false;
    this.#granted.delete(source);
    this.#classes[granted.priority] -= granted.bytes;
    return true;
  }

  #refusal(source: string, { rows, bytes }: DayCost): CapReason | null {
    const { priority, domain } = this.#options.shareOf(source);
    const share = capShares.source[priority];
    const budget = this.#options.budgetBytes();
    const used = this.#sources.get(source) ?? { rows: 0, bytes: 0 };
    const maxBytes = Math.min(share.bytes, share.part * budget);
    const isFirst = used.rows === 0;
    // The class was charged when the bytes were granted: refund them even if another share refuses the page.
    const wasGranted = this.#refundGrant(source);
    if (!isFirst && (used.rows + rows > Math.min(share.rows, this.limit) || used.bytes + bytes > maxBytes)) {
      return 'source';
    }
    if (!isFirst && this.#domainBytes(priority, domain) + bytes > share.domainPart * budget) return 'domain';
    if (wasGranted) return null;
    return this.#waiting[priority].size > 0 || this.#availableBytes(priority) <= 0 ? 'class' : null;
  }

  /** Returns the bytes that are currently available to a class. */
  #availableBytes(priority: PriorityClass): number {
    const { part, maxPart, atOnce } = capShares.class[priority];
    const budget = this.#options.budgetBytes();
    const others = priorityClasses.reduce((sum, one) => sum + (one === priority ? 0 : this.#classes[one]), 0);
    const now = this.#options.clock();
    const opened = atOnce + (1 - atOnce) * Math.min(1, Math.max(0, (now - dayStart(dayOf(now))) / day));
    const share =
      maxPart > part
        ? Math.max(part * budget, Math.min(maxPart * budget, budget - others))
        : Math.min(part * budget, Math.max(0, budget - others));
    return share * opened - this.#classes[priority];
  }

  /** Resumes waiting sources of a class, in fair order, as far as its share is available. */
  #grant(priority: PriorityClass): void {
    const queue = this.#waiting[priority];
    for (let next = queue.peek(); next !== undefined; next = queue.peek()) {
      if (this.#availableBytes(priority) <= 0) return;
      queue.shift();
      this.#paused.delete(next.source);
      this.#classes[priority] += next.bytes;
      this.#granted.set(next.source, { priority, bytes: next.bytes });
    }
  }

  #add(source: string, { rows, bytes }: DayCost): void {
    const { priority, domain } = this.#options.shareOf(source);
    const used = this.#sources.get(source) ?? { rows: 0, bytes: 0 };
    this.#sources.set(source, { rows: Math.max(0, used.rows + rows), bytes: Math.max(0, used.bytes + bytes) });
    const name = `${priority} ${domain}`;
    this.#domains.set(name, Math.max(0, (this.#domains.get(name) ?? 0) + bytes));
    this.#classes[priority] = Math.max(0, this.#classes[priority] + bytes);
  }

  #domainBytes(priority: PriorityClass, domain: string): number {
    return this.#domains.get(`${priority} ${domain}`) ?? 0;
  }

  /** Resets the usage when a new day begins. A clock that is set back does not reset the usage. */
  #updateDay(): void {
    const today = dayOf(this.#options.clock());
    if (today <= this.#day) return;
    this.#day = today;
    this.#sources.clear();
    this.#domains.clear();
    this.#paused.clear();
    this.#granted.clear();
    this.#waiting = emptyQueues();
    for (const priority of priorityClasses) this.#classes[priority] = 0;
  }
}

interface Waiting {
  readonly source: string;
  readonly bytes: number;
}

function emptyQueues(): Record<PriorityClass, FairQueue<Waiting>> {
  const queue = () => new FairQueue<Waiting>(priorityWeights);
  return { seeded: queue(), established: queue(), new: queue() };
}
