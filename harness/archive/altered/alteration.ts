import type { FindingKind } from '../../../src/archive/verify/finding.ts';
import type { Content } from '../forge.ts';
import type { IntactArchive } from './archives.ts';

/** Kind of the finding that determines the exit code, or `intact` without findings. */
export type Verdict = FindingKind | 'intact';

/** A deliberate change to an archive, and the findings that verification must report. */
export interface Alteration {
  readonly name: string;
  /** Verdict at first contact, without a kept checkpoint. */
  readonly first: Verdict;
  /** Verdict with the checkpoint of an earlier verification; defaults to `first`. */
  readonly kept?: Verdict;
  /** Verdict with a key that the publisher announced elsewhere; defaults to `first`. */
  readonly key?: Verdict;
  /** Path in the finding that determines the verdict with the kept checkpoint. */
  readonly path: string;
  /**
   * True if only Almanac's own file rules forbid the change. A verifier that checks nothing but digests and the C2SP
   * specifications accepts the archive.
   */
  readonly isOutside?: boolean;
  readonly alter: (content: Content, archives: IntactArchive) => void;
}
