import type { VerifierKey } from '../log/keys.ts';
import type { ArchiveReader, ReadingLimits } from './archive-reader.ts';
import type { Finding } from './finding.ts';

/** Record that a verifier keeps for its next run: the key in text form, and the signed checkpoint. */
export interface KeptCheckpoint {
  readonly key: string;
  readonly note: string;
}

/** Options for a verification. */
export interface VerifyOptions {
  readonly reader: ArchiveReader;
  /** Key that the operator trusts; null to use the kept key or, at first contact, the archive's own. */
  readonly key: VerifierKey | null;
  /** Record of an earlier verification; null at first contact. */
  readonly kept: KeptCheckpoint | null;
  /** Current time in milliseconds since 1970. */
  readonly now: number;
  /** Resolves after a number of milliseconds. */
  readonly wait: (milliseconds: number) => Promise<void>;
}

/** Result of a verification. */
export interface VerifyReport {
  readonly findings: readonly Finding[];
  readonly closedDays: number;
  readonly openDays: number;
  /** Paths of files that the publisher has withdrawn. */
  readonly withdrawn: readonly string[];
  /** True if the archive's own key was used because no other key was known. */
  readonly isFirstContact: boolean;
  /** Text form of the key that was used; null if no key was given and the index of the archive contains none. */
  readonly key: string | null;
  /** Limit that ended the verification before all files were read; null if all were read. */
  readonly limit: keyof ReadingLimits | null;
  /** Record to keep for the next run; null unless the archive is intact and has closed days. */
  readonly keep: KeptCheckpoint | null;
}
