import type { Micros } from '../../../contract/timestamp.ts';
import type { AppendResult, Batch, NewObservation } from '../../port.ts';
import { micros } from '../../time.ts';

/** Last stamp of a store, and time of its last page. */
export interface Reached {
  readonly last: Micros | null;
  readonly through: Micros | null;
}

/** A batch that was sent with a commit. */
interface SentBatch {
  readonly batch: Batch;
  readonly fresh: readonly { readonly observation: NewObservation }[];
  /** Stamp of the first new row. */
  readonly first: Micros;
}

/** Maximum number of commits without a reply that are remembered: each waits for those before it. */
const maxSent = 4;

/**
 * Commits whose reply was lost. The caller appends the same observation and refusal objects again. If the database
 * contains the commit, they are neither stored nor counted a second time, and a new row is not reported as a repeat of
 * itself. A commit that moved neither end of the store cannot be recognized: its refusals and repeats count again.
 */
export class UnansweredCommits {
  #sent: readonly { readonly batches: readonly SentBatch[]; readonly to: Reached }[] = [];
  /** Stamps of stored observations; null for a counted repeat or refusal. */
  readonly #stored = new WeakMap<object, Micros | null>();
  /** False until a commit was found stored: no batch needs to be searched then. */
  #hasStored = false;

  /** True if a remembered commit may still be stored. */
  get isWaiting(): boolean {
    return this.#sent.length > 0;
  }

  /** Remembers a commit without a reply: it was to move the ends of the store from `from` to `to`. */
  add(batches: readonly SentBatch[], from: Reached, to: Reached): void {
    if (!isSame(from, to)) this.#sent = [...this.#sent, { batches, to }].slice(-maxSent);
  }

  /** Must be called after a commit with a reply: no earlier commit can be stored any more. */
  clear(): void {
    this.#sent = [];
  }

  /**
   * Decides by the ends in the database, which only this writer moves, whether a remembered commit was stored. It may
   * still wait, for example for a synchronous standby, so all are kept until one is found.
   */
  settle(found: Reached): void {
    const stored = this.#sent.findLast(({ to }) => isSame(found, to));
    if (stored === undefined) return;
    this.#sent = [];
    this.#hasStored = true;
    for (const { batch, fresh, first } of stored.batches) {
      for (const one of [...batch.observations, ...batch.refusals]) {
        if (!this.#stored.has(one)) this.#stored.set(one, null);
      }
      for (const [i, { observation }] of fresh.entries()) this.#stored.set(observation, micros(first + i));
    }
  }

  /** Returns the part of a batch that is not stored and counted yet; `batch` itself, if that is all of it. */
  rest(batch: Batch): Batch {
    if (!this.#hasStored) return batch;
    const isStored = (one: object): boolean => this.#stored.has(one);
    if (![...batch.observations, ...batch.refusals].some(isStored)) return batch;
    const observations = batch.observations.filter((one) => !isStored(one));
    return { ...batch, observations, refusals: batch.refusals.filter((one) => !isStored(one)) };
  }

  /**
   * Completes the result for the rest of a batch with what was stored before. Forgets the batch: appended once more, its
   * labels are repeats.
   */
  complete(batch: Batch, rest: AppendResult): AppendResult {
    const repeats = new Set(rest.duplicates);
    const duplicates: number[] = [];
    const stamps = [rest.first, rest.last].filter((stamp) => stamp !== null);
    let accepted = rest.accepted;
    let restIndex = 0;
    for (const [i, observation] of batch.observations.entries()) {
      const stamp = this.#stored.get(observation);
      if (stamp === undefined ? repeats.has(restIndex++) : stamp === null) duplicates.push(i);
      if (typeof stamp !== 'number') continue;
      accepted += 1;
      stamps.push(stamp);
    }
    for (const one of [...batch.observations, ...batch.refusals]) this.#stored.delete(one);
    const sorted = stamps.sort((a, b) => a - b);
    return { accepted, duplicates, first: sorted[0] ?? null, last: sorted.at(-1) ?? null };
  }
}

function isSame(one: Reached, other: Reached): boolean {
  return one.last === other.last && one.through === other.through;
}
