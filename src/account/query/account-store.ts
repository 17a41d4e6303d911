import type { StoreReader } from '../../store/port.ts';

/** Names of the store methods that the account surface uses. Reading processes accept only these methods and `view`. */
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
  'spaceRemoval',
] as const satisfies readonly (keyof StoreReader)[];
/** Name of a store method that the account surface uses. */
export type AccountStoreMethod = (typeof accountStoreMethods)[number];

/** Part of the store reader that the account surface uses. */
export type AccountStore = Pick<StoreReader, AccountStoreMethod>;
