import type { Micros } from '../../src/contract/timestamp.ts';
import type { StoreReader, StoreWriter } from '../../src/store/port.ts';

/** A kind of store, for the suite that every kind must pass. */
export interface StoreKind {
  readonly name: string;
  /** Creates an empty location for one store; `remove` frees it. */
  place(): Promise<StorePlace>;
}

/** The location of one store, which can be opened repeatedly for writing, and concurrently for reading. */
export interface StorePlace {
  write(at: Micros, options?: { windowDays?: number }): Promise<StoreWriter>;
  read(): Promise<StoreReader>;
  remove(): Promise<void>;
}
