import type { Micros } from '../../contract/timestamp.ts';
import type { GapReason } from '../../contract/vocabulary.ts';
import type { Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { labelBytes } from '../../store/label.ts';
import {
  type Batch,
  maxBatchBytes,
  maxBatchRows,
  type NewObservation,
  type PositionChange,
  type Refusal,
  type StoredGap,
  type StoreWriter,
} from '../../store/port.ts';
import type { RefusedRowsChange } from '../../store/refused-rows.ts';
import { type Interval, micros } from '../../store/time.ts';
import { FairQueue } from '../shares/fair-queue.ts';
import { threadCpuMs } from '../shares/pace.ts';
import { priorityWeights, type ShareKey } from '../shares/shares.ts';
import type { Telemetry } from '../shares/telemetry.ts';

/** One page of one source: what admission accepted and refused of it, and where reading goes on after it. */
export interface AcceptedPage {
  /** DID of the labeler that was read. */
  readonly source: string;
  readonly observations: readonly NewObservation[];
  readonly refusals: readonly Refusal[];
  readonly positions: readonly PositionChange[];
  /** Changes of the remembered refused rows; absent: none. */
  readonly refusedRows?: readonly RefusedRowsChange[];
  /** `clockGeneration` when its labels were judged. */
  readonly clockGeneration: number;
}

/** The clock by which a page was judged was set or confirmed since: judge it again. */
export class ClockChanged extends Error {
  constructor() {
    super('the clock was set after this was judged');
    this.name = 'ClockChanged';
  }
}

/** Every reason for which acceptance stands still. */
export const pauseReasons = ['wal_full', 'disk_full', 'clock_behind', 'busy', 'clock_doubtful', 'disk_low'] as const;
/** Why acceptance stands still. */
export type PauseReason = (typeof pauseReasons)[number];

/** Result of one check of the preconditions outside the store. */
export interface PreconditionCheck {
  readonly pause: PauseReason | null;
  /** The span by which the clock was set since the last look. */
  readonly gap: Interval | null;
  /** Start of the pause even if no label arrived since: the end of the first step that put the clock in doubt. */
  readonly since: Micros | null;
}

/** Dependencies of acceptance. */
export interface AcceptanceOptions {
  readonly store: Pick<StoreWriter, 'append' | 'recordGap'>;
  /** The share that writing a source's page counts against. */
  readonly shareOf: (source: string) => ShareKey;
  /** Makes the gaps of these sources durable that their pages imply: before the pages are. */
  readonly flushGaps: (sources: ReadonlySet<string>) => Promise<void>;
  /** Processor time that writing a page of a source took, in milliseconds. */
  readonly charge: (source: string, cpuMs: number) => void;
  readonly clock: () => Micros;
  /** A reason to stand still that lies outside the store: looked at before each commit. */
  readonly checkPreconditions: () => PreconditionCheck;
  readonly clockGeneration: () => number;
  /** Waits; rejects when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly retryMs: number;
  readonly log: Log;
  readonly telemetry: Telemetry;
  /** The store cannot be trusted: everything has to stop. */
  readonly fatal: (error: unknown) => void;
}

interface Queued {
  readonly page: AcceptedPage;
  readonly done: (stored: number) => void;
  readonly failed: (error: unknown) => void;
}

/** Cost of committing a page besides its bytes, in bytes: a position, counters, its part of a sync. */
const pageOverheadBytes = 2_000;
/** Bytes of pages that share a commit: a larger commit would hold up the event loop. One page may be larger. */
const groupBytes = 2 * 1024 * 1024;

/**
 * The way to the one writer. Each reader has at most one page here at a time, and waits: that bounds the queue by the
 * number of sources. Pages are taken in fair order of what they cost, and committed in groups, each whole.
 */
export class PageAcceptance {
  readonly #options: AcceptanceOptions;
  readonly #queue = new FairQueue<Queued>(priorityWeights);
  /** A group that the store could not take: the next to be committed. */
  #held: readonly Queued[] = [];
  #paused: { readonly reason: PauseReason; readonly since: Micros } | null = null;
  /** Gaps that could not be written yet: a full disk refuses them too. */
  #pendingGaps: StoredGap[] = [];
  #wake: (() => void) | null = null;
  /** Commits have ended: a page that arrives now would wait forever. */
  #ended = false;

  constructor(options: AcceptanceOptions) {
    this.#options = options;
  }

  /** Why acceptance stands still now. */
  get paused(): PauseReason | null {
    return this.#paused?.reason ?? null;
  }

  /**
   * Hands over a page; resolves once it is durable, with how many of its rows were new. A page may be larger than a
   * batch: it is split, positions last. Rejects with `ClockChanged`, or when we stop.
   */
  async accept(page: AcceptedPage): Promise<number> {
    let stored = 0;
    for (const part of split(page)) {
      if (this.#ended) throw new Error('stopped');
      stored += await new Promise<number>((done, failed) => {
        const cost = pageBytes(part) + pageOverheadBytes;
        this.#queue.push(this.#options.shareOf(part.source), { page: part, done, failed }, cost);
        this.#wake?.();
      });
    }
    return stored;
  }

  /** Commits what comes until the signal aborts; what is queued then is refused, and read again after the next start. */
  async run(signal: AbortSignal): Promise<void> {
    const wake = (): void => this.#wake?.();
    signal.addEventListener('abort', wake);
    while (!signal.aborted) {
      if (this.#queue.size === 0 && this.#held.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = null;
        // Whatever else arrives in this turn of the event loop shares the commit.
        await new Promise(setImmediate);
        continue;
      }
      await this.#commitNext(signal);
    }
    signal.removeEventListener('abort', wake);
    this.#ended = true;
    for (const { failed } of [...this.#takeHeld(), ...this.#queue.drain()]) failed(new Error('stopped'));
  }

  async #commitNext(signal: AbortSignal): Promise<void> {
    const { clock, checkPreconditions, store, telemetry, fatal, flushGaps } = this.#options;
    const { pause, gap, since } = checkPreconditions();
    if (gap) this.#pendingGaps.push({ source: null, ...gap, reason: 'ingest_paused' });
    if (pause) {
      await this.#pause(pause, signal, since);
      return;
    }
    this.#returnStalePages();
    const group = this.#takeGroup();
    if (group.length === 0) return;
    const begun = performance.now();
    const cpuBegun = threadCpuMs();
    try {
      await this.#writePendingGaps();
      await flushGaps(new Set(group.map(({ page }) => page.source)));
      const result = await store.append(batchOf(clock(), group));
      await this.#resume();
      telemetry.committed(result.accepted, result.duplicates.length, performance.now() - begun);
      this.#chargeGroup(group, threadCpuMs() - cpuBegun);
      const known = [...result.duplicates];
      let end = 0;
      for (const { page, done } of group) {
        end += page.observations.length;
        const repeated = known.findIndex((index) => index >= end);
        const duplicates = known.splice(0, repeated === -1 ? known.length : repeated).length;
        done(page.observations.length - duplicates);
      }
    } catch (error) {
      if (error instanceof StoreError && error.retry) {
        this.#held = group;
        await this.#pause(error.code as PauseReason, signal);
        return;
      }
      for (const { failed } of group) failed(error);
      fatal(error);
    }
  }

  /** Labels that a clock in doubt found to lie in the future, or to be late, need not be. */
  #returnStalePages(): void {
    const era = this.#options.clockGeneration();
    const isOld = ({ page }: Queued): boolean => page.clockGeneration !== era;
    for (const { failed } of [...this.#held.filter(isOld), ...this.#queue.remove(isOld)]) failed(new ClockChanged());
    this.#held = this.#held.filter((one) => !isOld(one));
  }

  #takeHeld(): readonly Queued[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  /** Writing a group is charged to its pages by their cost. */
  #chargeGroup(group: readonly Queued[], cpuMs: number): void {
    const costs = group.map(({ page }) => pageBytes(page) + pageOverheadBytes);
    const total = costs.reduce((sum, cost) => sum + cost, 0);
    for (const [i, { page }] of group.entries()) {
      this.#options.charge(page.source, (cpuMs * (costs[i] ?? 0)) / total);
    }
  }

  #takeGroup(): readonly Queued[] {
    if (this.#held.length > 0) return this.#takeHeld();
    const group: Queued[] = [];
    const sums = { rows: 0, bytes: 0, refusals: 0, positions: 0, refusedRows: 0 };
    for (;;) {
      const next = this.#queue.peek();
      if (!next) return group;
      sums.rows += next.page.observations.length;
      sums.bytes += pageBytes(next.page);
      sums.refusals += next.page.refusals.length;
      sums.positions += next.page.positions.length;
      sums.refusedRows += next.page.refusedRows?.length ?? 0;
      const { bytes, ...counts } = sums;
      const isFull = bytes > groupBytes || Object.values(counts).some((count) => count > maxBatchRows);
      if (group.length > 0 && isFull) return group;
      group.push(next);
      this.#queue.shift();
    }
  }

  /**
   * Stands still for one round: the gap so far is recorded, so that a crash now does not hide it. It begins where the gap
   * of a clock that was set ends: the clock has gone on since, and a heartbeat may have looked first.
   */
  async #pause(reason: PauseReason, signal: AbortSignal, doubtfulSince: Micros | null = null): Promise<void> {
    const { clock, log, telemetry, wait, retryMs } = this.#options;
    if (this.#paused?.reason !== reason) {
      log.warn('acceptance paused', { reason });
      telemetry.paused(reason);
    }
    const since = this.#paused?.since ?? micros(Math.min(clock(), doubtfulSince ?? Number.POSITIVE_INFINITY));
    this.#paused = { reason, since };
    this.#addPauseGap();
    try {
      await this.#writePendingGaps();
    } catch (error) {
      // Owed still, where the same checkPreconditions stands before the state file.
      if (!(error instanceof StoreError && error.retry)) this.#options.fatal(error);
    }
    await wait(retryMs, signal).catch(() => undefined);
  }

  async #resume(): Promise<void> {
    if (this.#paused === null) return;
    const { log, telemetry } = this.#options;
    this.#addPauseGap();
    await this.#writePendingGaps();
    log.info('acceptance resumes', { reason: this.#paused.reason });
    telemetry.paused(null);
    this.#paused = null;
  }

  #addPauseGap(): void {
    if (this.#paused === null) return;
    const end = this.#options.clock();
    if (end <= this.#paused.since) return;
    const reason: GapReason = 'ingest_paused';
    // One that grows: the longer one replaces what is owed of it.
    this.#pendingGaps = this.#pendingGaps.filter((gap) => gap.start !== this.#paused?.since);
    this.#pendingGaps.push({ source: null, start: this.#paused.since, end, reason });
  }

  async #writePendingGaps(): Promise<void> {
    while (this.#pendingGaps[0]) {
      await this.#options.store.recordGap(this.#pendingGaps[0]);
      this.#pendingGaps.shift();
    }
  }
}

function batchOf(at: Micros, group: readonly Queued[]): Batch {
  return {
    at,
    observations: group.flatMap(({ page }) => page.observations),
    refusals: group.flatMap(({ page }) => page.refusals),
    positions: group.flatMap(({ page }) => page.positions),
    refusedRows: group.flatMap(({ page }) => page.refusedRows ?? []),
  };
}

/** Parts that each fit a batch; the position comes with the last, so that a crash between them reads all again. */
export function split(page: AcceptedPage): AcceptedPage[] {
  const parts: NewObservation[][] = [[]];
  let bytes = 0;
  for (const observation of page.observations) {
    const size = labelBytes(observation.label);
    const part = parts.at(-1) ?? [];
    if (part.length >= maxBatchRows || (part.length > 0 && bytes + size > maxBatchBytes / 2)) {
      parts.push([observation]);
      bytes = size;
    } else {
      part.push(observation);
      bytes += size;
    }
  }
  return parts.map((observations, i) => {
    const last = i === parts.length - 1;
    return {
      source: page.source,
      clockGeneration: page.clockGeneration,
      observations,
      refusals: last ? page.refusals : [],
      positions: last ? page.positions : [],
      refusedRows: last ? (page.refusedRows ?? []) : [],
    };
  });
}

function pageBytes({ observations, positions, refusedRows = [] }: AcceptedPage): number {
  const labels = observations.reduce((sum, { label }) => sum + labelBytes(label), 0);
  const texts = [
    ...positions.map(({ source, endpoint, value }) => `${value}${endpoint}${source}`),
    ...refusedRows.map(({ source, rows }) => `${rows}${source}`),
  ];
  return labels + texts.reduce((sum, text) => sum + 3 * text.length, 0);
}
