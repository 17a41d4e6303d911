import { StoreError } from '../../store/errors.ts';
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
