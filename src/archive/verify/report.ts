import type { VerifierKey } from '../log/keys.ts';
import type { ArchiveReader, ReadingLimits } from './archive-reader.ts';
import type { Finding } from './finding.ts';

/** Record that a verifier keeps for its next run: the key in its text form, and the signed checkpoint. */
export interface KeptCheckpoint {
  readonly key: string;
  readonly note: string;
}

/** Options for a verification. */
export interface VerifyOptions {
  readonly reader: ArchiveReader;
  /** Key that the operator trusts; null to use the kept one, or at first contact the archive's own. */
  readonly key: VerifierKey | null;
  /** Result of an earlier verification; null at first contact. */
  readonly kept: KeptCheckpoint | null;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Resolves when an archive that was being written may be consistent again. */
  readonly wait: () => Promise<void>;
}

/** Result of a verification. */
export interface VerifyReport {
  readonly findings: readonly Finding[];
  readonly closedDays: number;
  readonly openDays: number;
  /** Paths of files that the publisher has withdrawn. */
  readonly withdrawn: readonly string[];
  /** True if the archive's own key was used, because no other was known. */
  readonly isFirstContact: boolean;
  /** Key that was used; null if the archive names none. */
  readonly key: string | null;
  /** Limit of a verification that was reached before all files were read; null if all were. */
  readonly limit: keyof ReadingLimits | null;
  /** Checkpoint to keep for the next run; null unless the archive is intact and has closed days. */
  readonly keep: KeptCheckpoint | null;
}
