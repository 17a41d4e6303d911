import type { Micros } from '../../src/contract/timestamp.ts';
import type { StoreReader, StoreWriter } from '../../src/store/port.ts';

/** A way to make stores of one kind, for the suite that every kind must pass. */
export interface StoreKind {
  readonly name: string;
  /** A place for one store, empty; `remove` frees it. */
  place(): Promise<StorePlace>;
}

/** One store's place: opened for writing again and again, or for reading beside the writer. */
export interface StorePlace {
  write(at: Micros, options?: { windowDays?: number }): Promise<StoreWriter>;
  read(): Promise<StoreReader>;
  remove(): Promise<void>;
}
