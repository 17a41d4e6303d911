import { StoreError } from '../../errors.ts';
import type { StorePaths } from '../base/files.ts';
import type { StateChanges } from '../state/state-write.ts';
import type { OpenDayOptions } from './row-removal.ts';

/** Dependencies of a purge and of the removal of rows about spaces. */
export interface PurgeWork extends OpenDayOptions {
  readonly paths: StorePaths;
  readonly state: StateChanges;
  /** Removes identities of removed rows from memory, so that the same labels may be accepted again. */
  readonly forget: (identities: readonly Buffer[]) => void;
  readonly signal: AbortSignal;
}

/** Throws `closed` if the store was closed. */
export function assertOpen(signal: AbortSignal): void {
  if (signal.aborted) throw new StoreError('closed', 'the store was closed');
}
