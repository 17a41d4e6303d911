import { StoreError } from '../../errors.ts';
import type { OnFile } from '../base/file-event.ts';
import type { StorePaths } from '../base/files.ts';
import type { StateChanges } from '../state/state-write.ts';
import type { OpenDayOptions } from './row-removal.ts';

/** Days that the removal of rows about spaces has processed since the store was opened. */
export interface SpaceDays {
  /** Days from which all rows about spaces were removed. */
  readonly done: Set<number>;
  /** Sealed days that could not be rewritten. The removal tries them again after the store is next opened. */
  readonly left: Set<number>;
}

/** State and options of a purge and of the removal of rows about spaces. */
export interface PurgeWork extends OpenDayOptions {
  readonly paths: StorePaths;
  readonly state: StateChanges;
  /** Removes the identities of removed rows from memory, so that the same labels can be accepted again. */
  readonly forget: (identities: readonly Buffer[]) => void;
  readonly spaceDays: SpaceDays;
  readonly onFile: OnFile;
  readonly signal: AbortSignal;
}

/** Throws `closed` if the store was closed. */
export function assertOpen(signal: AbortSignal): void {
  if (signal.aborted) throw new StoreError('closed', 'the store was closed');
}
