import type { Micros } from '../../src/contract/timestamp.ts';
import type { CopySource, CopyTarget } from '../../src/store/copy/parts.ts';
import type { StoreReader, StoreWriter } from '../../src/store/port.ts';

/** A kind of store for the conformance suite, which every kind must pass. */
export interface StoreKind {
  readonly name: string;
  /** Creates an empty location for one store; `remove` frees it. */
  place(): Promise<StorePlace>;
}

/** Location of one store. The store can be opened repeatedly for writing, and concurrently for reading. */
export interface StorePlace {
  write(at: Micros, options?: { windowDays?: number }): Promise<StoreWriter>;
  read(): Promise<StoreReader>;
  /** Opens the store as the source of a copy. */
  copied(): Promise<CopySource>;
  /** Opens the empty place as a copy of a generation, or continues an existing copy. */
  copy(generation: string): Promise<CopyTarget>;
  remove(): Promise<void>;
}
