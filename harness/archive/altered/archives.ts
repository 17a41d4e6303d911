import { hourMs } from '../../../src/archive/days/calendar.ts';
import { signerKey } from '../../../src/archive/log/note.ts';
import type { FindingKind } from '../../../src/archive/verify/finding.ts';
import type { KeptCheckpoint } from '../../../src/archive/verify/verify.ts';
import { type Content, copyOf } from '../forge.ts';
import { simulateArchive, simulatedStart } from '../simulated-archive.ts';

/** Kind of the finding that determines the exit code, or `intact` without findings. */
type Verdict = FindingKind | 'intact';

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
  readonly alter: (content: Content, archives: IntactArchive) => unknown;
}

/** Creates an alteration; `alter` may return anything. */
export function altered(
  name: string,
  first: Verdict,
  path: string,
  alter: (content: Content, archives: IntactArchive) => unknown,
  more: Pick<Alteration, 'kept' | 'key' | 'isOutside'> = {},
): Alteration {
  return { name, first, path, alter, ...more };
}

/** Archives to alter, and the state that a verifier kept from an earlier verification. */
export interface IntactArchive {
  /** An archive with four closed and three open days. */
  readonly intact: Content;
  /** The same archive at an earlier time, with two closed days. */
  readonly older: Content;
  /** Checkpoint that a verifier kept of the older archive. */
  readonly kept: KeptCheckpoint;
}

/** Time at which the intact archive is verified, in milliseconds since 1970. */
export const verifiedAt = simulatedStart + (24 * 6 + 1) * hourMs;
/** A key with the expected name that has not signed the archive. */
export const otherKey = signerKey('test.example/archive', Buffer.alloc(32, 9));
/** The first three closed days of the intact archive, and its last open day. */
export const [first, second, third, open] = ['2026-11-20', '2026-11-21', '2026-11-22', '2026-11-26'];

/** Creates the intact archive, its older state and the kept checkpoint. */
export async function intactArchive(): Promise<IntactArchive> {
  const archive = simulateArchive();
  await archive.run(24 * 4 + 1);
  const older = copyOf(archive.content);
  const { keep } = await archive.verify();
  if (!keep) throw new Error('the older archive is not intact');
  await archive.run(24 * 2, 24 * 4 + 1);
  return { intact: copyOf(archive.content), older, kept: keep };
}

/** Archives the hour in which the first day is closed. Returns the archive before and after that hour. */
export async function closingHour() {
  const archive = simulateArchive();
  // Archive only as many later hours as are required to close the first day; all other hours are gaps.
  await archive.run(1);
  await archive.run(24, 48);
  const before = archive.copy();
  await archive.run(1, 72);
  return { before, after: archive.content };
}

/** Time directly after the hour of `closingHour`, in milliseconds since 1970. */
export const closingAt = simulatedStart + 73 * hourMs;
