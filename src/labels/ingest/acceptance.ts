import type { Micros } from '../../contract/timestamp.ts';
import type { GapReason } from '../../contract/vocabulary.ts';
import { threadCpuMs, threadIdleMs } from '../../ops/process.ts';
import { StoreError } from '../../store/errors.ts';
import { type AppendResult, maxBatchRows, type StoredGap } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { FairQueue, priorityWeights } from '../shares/fair-queue.ts';
import { type AcceptanceOptions, type AcceptedPage, batchOf, type PauseReason, pageBytes } from './ports.ts';

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

interface Queued {
  readonly page: AcceptedPage;
  /** Cost of committing the page, in bytes. */
  readonly cost: number;
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
/** Maximum number of groups that the store has at the same time: one that it commits, and one that it prepares. */
const maxInProgress = 2;

/** Limits of the pages that wait for a commit. */
export const acceptanceLimits = {
  /**
   * Minimum cost of the queued pages for which the store gets a group while it commits another one. Fewer pages wait, so
   * that they share a commit with the pages that arrive meanwhile.
   */
  minBytesAhead: groupBytes / 8,
  /**
   * Maximum number of groups that are committed after `close`. The limit is a number of groups and not a time, because a
   * group may take long on a busy machine or a slow disk; the remaining pages are read again after the next start.
   */
  maxFinalGroups: 4,
};
/** A break follows a commit that blocks the event loop for at least this time, in milliseconds. */
const minBlockedMs = 100;
/**
 * Maximum break after a commit, in milliseconds. Without this limit, a process that was suspended during a commit
 * would pause again for the duration of the suspension.
 */
const maxBreakMs = 1_000;

/** A group that the store has got. */
interface InProgress {
  readonly group: readonly Queued[];
  /** Time and processor time at the begin, in milliseconds. */
  readonly begun: number;
  readonly cpuBegun: number;
  /** Time for which the call blocked the event loop without using the processor, in milliseconds. */
  readonly blockedMs: number;
  /** Resolves once the store has answered. */
  readonly ended: Promise<void>;
  /** Answer of the store, or null before it. */
  answer: { readonly result: AppendResult } | { readonly error: unknown } | null;
}

/**
 * Commits the pages of all sources. Each reader queues at most one page at a time and waits for its commit, so the
 * number of sources bounds the queue, and no two groups in progress contain the same source. Pages are taken in fair
 * order of their cost, and committed in groups; no page is divided.
 */
export class PageAcceptance {
  readonly #options: AcceptanceOptions;
  readonly #queue = new FairQueue<Queued>(priorityWeights);
  /** Cost of the queued pages, in bytes. */
  #queuedBytes = 0;
  /** Groups of pages that the store rejected temporarily; these groups are committed next. */
  #held: (readonly Queued[])[] = [];
  /** Groups that the store has got, in the order of the calls. */
  readonly #inProgress: InProgress[] = [];
  /** Processor time of the thread at the last charge, in milliseconds. */
  #chargedMs = 0;
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

  /** True while the store has a group that it has not answered. */
  get isCommitting(): boolean {
    return this.#inProgress.length > 0;
  }

