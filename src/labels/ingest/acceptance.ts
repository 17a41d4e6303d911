import type { Micros } from '../../contract/timestamp.ts';
import type { GapReason } from '../../contract/vocabulary.ts';
import type { Log } from '../../ops/log.ts';
import { threadCpuMs, threadIdleMs } from '../../ops/process.ts';
import { StoreError } from '../../store/errors.ts';
import { labelBytes } from '../../store/label.ts';
import { type AppendResult, type Batch, maxBatchRows, type StoredGap, type StoreWriter } from '../../store/port.ts';
import { type Interval, micros } from '../../store/time.ts';
import { FairQueue } from '../shares/fair-queue.ts';
import { priorityWeights, type ShareKey } from '../shares/shares.ts';
import type { Telemetry } from '../shares/telemetry.ts';
import type { AcceptedPage } from './accepted-page.ts';

/**
 * Thrown for a page that was judged before the clock was set or confirmed, or before a takeover. The caller must judge
 * the page again.
 */
export class ClockChanged extends Error {
  constructor() {
    super('the clock or the role of this instrument changed after the page was judged');
    this.name = 'ClockChanged';
  }
}

/** All reasons for a pause of acceptance. */
export const pauseReasons = [
  'wal_full',
  'disk_full',
  'clock_behind',
  'busy',
  'unreachable',
  'clock_doubtful',
  'disk_low',
] as const;
/** Reason for a pause of acceptance. */
type PauseReason = (typeof pauseReasons)[number];

/** Result of one check of the preconditions outside the store. */
export interface PreconditionCheck {
  readonly pause: PauseReason | null;
  /** Interval that the clock skipped or repeated since the last check, or null. */
  readonly gap: Interval | null;
  /**
   * Start of a pause that a clock step causes: the end of the step, even if no label has arrived since. Null if no
   * clock step made the clock doubtful.
   */
  readonly since: Micros | null;
}

/** Dependencies of `PageAcceptance`. */
export interface AcceptanceOptions {
  readonly store: Pick<StoreWriter, 'append' | 'recordGap'>;
  /** Returns the share that a source's page counts against. */
  readonly shareOf: (source: string) => ShareKey;
  /** Makes the pending gaps of the given sources durable. Resolves before the pages of the sources are committed. */
  readonly flushGaps: (sources: ReadonlySet<string>) => Promise<void>;
  /** Charges a source for the processor time of writing its page, in milliseconds. */
  readonly charge: (source: string, cpuMs: number) => void;
  readonly clock: () => Micros;
  /** Checks the preconditions outside the store; called before each commit. */
  readonly checkPreconditions: () => PreconditionCheck;
  readonly clockGeneration: () => number;
  /** Resolves after `ms` milliseconds; settles immediately when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly retryMs: number;
  readonly log: Log;
  readonly telemetry: Telemetry;
  /** Called when the store cannot be trusted; the instrument must stop. */
  readonly fatal: (error: unknown) => void;
}

interface Queued {
  readonly page: AcceptedPage;
  readonly done: (stored: number) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Fixed cost of committing a page, in bytes, in addition to its rows: the position, the counters, and its share of a
 * sync.
 */
const pageOverheadBytes = 2_000;
/**
 * Maximum bytes of pages that share a commit, because a larger commit would block the event loop. A single page may be
 * larger.
 */
const groupBytes = 2 * 1024 * 1024;
/** A break follows a commit that blocks the event loop for at least this time, in milliseconds. */
const minBlockedMs = 100;
/**
 * Maximum break after a commit, in milliseconds. Without this limit, a process that was suspended during a commit
 * would pause again for the duration of the suspension.
 */
const maxBreakMs = 1_000;

/**
 * Maximum number of groups that are committed after `close`. The limit is a number of groups and not a time, because a
 * group may take long on a busy machine or a slow disk; the remaining pages are read again after the next start.
 */
export const maxFinalGroups = 4;

/**
 * Commits the pages of all sources. Each reader queues at most one page at a time and waits for its commit, so the
 * number of sources bounds the queue. Pages are taken in fair order of their cost, and committed in groups; no page is
 * divided.
 */
export class PageAcceptance {
  readonly #options: AcceptanceOptions;
  readonly #queue = new FairQueue<Queued>(priorityWeights);
  /** Group of pages that the store rejected temporarily; this group is committed next. */
  #held: readonly Queued[] = [];
  #paused: { readonly reason: PauseReason; readonly since: Micros } | null = null;
  /** Gaps that are not yet written, because a full disk also rejects gaps. */
  #pendingGaps: StoredGap[] = [];
  /** Latest version of the gap of a pause, or null before the first pause. */
  #pauseGap: StoredGap | null = null;
  #wake: (() => void) | null = null;
  /** Number of groups that may still be committed; infinite before `close`. */
  #groupsLeft = Number.POSITIVE_INFINITY;

