import type { AddressPolicy, Resolve } from '../../network/guard/address-policy.ts';
import type { HttpClient } from '../../network/http/http.ts';
import type { DirectoryOperation } from '../../network/identity/directory-operation.ts';
import type { Log } from '../../ops/log.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { DirectoryPosition } from '../../store/roster.ts';
import { wait } from '../clock/wait.ts';
import { followDirectory } from '../discovery/directory-stream.ts';
import type { Roster } from '../roster/roster.ts';

/** Dependencies of `directoryOperations`. */
export interface DirectoryOperationsOptions {
  readonly settings: { readonly plc: string; readonly userAgent: string };
  readonly store: Pick<StoreWriter, 'directoryPosition'>;
  readonly policy: AddressPolicy;
  readonly resolve: Resolve;
  /** The client for the directory. */
  readonly http: Pick<HttpClient, 'getText'>;
  readonly random: () => number;
  readonly log: Log;
}

/** Reader of the directory's stream, which runs while the instrument observes. */
export interface DirectoryOperations {
  /** Position to resume from, or null before the first operation. */
  readonly position: DirectoryPosition | null;
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Creates a reader that follows the directory's stream from the position of the last run. The reader adds accounts
 * that declare a labeler service, even without a labeler record, and reads the documents of known labelers again.
 * Added accounts are subject to the same limits as labelers named by relays or the Jetstream.
 */
export async function directoryOperations(
  { settings, store, policy, resolve, http, random, log }: DirectoryOperationsOptions,
  roster: Pick<Roster, 'add' | 'documentChanged'>,
): Promise<DirectoryOperations> {
  const { plc: directory, userAgent } = settings;
  const { host } = new URL(directory);
  const onOperation = operationHandler(roster, host);
  const position = await store.directoryPosition(host);
  const stream = followDirectory({
    ...{ directory, policy, userAgent, resolve, http, random, wait, log, onOperation, position },
  });
  return {
    get position() {
      return stream.position === null ? null : { host, seq: stream.position };
    },
    run: (signal) => stream.run(signal),
  };
}

/** Creates the handler for operations from the directory on `host`. */
export function operationHandler(
  roster: Pick<Roster, 'add' | 'documentChanged'>,
  host: string,
): (operation: Pick<DirectoryOperation, 'did' | 'isLabeler'>) => void {
  return ({ did, isLabeler }) => {
    if (isLabeler) roster.add(did, 'discovered', `directory ${host}`);
    // Even a new labeler needs this call, because a replica of the directory may have the operation later.
    roster.documentChanged(did);
  };
}