  /**
   * Queues a page that fits a batch (see `split`). Resolves with the number of new rows once the page is durable.
   * Rejects with `ClockChanged` if the page must be judged again, and with another error if the source is denied during
   * a pause or after a purge was requested, the store fails permanently or the instrument stops.
   */
  async accept(page: AcceptedPage): Promise<number> {
    if (this.#isClosed) throw new Error('stopped');
    return new Promise<number>((done, failed) => {
      const cost = pageBytes(page, this.#options.clock) + pageOverheadBytes;
      this.#queue.push(this.#options.shareOf(page.source), { page, cost, done, failed }, cost);
      this.#queuedBytes += cost;
      this.#wake?.();
    });
  }

  /**
   * Rejects each page that arrives from now on. Pages that are already queued are committed in at most `maxFinalGroups`
   * groups; the remaining ones are rejected, and `run` ends.
   */
  close(): void {
    this.#groupsLeft = Math.min(this.#groupsLeft, acceptanceLimits.maxFinalGroups);
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
      if (this.#mayBegin) {
        await this.#beginNext(signal);
        this.#groupsLeft -= 1;
      } else if (await this.#hasEnded()) await this.#endFirst(signal);
    }
    signal.removeEventListener('abort', wake);
    this.#groupsLeft = 0;
    await this.#endAll(signal);
    for (const { failed } of [...this.#held.splice(0).flat(), ...this.#queue.drain()]) failed(new Error('stopped'));
  }

  /** True if the store can get a group now. While it commits one, it gets another only under load. */
  get #mayBegin(): boolean {
    if (this.#isEmpty) return false;
    const [first] = this.#inProgress;
    if (first === undefined) return true;
    const isReady = first.answer === null && this.#paused === null && this.#held.length === 0;
    return isReady && this.#inProgress.length < maxInProgress && this.#queuedBytes >= acceptanceLimits.minBytesAhead;
  }

  /** Waits until the first group in progress has ended, a page is queued, or `run` must end. True in the first case. */
  async #hasEnded(): Promise<boolean> {
    const [first] = this.#inProgress;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await (first === undefined ? woken : Promise.race([first.ended, woken]));
    this.#wake = null;
    if (first !== undefined && first.answer !== null) return true;
    // Pages that arrive in the same turn of the event loop share the commit.
    await new Promise(setImmediate);
    return false;
  }

  /** Passes the next group to the store. */
  async #beginNext(signal: AbortSignal): Promise<void> {
    const { clock, checkPreconditions, store, flushGaps } = this.#options;
    const { pause, gap, since } = checkPreconditions();
    if (gap) this.#pendingGaps.push({ source: null, ...gap, reason: 'ingest_paused' });
    this.#returnPages();
    if (pause) {
      await this.#endAll(signal);
      await this.#pause(pause, signal, since);
      return;
    }
    const group = this.#takeGroup();
    if (group.length === 0) return;
    const pages = group.map(({ page }) => page);
    const [begun, cpuBegun] = [performance.now(), threadCpuMs()];
    try {
      await this.#writePendingGaps();
      await flushGaps(new Set(group.map(({ page }) => page.source)));
      if (this.#holdsReturned(group)) return;
      const idleBefore = threadIdleMs();
      const appending = store.append(batchOf(clock(), pages));
      const ended = appending.then(
        (result) => {
          one.answer = { result };
        },
        (error: unknown) => {
          one.answer = { error };
        },
      );
      const one: InProgress = { group, begun, cpuBegun, blockedMs: threadIdleMs() - idleBefore, ended, answer: null };
      this.#inProgress.push(one);
      // A store that commits within the call has answered before the next turn of the event loop.
      await Promise.race([ended, new Promise(setImmediate)]);
    } catch (error) {
      await this.#endAll(signal);
      await this.#reject(group, error, signal);
    }
  }

  async #endAll(signal: AbortSignal): Promise<void> {
    while (this.#inProgress.length > 0) await this.#endFirst(signal);
  }

  /** Waits for the answer of the store to the first group in progress, and settles the pages of the group. */
  async #endFirst(signal: AbortSignal): Promise<void> {
    const [first] = this.#inProgress;
    if (first === undefined) return;
    await first.ended;
    this.#inProgress.shift();
    const { group, begun, cpuBegun, blockedMs, answer } = first;
    if (answer === null || 'error' in answer) {
      await this.#reject(group, answer?.error, signal);
      return;
    }
    const { result } = answer;
    this.#options.telemetry.committed(result.accepted, result.duplicates.length, performance.now() - begun);
    // The processor time of two groups in progress is charged once.
    const cpuMs = threadCpuMs();
    this.#chargeGroup(group, cpuMs - Math.max(cpuBegun, this.#chargedMs));
    this.#chargedMs = cpuMs;
    // Record the end of a pause separately: if that fails, this group must not be committed again.
    await this.#resume(signal);
    settle(group, result);
    // If the commit blocked the event loop without using the processor, pause for the same time, so that readers and
    // timers can run on a slow disk. The next group is then larger.
    if (blockedMs >= minBlockedMs && !this.#isClosed) await this.#options.wait(Math.min(blockedMs, maxBreakMs), signal);
  }

  /** Keeps a group that the store rejected temporarily, and pauses. After any other error, the instrument must stop. */
  async #reject(group: readonly Queued[], error: unknown, signal: AbortSignal): Promise<void> {
    if (error instanceof StoreError && error.retry) {
      this.#held.push(group);
      await this.#pause(error.code as PauseReason, signal, null, error.message);
      return;
    }
    for (const { failed } of group) failed(error);
    this.#options.fatal(error);
  }

  /**
   * Rejects pages with an outdated `clockGeneration`: by the corrected clock their labels may be late or in the future,
   * and after a takeover the refused labels of the former writer also count. Also rejects pages whose rows may be removed.
   */
  #returnPages(): void {
    const removed = this.#queue.remove((one) => this.#mustReturn(one));
    for (const { cost } of removed) this.#queuedBytes -= cost;
    for (const { page, failed } of [...this.#held.flat().filter((one) => this.#mustReturn(one)), ...removed])
      failed(this.#options.isDenied(page.source) ? new Error('the source is denied') : new ClockChanged());
    const kept = this.#held.map((group) => group.filter((one) => !this.#mustReturn(one)));
    this.#held = kept.filter(({ length }) => length > 0);
  }

  #mustReturn({ page }: Queued): boolean {
    const { isDenied, isPurged, clockGeneration } = this.#options;
    // A purge may begin during a pause without waiting for the reader, whose page may arrive after the pause.
    const isRemoved = (this.#paused !== null || isPurged(page.source)) && isDenied(page.source);
    return isRemoved || page.clockGeneration !== clockGeneration();
  }

  /** Returns true, and keeps the group, if the clock, the role or a denial has changed while the gaps were written. */
  #holdsReturned(group: readonly Queued[]): boolean {
    const isReturned = group.some((one) => this.#mustReturn(one));
    if (isReturned) this.#held.push(group);
    return isReturned;
  }

  /** Divides the processor time of a group between its sources by the cost of their pages. */
  #chargeGroup(group: readonly Queued[], cpuMs: number): void {
    const total = group.reduce((sum, { cost }) => sum + cost, 0);
    for (const { page, cost } of group) this.#options.charge(page.source, (cpuMs * cost) / total);
  }

  #takeGroup(): readonly Queued[] {
    const held = this.#held.shift();
    if (held !== undefined) return held;
    const group: Queued[] = [];
    const sums = { rows: 0, bytes: 0, refusals: 0, positions: 0, refusedRows: 0 };
    for (;;) {
      const next = this.#queue.peek();
      if (!next) return group;
      sums.rows += next.page.observations.length;
      sums.bytes += next.cost - pageOverheadBytes;
      sums.refusals += next.page.refusals.length;
      sums.positions += next.page.positions.length + (next.page.marks?.length ?? 0);
      sums.refusedRows += next.page.refusedRows?.length ?? 0;
      const { bytes, ...counts } = sums;
      const isFull = bytes > groupBytes || Object.values(counts).some((count) => count > maxBatchRows);
      if (group.length > 0 && isFull) return group;
      group.push(next);
      this.#queue.shift();
      this.#queuedBytes -= next.cost;
    }
  }

  /**
   * Records the gap so far, so that a crash does not hide it, and then waits for one retry interval. After a clock
   * step, the gap begins at the end of the gap of the step, because a heartbeat may have detected the step before
   * this call. `why` is the message of a store that rejected a group, for the log.
   */
  async #pause(reason: PauseReason, signal: AbortSignal, doubtfulSince: Micros | null, why?: string): Promise<void> {
    const { clock, log, telemetry, wait, retryMs } = this.#options;
    if (this.#paused?.reason !== reason) {
      log.warn('label acceptance paused', { reason, ...(why !== undefined && { why }) });
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