  constructor(options: AcceptanceOptions) {
    this.#options = options;
  }

  /** Reason for the current pause, or null if acceptance is not paused. */
  get paused(): PauseReason | null {
    return this.#paused?.reason ?? null;
  }

  /**
   * Queues a page that fits a batch (see `split`). Resolves with the number of new rows once the page is durable.
   * Rejects with `ClockChanged` if the page must be judged again, and with another error if the store fails permanently
   * or the instrument stops.
   */
  async accept(page: AcceptedPage): Promise<number> {
    if (this.#isClosed) throw new Error('stopped');
    return new Promise<number>((done, failed) => {
      const cost = pageBytes(page) + pageOverheadBytes;
      this.#queue.push(this.#options.shareOf(page.source), { page, done, failed }, cost);
      this.#wake?.();
    });
  }

  /**
   * Rejects each page that arrives from now on. Pages that are already queued are committed in at most `maxFinalGroups`
   * groups; the remaining ones are rejected, and `run` ends.
   */
  close(): void {
    this.#groupsLeft = Math.min(this.#groupsLeft, maxFinalGroups);
    this.#wake?.();
  }

  get #isClosed(): boolean {
    return this.#groupsLeft !== Number.POSITIVE_INFINITY;
  }

  get #isEmpty(): boolean {
    return this.#queue.size === 0 && this.#held.length === 0;
  }

