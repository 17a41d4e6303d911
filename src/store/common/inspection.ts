import type { Micros } from '../../contract/timestamp.ts';
import type { Epoch } from '../port.ts';
import type { Purge } from '../removals.ts';

/** Properties of a store that can be read without changing it. */
export interface StoreInspection {
  readonly schema: number;
  readonly epoch: Epoch;
  /** Last durable heartbeat of the writer, or null before the first heartbeat. */
  readonly heartbeat: Micros | null;
  /** True if a process has the store open for writing. */
  readonly writing: boolean;
  readonly sealedDays: number;
  readonly openDays: number;
  /** Days (`YYYY-MM-DD`) that the store lists, but whose rows are missing. */
  readonly missingDays: readonly string[];
  /** Purges that have not completed. */
  readonly pendingPurges: readonly Purge[];
  /** Sealed days (`YYYY-MM-DD`) that upkeep has not yet rewritten with checksums. */
  readonly unverifiedDays: readonly string[];
  /** Total size of the files or tables, in bytes. */
  readonly bytes: number;
}
