import type { StoreReader } from '../store/port.ts';

/**
 * The reads of the observation store that this surface makes; anything else of the store is out of its reach. The
 * reading process answers these by name and nothing else.
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
/** The name of a read. */
export type AccountStoreMethod = (typeof accountStoreMethods)[number];

/** The part of the store that this surface uses. */
export type AccountStore = Pick<StoreReader, AccountStoreMethod>;
