import type { StoreReader } from '../store/port.ts';

/** The reads of the observation store that this surface makes; anything else of the store is out of its reach. */
export type AccountStore = Pick<
  StoreReader,
  | 'epoch'
  | 'frontier'
  | 'readAccount'
  | 'accountIntervals'
  | 'tallyAccount'
  | 'coverage'
  | 'roster'
  | 'definitions'
  | 'positions'
>;
