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

/**
 * Commits whose reply was lost. The caller appends their observations and refusals again, as the same objects. If the
 * database contains the commit, it has already counted them: they are neither stored nor counted a second time, and a new
 * row is not reported as a repeat of itself.
 */
export class UnansweredCommits {
  #last: { readonly batches: readonly SentBatch[]; readonly from: Reached; readonly to: Reached } | null = null;
  /** Stored observations with their stamps, or with null for a repeat; and counted refusals, with null. */
  readonly #stored = new WeakMap<object, Micros | null>();

  /** Remembers a commit that failed: it was to move the ends of the store from `from` to `to`. */
  add(batches: readonly SentBatch[], from: Reached, to: Reached): void {
    this.#last = isSame(from, to) ? null : { batches, from, to };
  }

  /** Decides by the ends in the database whether the last failed commit was stored. Only this writer moves them. */
  settle(found: Reached): void {
    const last = this.#last;
    this.#last = null;
    if (last === null || !isSame(found, last.to)) return;
    for (const { batch, fresh, first } of last.batches) {
      for (const one of [...batch.observations, ...batch.refusals]) {
        if (!this.#stored.has(one)) this.#stored.set(one, null);
      }
      for (const [i, { observation }] of fresh.entries()) this.#stored.set(observation, micros(first + i));
    }
  }

  /** Returns the part of a batch that is not stored and counted yet; `batch` itself, if that is all of it. */
  rest(batch: Batch): Batch {
    const isStored = (one: object): boolean => this.#stored.has(one);
    if (![...batch.observations, ...batch.refusals].some(isStored)) return batch;
    const observations = batch.observations.filter((one) => !isStored(one));
    return { ...batch, observations, refusals: batch.refusals.filter((one) => !isStored(one)) };
  }

  /** Completes the result for the rest of a batch with what was stored before. The next append of it is a repeat. */
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
