import type { FindingKind } from '../../../src/archive/verify/finding.ts';
import type { Content } from '../forge.ts';
import type { IntactArchive } from './archives.ts';

/** Kind of the finding that decides the exit code. */
export type Verdict = FindingKind | 'intact';

/** A deliberate change of an archive, and what a verification must report. */
export interface Alteration {
  readonly name: string;
  /** Verdict at first contact. */
  readonly first: Verdict;
  /** Verdict with the checkpoint that an earlier verification kept; default: that of the first contact. */
  readonly kept?: Verdict;
  /** Verdict with the key that the publisher named elsewhere; default: that of the first contact. */
  readonly key?: Verdict;
  /** Path of the file that the deciding finding with the kept checkpoint names. */
  readonly path: string;
  /**
   * True if only the rules of Almanac's files forbid the change, and neither a digest nor the texts of C2SP: a verifier
   * that was written from these texts accepts it.
   */
  readonly isOutside?: boolean;
  readonly alter: (content: Content, archives: IntactArchive) => void;
}
