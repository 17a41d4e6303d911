import type { Micros } from '../../contract/timestamp.ts';
import type { Epoch } from '../port.ts';
import type { Purge } from '../removals.ts';

/** Properties of a store that can be read without changing it. */
export interface StoreInspection {
  readonly schema: number;
  readonly epoch: Epoch;
  /** Last durable heartbeat of the writer, or null before the first. */
  readonly heartbeat: Micros | null;
  /** True if a writer has opened the store. */
  readonly writing: boolean;
  readonly sealedDays: number;
  readonly openDays: number;
  /** Days that the store lists but whose rows are missing, `YYYY-MM-DD`. */
  readonly missingDays: readonly string[];
  /** Purges that are not completed. */
  readonly pendingPurges: readonly Purge[];
  /** Sealed days without checksums, `YYYY-MM-DD`, which upkeep has not rewritten yet. */
  readonly unverifiedDays: readonly string[];
  /** Total size of the files or tables. */
  readonly bytes: number;
}
