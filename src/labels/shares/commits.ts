import { StoreError } from '../../store/errors.ts';
import { withoutGap } from '../../store/gaps.ts';
import type { GapChange, StoredGap, StoreWriter } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { FairQueue, priorityWeights, type ShareKey } from './fair-queue.ts';

/** Dependencies of `GroupedCommits`. */
interface GroupedCommitsOptions<T, R> {
  /** Commits changes. Resolves with one result for each change, in order, once all of them are durable. */
  readonly commit: (changes: readonly T[]) => Promise<readonly R[]>;
  /** Returns the size of a change, in bytes. */
  readonly bytesOf: (change: T) => number;
  /** Returns the share that a change counts against. */
  readonly shareOf: (change: T) => ShareKey;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Returns milliseconds of a clock that never steps back; the process's own if absent. */
  readonly monotonic?: () => number;
  /** Aborts when the instrument stops. */
  readonly signal: AbortSignal;
}

interface Queued<T, R> {
  readonly change: T;
  readonly bytes: number;
  readonly done: (result: R | null) => void;
  readonly failed: (error: unknown) => void;
}

/** Maximum number of changes in one commit. */
const maxGroup = 100;
/** Maximum total size of the changes in one commit, in bytes. A single change may be larger. */
const maxGroupBytes = 2 * 1024 * 1024;
/** Number of waiting changes at which the queue is full. */
const maxQueued = 1_000;
/** Total size of the waiting changes at which the queue is full, in bytes. */
const maxQueuedBytes = 8 * 1024 * 1024;
/** Fixed cost of a change in the fair order, in bytes, in addition to its size. */
const changeOverheadBytes = 1_000;
/** Length of the break after a commit, in multiples of the time that the commit took. */
const breakPerCommit = 4;
/** Maximum break after a commit, in milliseconds. */
const maxBreakMs = 2_000;
/** Minimum time before a commit that the store rejected temporarily is repeated, in milliseconds. */
const retryMs = 500;

/**
 * Stores small changes that arrive often, such as the definitions of labelers. Each commit waits for the disk, and a
 * commit of an embedded store blocks the event loop until then. Changes that arrive in the meantime therefore share a
 * commit. Breaks limit the commits of a queue to a fifth of the time, as long as a commit takes at most half a
 * second. Waiting changes are taken in fair order, so that many new labelers do not delay seeded and established
 * labelers.
 */
export class GroupedCommits<T, R> {
  readonly #options: GroupedCommitsOptions<T, R>;
  readonly #queue = new FairQueue<Queued<T, R>>(priorityWeights);
  #queuedBytes = 0;
  /** Group that the store rejected temporarily; this group is committed next. */
  #held: readonly Queued<T, R>[] = [];
  #running = false;

  constructor(options: GroupedCommitsOptions<T, R>) {
    this.#options = options;
  }

  /** True if too many changes wait for a commit. A caller that can repeat a change should then do so later. */
  get isFull(): boolean {
    return this.#queue.size >= maxQueued || this.#queuedBytes >= maxQueuedBytes;
  }

