import type { StoreReader } from '../../store/port.ts';

/**
 * The reads of the observation store that this surface uses; it has no access to any others. The reading process
 * executes only these.
 */
export const accountStoreMethods = [
  'epoch',
  'frontier',
  'readAccount',
  'accountIntervals',
  'tallyAccount',
  'busyAccounts',
  'coverage',
  'gaps',
  'roster',
  'definitions',
  'positions',
  'note',
  'purges',
] as const satisfies readonly (keyof StoreReader)[];
/** Name of a read. */
export type AccountStoreMethod = (typeof accountStoreMethods)[number];

/** The part of the store that this surface uses. */
export type AccountStore = Pick<StoreReader, AccountStoreMethod>;
