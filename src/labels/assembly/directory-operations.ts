import { isObject } from '../../input/json-object.ts';
import type { AddressPolicy, Resolve } from '../../network/guard/address-policy.ts';
import type { HttpClient } from '../../network/http/http.ts';
import type { DirectoryOperation } from '../../network/identity/directory-operation.ts';
import type { Log } from '../../ops/log.ts';
import type { StoreReader } from '../../store/port.ts';
import { wait } from '../clock/wait.ts';
import { followDirectory } from '../discovery/directory-stream.ts';
import type { Roster } from '../roster/roster.ts';

/** Name of the store's note with the position in the directory's stream. */
export const positionNote = 'directory-position';

/** Dependencies of finding labelers in the directory's stream. */
export interface DirectoryOperationsOptions {
  readonly settings: { readonly plc: string; readonly userAgent: string };
  readonly store: Pick<StoreReader, 'note'>;
  readonly policy: AddressPolicy;
  readonly resolve: Resolve;
  /** The client for the directory. */
  readonly http: Pick<HttpClient, 'getText'>;
  readonly random: () => number;
  readonly log: Log;
}

/** Follows the directory's stream while the instrument runs. */
export interface DirectoryOperations {
  /** Position to resume from, as the note keeps it; null before the first operation. */
  readonly note: string | null;
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Follows the directory's stream from where the last run ended: a labeler that declares a service is added, with or without
 * a record, and the document of a known one is read again. Both are bounded as what relays and the Jetstream name is.
 */
export async function directoryOperations(
  { settings, store, policy, resolve, http, random, log }: DirectoryOperationsOptions,
  roster: Pick<Roster, 'add' | 'member' | 'saidToChange'>,
): Promise<DirectoryOperations> {
  const { plc: directory, userAgent } = settings;
  const { host } = new URL(directory);
  const onOperation = operationHandler(roster, host);
  const position = readPosition(await store.note(positionNote), host);
  const stream = followDirectory({
    ...{ directory, policy, userAgent, resolve, http, random, wait, log, onOperation, position },
  });
  return {
    get note() {
      return stream.position === null ? null : JSON.stringify({ host, seq: stream.position });
    },
    run: (signal) => stream.run(signal),
  };
}

/** Makes what takes the operations of the directory on `host`. */
export function operationHandler(
  roster: Pick<Roster, 'add' | 'member' | 'saidToChange'>,
  host: string,
): (operation: Pick<DirectoryOperation, 'did' | 'isLabeler'>) => void {
  return ({ did, isLabeler }) => {
    const isKnown = roster.member(did) !== undefined;
    if (isLabeler) roster.add(did, 'discovered', `directory ${host}`);
    // A new labeler's document is read anyway.
    if (isKnown) roster.saidToChange(did);
  };
}

/** Reads the note; a position of another directory means nothing here. */
function readPosition(note: string | null, host: string): number | null {
  if (note === null) return null;
  try {
    const value: unknown = JSON.parse(note);
    if (!isObject(value) || value.host !== host) return null;
    return typeof value.seq === 'number' && Number.isSafeInteger(value.seq) && value.seq >= 0 ? value.seq : null;
  } catch {
    return null;
  }
}