  /**
   * Queues a change. Resolves with the result of the change once the change is durable, or with null if the instrument
   * stops first. Rejects if the store fails permanently; a commit that the store rejects temporarily is repeated.
   */
  put(change: T): Promise<R | null> {
    const { signal, bytesOf, shareOf } = this.#options;
    if (signal.aborted) return Promise.resolve(null);
    return new Promise((done, failed) => {
      const bytes = bytesOf(change);
      this.#queue.push(shareOf(change), { change, bytes, done, failed }, bytes + changeOverheadBytes);
      this.#queuedBytes += bytes;
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    const { wait, signal, monotonic = () => performance.now() } = this.#options;
    this.#running = true;
    while (this.#held.length > 0 || this.#queue.size > 0) {
      // Changes that arrive in the same turn of the event loop share the commit.
      await new Promise(setImmediate);
      if (signal.aborted) break;
      const begun = monotonic();
      await this.#commit(this.#held.length > 0 ? this.#held : this.#takeGroup());
      const breakMs = Math.min(breakPerCommit * (monotonic() - begun), maxBreakMs);
      await wait(this.#held.length > 0 ? Math.max(breakMs, retryMs) : breakMs, signal);
    }
    this.#running = false;
    for (const { done } of [...this.#held, ...this.#queue.drain()]) done(null);
    this.#held = [];
    this.#queuedBytes = 0;
  }

  #takeGroup(): readonly Queued<T, R>[] {
    const group: Queued<T, R>[] = [];
    let bytes = 0;
    for (let next = this.#queue.peek(); next !== undefined; next = this.#queue.peek()) {
      if (group.length >= maxGroup || (group.length > 0 && bytes + next.bytes > maxGroupBytes)) break;
      group.push(next);
      bytes += next.bytes;
      this.#queue.shift();
    }
    this.#queuedBytes -= bytes;
    return group;
  }

  async #commit(group: readonly Queued<T, R>[]): Promise<void> {
    this.#held = [];
    try {
      const results = await this.#options.commit(group.map(({ change }) => change));
      for (const [i, { done }] of group.entries()) done(results[i] ?? null);
    } catch (error) {
      if (error instanceof StoreError && error.retry) this.#held = group;
      else for (const { failed } of group) failed(error);
    }
  }
}

/** Dependencies of `GapWriter`. */
interface GapWriterOptions {
  readonly store: Pick<StoreWriter, 'changeGaps'>;
  /** Returns the monotonic clock, in microseconds. */
  readonly monotonic: () => number;
  /**
   * Minimum interval between two writes of one source's gaps, in milliseconds. A new position of the source causes an
   * earlier write.
   */
  readonly minIntervalMs: number;
  /** Returns the maximum number of gaps of a source, or undefined for the store's maximum. */
  readonly maxGapsOf?: (source: string) => number | undefined;
}

/** Maximum number of pending changes of one source. `bound` reduces a larger number of changes to this maximum. */
const maxPending = 64;

/**
 * Pending changes to gaps. A labeler can cause a gap with a frame of 30 bytes, so the gaps of one source are written
 * rarely, and the gaps of many sources share a commit. `flush` is called before a position of the source is committed,
 * so that a crash between the two overstates a gap and never hides it.
 */
export class GapWriter {
  readonly #options: GapWriterOptions;
  readonly #pending = new Map<string, GapChange[]>();
  readonly #writtenAt = new Map<string, number>();
  #writing: Promise<void> = Promise.resolve();

  constructor(options: GapWriterOptions) {
    this.#options = options;
  }

  /** Records a gap of a source; ignores an empty gap. */
  record(gap: StoredGap): void {
    if (gap.start >= gap.end) return;
    const changes = this.#changesOf(gap);
    const last = changes.at(-1);
    if (last?.kind === 'record' && touches(last.gap, gap)) {
      changes[changes.length - 1] = { kind: 'record', gap: joined(last.gap, gap, gap.reason) };
      return;
    }
    changes.push({ kind: 'record', gap });
    bound(changes);
  }

  /** Records or withdraws a gap. */
  change({ kind, gap }: GapChange): void {
    if (kind === 'record') this.record(gap);
    else this.withdraw(gap);
  }

  /** Withdraws a recorded gap of a source; ignores an empty gap. */
  withdraw(gap: StoredGap): void {
    if (gap.start >= gap.end) return;
    const changes = this.#changesOf(gap);
    changes.push({ kind: 'withdraw', gap });
    bound(changes);
  }

  /**
   * Writes the pending changes to the gaps of these sources, or of all sources. Rejects if the write fails. The changes
   * then stay pending.
   */
  flush(sources?: Iterable<string>): Promise<void> {
    const selected = sources === undefined ? null : [...sources];
    // Read the pending changes after the preceding write, because the changes of a failed write are pending again.
    const turn = this.#writing.then(() => this.#write(selected ?? [...this.#pending.keys()]));
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  /** Writes the pending changes to the gaps of each source whose last write is at least the minimum interval ago. */
  async tick(): Promise<void> {
    const { monotonic, minIntervalMs } = this.#options;
    const before = monotonic() - minIntervalMs * 1_000;
    for (const [source, at] of this.#writtenAt) if (at <= before) this.#writtenAt.delete(source);
    await this.flush([...this.#pending.keys()].filter((source) => !this.#writtenAt.has(source)));
  }

  async #write(sources: readonly string[]): Promise<void> {
    const { store, monotonic } = this.#options;
    const taken = [...new Set(sources)].flatMap((source) => {
      const own = this.#pending.get(source);
      return own === undefined ? [] : [[source, own] as const];
    });
    if (taken.length === 0) return;
    for (const [source] of taken) this.#pending.delete(source);
    try {
      await store.changeGaps(taken.flatMap(([source, own]) => this.#limited(source, own)));
    } catch (error) {
      // Insert the changes of the failed write before those that were added during the write.
      for (const [source, own] of taken) this.#pending.set(source, [...own, ...(this.#pending.get(source) ?? [])]);
      throw error;
    }
    for (const [source] of taken) this.#writtenAt.set(source, monotonic());
  }

  #limited(source: string, changes: readonly GapChange[]): readonly GapChange[] {
    const maxGaps = source === '' ? undefined : this.#options.maxGapsOf?.(source);
    return maxGaps === undefined ? changes : changes.map((change) => ({ ...change, maxGaps }));
  }

  #changesOf({ source }: StoredGap): GapChange[] {
    const name = source ?? '';
    const changes = this.#pending.get(name) ?? [];
    this.#pending.set(name, changes);
    return changes;
  }
}

/**
 * Reduces more than `maxPending` changes of one source to that number, without hiding missed time. First removes the
 * time that a later withdrawal undoes, because that time has no effect. Then drops the oldest withdrawals, so that
 * the stored gaps they concern stay recorded. If too many records remain, merges all changes into one gap, which
 * overstates the missed time.
 */
function bound(changes: GapChange[]): void {
  if (changes.length <= maxPending) return;
  const effective = withoutUndone(changes);
  const withdrawals = effective.filter(({ kind }) => kind === 'withdraw');
  const removed = new Set(withdrawals.slice(0, Math.max(0, effective.length - maxPending)));
  const kept = effective.filter((change) => !removed.has(change));
  changes.splice(0, changes.length, ...(kept.length > maxPending ? [unionOf(kept)] : kept));
}

/** Removes from each change the time of later withdrawals with the same reason. */
function withoutUndone(changes: readonly GapChange[]): readonly GapChange[] {
  let effective: readonly GapChange[] = [];
  for (const change of changes) {
    if (change.kind === 'withdraw') {
      effective = effective.flatMap((before) =>
        withoutGap([before.gap], change.gap).map((gap) => ({ ...before, gap })),
      );
    }
    effective = [...effective, change];
  }
  return effective;
}

/** Returns the record of one `unknown` gap that covers the gaps of all changes. */
function unionOf(changes: readonly GapChange[]): GapChange {
  const all = changes.map((change) => change.gap);
  const union = all.reduce((one, other) => joined(one, other, 'unknown'));
  return { kind: 'record', gap: { ...union, reason: 'unknown' } };
}

function touches(a: StoredGap, b: StoredGap): boolean {
  return a.reason === b.reason && a.start <= b.end && b.start <= a.end;
}

function joined(a: StoredGap, b: StoredGap, reason: StoredGap['reason']): StoredGap {
  return { ...a, reason, start: micros(Math.min(a.start, b.start)), end: micros(Math.max(a.end, b.end)) };
}
