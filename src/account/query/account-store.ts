import type { StoreReader } from '../../store/port.ts';

/** Names of the store methods that a reading process executes for the serving process. */
export const accountStoreMethods = [
  'epoch',
  'frontier',
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

/** Part of the store reader that the serving process uses, through a reading process. */
export type AccountStore = Pick<StoreReader, (typeof accountStoreMethods)[number]>;
/** Part of the store reader that the account surface uses in a reading process, which alone reads rows. */
export type RowStore = AccountStore & Pick<StoreReader, 'readAccount'>;
