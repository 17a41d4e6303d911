import { type Micros, parseTimestamp } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { DenyList } from './deny-file.ts';

/** Dependencies of `Purges`. */
interface PurgesOptions {
  readonly store: Pick<StoreWriter, 'requestPurge' | 'purge' | 'purges'>;
  readonly clock: () => Micros;
  readonly log: Log;
}

/** Conditions of `Purges.remove`. */
interface RemovalOptions {
  /** List of denials in force, whose entries request purges. */
  readonly list: DenyList;
  /** Returns true if no more rows of a labeler are being stored. */
  readonly idle: (did: string) => boolean;
}

/**
 * Removals of the rows of denied labelers. A labeler that is allowed again may deliver removed rows once more, because
 * its pages had not been read up to these rows. Admission refuses them by the time of the request, before which the
 * store has a gap of the labeler.
 */
export class Purges {
  readonly #options: PurgesOptions;
  #requested: ReadonlyMap<string, Micros> = new Map();

  constructor(options: PurgesOptions) {
    this.#options = options;
  }

  /**
   * Reads the requests from the store. Must be called before a labeler is read: at startup, and when a labeler is
   * allowed, because another instrument may have recorded the request.
   */
  async load(): Promise<void> {
    const purges = await this.#options.store.purges();
    this.#requested = new Map(purges.map(({ source, requestedAt }) => [source, requestedAt]));
  }

  /** Returns the time before which no label of a labeler is observed, or null if its rows were not removed. */
  requestedAt(did: string): Micros | null {
    return this.#requested.get(did) ?? null;
  }

  /**
   * Passes the requests in the operator's list to the store, and removes rows until no request is pending. Stops when
   * the signal aborts; the next call resumes, even after a restart.
   */
  async remove({ list, idle }: RemovalOptions, signal: AbortSignal): Promise<void> {
    const { store, clock, log } = this.#options;
    try {
      for (const { target, purge } of list.entries) {
        const at = parseTimestamp(purge);
        if (target.kind !== 'did' || at === null || !idle(target.did)) continue;
        if (!(await store.requestPurge({ source: target.did, at }))) continue;
        log.info('a purge has started');
        await this.load();
      }
      while (!signal.aborted && (await store.purge(clock())));
    } catch (error) {
      if (signal.aborted && error instanceof StoreError && error.code === 'closed') return;
      throw error;
    }
  }
}
