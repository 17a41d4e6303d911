import { type Micros, parseTimestamp } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { DenyList } from './deny-file.ts';

/** Dependencies of `removeRequested`. */
interface PurgesOptions {
  readonly store: Pick<StoreWriter, 'requestPurge' | 'purge'>;
  /** Returns the list of denials in force, whose entries request purges. */
  readonly list: () => DenyList;
  /** Returns true if no more rows of a labeler are being stored. */
  readonly idle: (did: string) => boolean;
  readonly clock: () => Micros;
  readonly log: Log;
}

/**
 * Passes the purge requests in the operator's list to the store, and removes rows until no request is pending. Stops
 * when the signal aborts; the next call resumes, even after a restart.
 */
export async function removeRequested(options: PurgesOptions, signal: AbortSignal): Promise<void> {
  const { store, clock, log } = options;
  try {
    for (const { target, purge } of options.list().entries) {
      const at = parseTimestamp(purge);
      if (target.kind !== 'did' || at === null || !options.idle(target.did)) continue;
      if (await store.requestPurge({ source: target.did, at })) log.info('a purge has started');
    }
    while (!signal.aborted && (await store.purge(clock())));
  } catch (error) {
    if (signal.aborted && error instanceof StoreError && error.code === 'closed') return;
    throw error;
  }
}