  /**
   * Commits pages until the signal aborts or the last page after `close` is committed; then rejects queued pages, which
   * are read again after the next start.
   */
  async run(signal: AbortSignal): Promise<void> {
    const wake = (): void => this.#wake?.();
    signal.addEventListener('abort', wake);
    while (!signal.aborted && this.#groupsLeft > 0 && !(this.#isClosed && this.#isEmpty)) {
      if (this.#isEmpty) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = null;
        // Pages that arrive in the same turn of the event loop share the commit.
        await new Promise(setImmediate);
        continue;
      }
      await this.#commitNext(signal);
      this.#groupsLeft -= 1;
    }
    signal.removeEventListener('abort', wake);
    this.#groupsLeft = 0;
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
    let blockedMs = 0;
    let result: AppendResult;
    try {
      await this.#writePendingGaps();
      await flushGaps(new Set(group.map(({ page }) => page.source)));
      if (this.#holdsStale(group)) return;
      const idleBefore = threadIdleMs();
      const appending = store.append(batchOf(clock(), group));
      blockedMs = threadIdleMs() - idleBefore;
      result = await appending;
    } catch (error) {
      if (error instanceof StoreError && error.retry) {
        this.#held = group;
        await this.#pause(error.code as PauseReason, signal);
        return;
      }
      for (const { failed } of group) failed(error);
      fatal(error);
      return;
    }
    telemetry.committed(result.accepted, result.duplicates.length, performance.now() - begun);
    this.#chargeGroup(group, threadCpuMs() - cpuBegun);
    // Record the end of a pause separately: if that fails, this group must not be committed again.
    await this.#resume(signal);
    settle(group, result);
    // If the commit blocked the event loop without using the processor, pause for the same time, so that readers and
    // timers can run on a slow disk. The next group is then larger.
    if (blockedMs >= minBlockedMs && !this.#isClosed) await this.#options.wait(Math.min(blockedMs, maxBreakMs), signal);
  }

  /**
   * Rejects pages with an outdated `clockGeneration`: by the corrected clock their labels may be late or in the future,
   * and after a takeover the refused labels of the former writer also count.
   */
  #returnStalePages(): void {
    const isOld = (one: Queued): boolean => this.#isStale(one);
    for (const { failed } of [...this.#held.filter(isOld), ...this.#queue.remove(isOld)]) failed(new ClockChanged());
    this.#held = this.#held.filter((one) => !isOld(one));
  }

  #isStale({ page }: Queued): boolean {
    return page.clockGeneration !== this.#options.clockGeneration();
  }

  /**
   * Returns true, and keeps the group for later, if a page of the group must be judged again: the clock or the role may
   * have changed while the gaps were written.
   */
  #holdsStale(group: readonly Queued[]): boolean {
    const isStale = group.some((one) => this.#isStale(one));
    if (isStale) this.#held = group;
    return isStale;
  }

  #takeHeld(): readonly Queued[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  /** Divides the processor time of a group between its sources by the cost of their pages. */
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
   * Records the gap so far, so that a crash does not hide it, and then waits for one retry interval. After a clock
   * step, the gap begins at the end of the gap of the step, because a heartbeat may have detected the step before
   * this call.
   */
  async #pause(reason: PauseReason, signal: AbortSignal, doubtfulSince: Micros | null = null): Promise<void> {
    const { clock, log, telemetry, wait, retryMs } = this.#options;
    if (this.#paused?.reason !== reason) {
      log.warn('label acceptance paused', { reason });
      telemetry.paused(reason);
    }
    const since = this.#paused?.since ?? micros(Math.min(clock(), doubtfulSince ?? Number.POSITIVE_INFINITY));
    this.#paused = { reason, since };
    this.#addPauseGap();
    try {
      await this.#writePendingGaps();
    } catch (error) {
      // Keep the gap pending if the store rejects it too.
      if (!(error instanceof StoreError && error.retry)) this.#options.fatal(error);
    }
    // Pages that a pause delays at a stop are read again after the next start.
    if (this.#isClosed) this.#groupsLeft = 0;
    else await wait(retryMs, signal).catch(() => undefined);
  }

  /** Records the end of a pause, if there is one. While the store rejects the gap temporarily, the pause continues. */
  async #resume(signal: AbortSignal): Promise<void> {
    const { log, telemetry, wait, retryMs, fatal } = this.#options;
    while (this.#paused !== null) {
      this.#addPauseGap();
      try {
        await this.#writePendingGaps();
      } catch (error) {
        const isTemporary = error instanceof StoreError && error.retry;
        if (!isTemporary) fatal(error);
        if (!isTemporary || signal.aborted || this.#isClosed) return;
        await wait(retryMs, signal).catch(() => undefined);
        continue;
      }
      log.info('label acceptance resumed', { reason: this.#paused.reason });
      telemetry.paused(null);
      this.#paused = null;
    }
  }

  #addPauseGap(): void {
    if (this.#paused === null) return;
    const end = this.#options.clock();
    if (end <= this.#paused.since) return;
    const reason: GapReason = 'ingest_paused';
    // Replace the pending version of the gap: the gap of a pause grows, so the newer version is longer. The gap of a
    // clock step may begin at the same time and is kept.
    this.#pendingGaps = this.#pendingGaps.filter((gap) => gap !== this.#pauseGap);
    this.#pauseGap = { source: null, start: this.#paused.since, end, reason };
    this.#pendingGaps.push(this.#pauseGap);
  }

  async #writePendingGaps(): Promise<void> {
    while (this.#pendingGaps[0]) {
      await this.#options.store.recordGap(this.#pendingGaps[0]);
      this.#pendingGaps.shift();
    }
  }
}

/** Resolves the promise of each page of a stored group with the number of its new rows. */
function settle(group: readonly Queued[], { duplicates }: AppendResult): void {
  const known = [...duplicates];
  let end = 0;
  for (const { page, done } of group) {
    end += page.observations.length;
    const repeated = known.findIndex((index) => index >= end);
    const repeats = known.splice(0, repeated === -1 ? known.length : repeated).length;
    done(page.observations.length - repeats);
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

/** Returns the cost of a page in a batch, in bytes. */
function pageBytes({ observations, positions, refusedRows = [] }: AcceptedPage): number {
  const labels = observations.reduce((sum, { label }) => sum + labelBytes(label), 0);
  const texts = [
    ...positions.map(({ source, endpoint, value }) => `${value}${endpoint}${source}`),
    ...refusedRows.map(({ source, rows }) => `${rows}${source}`),
  ];
  return labels + texts.reduce((sum, text) => sum + 3 * text.length, 0);
}
