import type { PriorityClass } from '../state/reading-state.ts';
import { FairQueue, priorityWeights, type ShareKey } from './fair-queue.ts';

/** Resources that reading a source uses. */
const resources = ['bytes', 'rows', 'writes', 'cpuMs', 'controls'] as const;
/**
 * A resource that the rates of a source limit: bytes received, rows received, commits, processor milliseconds of this
 * thread, and `controls`: connections, and frames without labels.
 */
type Resource = (typeof resources)[number];
/** Amounts of some resources. */
type Cost = Partial<Readonly<Record<Resource, number>>>;

/** Token bucket: an amount per second, and the maximum that an idle source accumulates. */
interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/**
 * Maximum rates of one source, by class. The largest known labelers send bursts of 500 labels per second, each of about
 * 205 bytes.
 */
export const sourceRates: Readonly<Record<PriorityClass, Readonly<Record<Resource, Rate>>>> = {
  seeded: {
    bytes: { perSecond: 4_000_000, burst: 256_000_000 },
    rows: { perSecond: 5_000, burst: 500_000 },
    writes: { perSecond: 50, burst: 500 },
    cpuMs: { perSecond: 500, burst: 60_000 },
    controls: { perSecond: 0.5, burst: 20 },
  },
  established: {
    bytes: { perSecond: 1_000_000, burst: 64_000_000 },
    rows: { perSecond: 1_000, burst: 100_000 },
    writes: { perSecond: 20, burst: 200 },
    cpuMs: { perSecond: 200, burst: 10_000 },
    controls: { perSecond: 0.2, burst: 20 },
  },
  new: {
    bytes: { perSecond: 200_000, burst: 8_000_000 },
    rows: { perSecond: 400, burst: 20_000 },
    writes: { perSecond: 5, burst: 50 },
    cpuMs: { perSecond: 50, burst: 2_000 },
    controls: { perSecond: 0.1, burst: 10 },
  },
};

/** Maximum processor time of all sources of a class together, in milliseconds per second; null for no limit. */
export const classCpu: Readonly<Record<PriorityClass, Rate | null>> = {
  seeded: null,
  established: { perSecond: 400, burst: 8_000 },
  new: { perSecond: 200, burst: 4_000 },
};

/** Dependencies of `Pace`. */
interface PaceOptions {
  readonly shareOf: (source: string) => ShareKey;
  /** Returns the monotonic clock, in microseconds. */
  readonly monotonic: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly usage: SourceUsage;
  readonly rates?: Readonly<Record<PriorityClass, Readonly<Record<Resource, Rate>>>>;
  readonly cpu?: Readonly<Record<PriorityClass, Rate | null>>;
}

/** Interval between checks of a class that used up its processor time, in milliseconds. */
const classTickMs = 50;
/** Number of remembered sources at which a new source evicts the sources with full buckets. */
const maxRemembered = 20_000;

/**
 * Limits the rate at which each source is read. Costs are charged after the use, so a source may have a debt; until the
 * debt is paid, the source is not read, and its connection accepts no bytes. When a class has exceeded its processor
 * time, its sources take turns in fair order.
 */
export class Pace {
  readonly #options: Required<PaceOptions>;
  readonly #sources = new Map<string, SourceBuckets>();
  readonly #classes: Readonly<Record<PriorityClass, ClassGate | null>>;

  constructor(options: PaceOptions) {
    this.#options = { rates: sourceRates, cpu: classCpu, ...options };
    const { cpu, monotonic } = this.#options;
    const gate = (priority: PriorityClass): ClassGate | null => {
      const rate = cpu[priority];
      return rate === null ? null : new ClassGate(rate, monotonic);
    };
    this.#classes = { seeded: gate('seeded'), established: gate('established'), new: gate('new') };
  }

  /** Number of sources of each class that wait because they, or their class, exceeded a rate. */
  get throttled(): Readonly<Record<PriorityClass, number>> {
    const counts = { seeded: 0, established: 0, new: 0 };
    for (const { waits, priority } of this.#sources.values()) if (waits.count > 0) counts[priority] += 1;
    return counts;
  }

  /** Charges a source for the resources that it used. */
  charge(source: string, cost: Cost): void {
    const buckets = this.#bucketsOf(source);
    buckets.charge(cost);
    const { cpuMs = 0 } = cost;
    this.#classes[buckets.priority]?.charge(buckets, cpuMs);
    this.#options.usage.add(source, {
      ...(cost.bytes === undefined ? {} : { bytesIn: cost.bytes }),
      ...(cost.writes === undefined ? {} : { writes: cost.writes }),
      ...(cpuMs === 0 ? {} : { cpuMs }),
    });
  }

  /** Returns true if reading of a source should pause. */
  isThrottled(source: string): boolean {
    const buckets = this.#bucketsOf(source);
    return buckets.owedMs() > 0 || (this.#classes[buckets.priority]?.exhausted ?? false);
  }

  /**
   * Returns null if a source may be read now. Otherwise returns a promise that resolves once the source may be read or
   * the signal aborts.
   */
  ready(source: string, signal: AbortSignal): Promise<void> | null {
    const buckets = this.#bucketsOf(source);
    const gate = this.#classes[buckets.priority];
    buckets.beginTurn();
    if (buckets.owedMs() <= 0 && (gate === null || gate.enter(buckets))) return null;
    return this.#wait(source, buckets, gate, signal);
  }

  async #wait(source: string, buckets: SourceBuckets, gate: ClassGate | null, signal: AbortSignal): Promise<void> {
    const { monotonic, wait, usage, shareOf } = this.#options;
    const since = monotonic();
    buckets.waits.count += 1;
    try {
      for (let owed = buckets.owedMs(); owed > 0 && !signal.aborted; owed = buckets.owedMs()) {
        await wait(Math.ceil(owed), signal);
      }
      if (gate !== null && !signal.aborted) await this.#passGate(gate, buckets, shareOf(source), signal);
    } finally {
      buckets.waits.count -= 1;
      usage.add(source, { throttledMs: (monotonic() - since) / 1_000 });
    }
  }

  async #passGate(gate: ClassGate, buckets: SourceBuckets, share: ShareKey, signal: AbortSignal): Promise<void> {
    if (gate.enter(buckets)) return;
    let passed = false;
    gate.queue(share, buckets, () => {
      passed = true;
    });
    while (!passed && !signal.aborted) {
      await this.#options.wait(classTickMs, signal);
      gate.release();
    }
    if (!passed) gate.leave(buckets);
  }

  #bucketsOf(source: string): SourceBuckets {
    const { rates, monotonic, shareOf } = this.#options;
    const { priority } = shareOf(source);
    const known = this.#sources.get(source);
    if (known?.priority === priority) return known;
    if (!known && this.#sources.size >= maxRemembered) this.#forgetIdle();
    // Buckets of a class are kept while the source has another class, so that a change of class adds no further burst.
    const buckets = known?.byClass.get(priority) ?? new SourceBuckets(priority, rates[priority], monotonic, known);
    this.#sources.set(source, buckets);
    return buckets;
  }

  #forgetIdle(): void {
    for (const [source, buckets] of this.#sources) if (buckets.isIdle()) this.#sources.delete(source);
  }
}

/** Token buckets of one source in one class. */
class SourceBuckets {
  readonly priority: PriorityClass;
  /** Number of waits in progress, in any class, because a wait may end after a change of class. */
  readonly waits: { count: number };
  /** Buckets of the source in each class that it has had. */
  readonly byClass: Map<PriorityClass, SourceBuckets>;
  /** Processor time that was charged in advance to the class for the current turn, in milliseconds. */
  prepaid = 0;
  /** Estimated processor time of a turn of this source, in milliseconds: a moving average. */
  estimate = 0.2;
  readonly #rates: Readonly<Record<Resource, Rate>>;
  readonly #monotonic: () => number;
  readonly #balance: Record<Resource, number>;
  #at: number;
  #turn = 0;

  constructor(
    priority: PriorityClass,
    rates: Readonly<Record<Resource, Rate>>,
    monotonic: () => number,
    earlier?: SourceBuckets,
  ) {
    this.priority = priority;
    this.waits = earlier?.waits ?? { count: 0 };
    this.byClass = earlier?.byClass ?? new Map<PriorityClass, SourceBuckets>();
    this.byClass.set(priority, this);
    this.#rates = rates;
    this.#monotonic = monotonic;
    this.#at = monotonic();
    const { bytes, rows, writes, cpuMs, controls } = rates;
    this.#balance = {
      ...{ bytes: bytes.burst, rows: rows.burst, writes: writes.burst },
      ...{ cpuMs: cpuMs.burst, controls: controls.burst },
    };
  }

  charge(cost: Cost): void {
    this.#refill();
    for (const resource of resources) this.#balance[resource] -= cost[resource] ?? 0;
    this.#turn += cost.cpuMs ?? 0;
  }

  /** Returns the time until the debt of this source is paid, in milliseconds. */
  owedMs(): number {
    this.#refill();
    let longest = 0;
    for (const resource of resources) {
      const balance = this.#balance[resource];
      if (balance < 0) longest = Math.max(longest, (-balance / this.#rates[resource].perSecond) * 1_000);
    }
    return longest;
  }

  beginTurn(): void {
    this.estimate = Math.max(0.05, (this.estimate + this.#turn) / 2);
    this.#turn = 0;
  }

  /** Returns true if the source does not wait, and the buckets of all its classes are full. */
  isIdle(): boolean {
    return this.waits.count === 0 && [...this.byClass.values()].every((buckets) => buckets.#isFull());
  }

  #isFull(): boolean {
    this.#refill();
    return resources.every((resource) => this.#balance[resource] >= this.#rates[resource].burst);
  }

  #refill(): void {
    const now = this.#monotonic();
    const seconds = Math.max(0, now - this.#at) / 1_000_000;
    this.#at = now;
    for (const resource of resources) {
      const { perSecond, burst } = this.#rates[resource];
      this.#balance[resource] = Math.min(burst, this.#balance[resource] + seconds * perSecond);
    }
  }
}

/** Processor time of one class, and the sources that wait for it. */
class ClassGate {
  readonly #rate: Rate;
  readonly #monotonic: () => number;
  readonly #waiting = new FairQueue<{ readonly buckets: SourceBuckets; readonly pass: () => void }>(priorityWeights);
  #balance: number;
  #at: number;

  constructor(rate: Rate, monotonic: () => number) {
    this.#rate = rate;
    this.#monotonic = monotonic;
    this.#balance = rate.burst;
    this.#at = monotonic();
  }

  get exhausted(): boolean {
    this.#refill();
    return this.#balance <= 0;
  }

  charge(buckets: SourceBuckets, cpuMs: number): void {
    const paid = Math.min(buckets.prepaid, cpuMs);
    buckets.prepaid -= paid;
    this.#balance -= cpuMs - paid;
  }

  /**
   * Admits a source if the class has time left and no other source waits; charges the estimated cost of the turn in
   * advance. Returns true if the source was admitted.
   */
  enter(buckets: SourceBuckets): boolean {
    if (this.#waiting.size > 0 || this.exhausted) return false;
    this.#admit(buckets);
    return true;
  }

  queue(share: ShareKey, buckets: SourceBuckets, pass: () => void): void {
    this.#waiting.push(share, { buckets, pass }, buckets.estimate);
  }

  leave(buckets: SourceBuckets): void {
    this.#waiting.remove((one) => one.buckets === buckets);
  }

  /** Admits waiting sources while the class has processor time left. */
  release(): void {
    while (this.#waiting.size > 0 && !this.exhausted) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#admit(next.buckets);
      next.pass();
    }
  }

  #admit(buckets: SourceBuckets): void {
    // The unused part of the last charge is refunded.
    this.#balance += buckets.prepaid - buckets.estimate;
    buckets.prepaid = buckets.estimate;
  }

  #refill(): void {
    const now = this.#monotonic();
    const seconds = Math.max(0, now - this.#at) / 1_000_000;
    this.#at = now;
    this.#balance = Math.min(this.#rate.burst, this.#balance + seconds * this.#rate.perSecond);
  }
}

/** Resources that one source has used since the process started. */
interface Usage {
  /** Number of bytes that were received and charged to the source. */
  readonly bytesIn: number;
  /** Number of bytes stored. */
  readonly bytesStored: number;
  /** Number of new rows. */
  readonly rows: number;
  /** Processor time of this thread for parsing, judging, verifying and writing, in milliseconds. */
  readonly cpuMs: number;
  /** Number of committed pages, with or without rows. */
  readonly writes: number;
  /** Time for which the source was not read because it had exceeded a rate, in milliseconds. */
  readonly throttledMs: number;
}

/** Usage of one source, with its DID. */
interface UsageRecord extends Usage {
  readonly source: string;
}

const nothing: Usage = { bytesIn: 0, bytesStored: 0, rows: 0, cpuMs: 0, writes: 0, throttledMs: 0 };

/**
 * Counts the cost of each source. Above `maxSources` sources, drops the half of the sources that used the least
 * processor time, so that many new labelers cannot fill the memory and expensive labelers stay visible.
 */
export class SourceUsage {
  readonly #maxSources: number;
  readonly #sources = new Map<string, Usage>();

  constructor(maxSources = 20_000) {
    this.#maxSources = maxSources;
  }

  /** Adds to the usage of a source. */
  add(source: string, cost: Partial<Usage>): void {
    const known = this.#sources.get(source);
    if (known === undefined && this.#sources.size >= this.#maxSources) this.#forgetCheapest();
    const before = known ?? nothing;
    this.#sources.set(source, {
      bytesIn: before.bytesIn + (cost.bytesIn ?? 0),
      bytesStored: before.bytesStored + (cost.bytesStored ?? 0),
      rows: before.rows + (cost.rows ?? 0),
      cpuMs: before.cpuMs + (cost.cpuMs ?? 0),
      writes: before.writes + (cost.writes ?? 0),
      throttledMs: before.throttledMs + (cost.throttledMs ?? 0),
    });
  }

  /** Returns the usage of one source. */
  of(source: string): Usage {
    return this.#sources.get(source) ?? nothing;
  }

  /** Returns the sources with their usage, by processor time in descending order. */
  list(limit = this.#maxSources): readonly UsageRecord[] {
    return [...this.#sources]
      .map(([source, usage]) => ({ source, ...usage }))
      .sort((a, b) => b.cpuMs - a.cpuMs || (a.source < b.source ? -1 : 1))
      .slice(0, limit);
  }

  #forgetCheapest(): void {
    for (const { source } of this.list().slice(Math.floor(this.#maxSources / 2))) this.#sources.delete(source);
  }
}
