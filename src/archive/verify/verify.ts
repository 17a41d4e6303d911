import { createHash } from 'node:crypto';
import { OperatorError } from '../../ops/errors.ts';
import { indexFile } from '../days/index-file.ts';
import { checkpointPath } from '../signing/log-files.ts';
import type { ArchiveReader } from './archive-reader.ts';
import { type FindingKind, verifyExitCodes } from './finding.ts';
import type { VerifyOptions, VerifyReport } from './report.ts';
import { verifyOnce } from './verify-once.ts';

/** Maximum number of passes over an archive that changes during each pass. */
const maxPasses = 5;
/** Delay before a pass is repeated, in milliseconds, so that a running archiver can complete its writes. */
const retryMs = 2_000;

/**
 * Verifies the files of an archive. The archiver may write during a pass, and a cache may serve copies of different
 * ages, so a pass may compare files of two states. A pass with findings is therefore repeated: once after two seconds,
 * and, if caches may keep the files, again after the lifetime of these copies. It is repeated further while the archive
 * keeps changing, up to five passes in total. It is not repeated after a finding that no change can cause, or after a
 * limit was reached.
 */
export async function verifyArchive(options: VerifyOptions): Promise<VerifyReport> {
  const { reader, wait } = options;
  const cachedMs = (): number => reader.cachedMs?.() ?? 0;
  let before: VerifyReport | null = null;
  let headBefore: string | null = null;
  for (let pass = 1; ; pass++) {
    const report = await verifyOnce(options);
    // A pass that a limit cut short is less informative than the complete pass before it.
    if (report.limit !== null && before) return { ...before, limit: report.limit };
    before = report;
    const isCertain = report.findings.some(({ kind }) => isCertainKind(kind, cachedMs() > 0));
    const isOver = isCertain || report.limit !== null || pass === maxPasses;
    if (report.findings.length === 0 || isOver) return report;
    const head = await headOf(reader);
    await wait(pass === 1 ? retryMs : Math.max(retryMs, cachedMs()));
    // If the archive has not changed since the end of the previous pass, this pass has read one state of it: the waits
    // before and after the pass exceed the age of every copy.
    const minPasses = cachedMs() > 0 ? 3 : 2;
    if (pass >= minPasses && (await headOf(reader)) === headBefore) return report;
    headBefore = head;
  }
}

/** Returns true for a kind of finding that neither a write during a pass nor, if `isCached`, an old copy can cause. */
function isCertainKind(kind: FindingKind, isCached: boolean): boolean {
  return verifyExitCodes[kind] >= verifyExitCodes.signature && !(isCached && kind === 'rollback');
}

/** Returns a digest of the index and the checkpoint: every change of an archive replaces at least one of them. */
async function headOf(reader: ArchiveReader): Promise<string> {
  const hash = createHash('sha256');
  for (const path of [indexFile, checkpointPath]) {
    const bytes = await readOrNull(reader, path);
    hash.update(`${bytes?.length ?? -1}\n`).update(bytes ?? '');
  }
  return hash.digest('hex');
}

/** Reads a file; null if it cannot be read or a limit is reached, which the verification itself reports. */
async function readOrNull(reader: ArchiveReader, path: string): Promise<Buffer | null> {
  try {
    return await reader.read(path);
  } catch (error) {
    if (error instanceof OperatorError) return null;
    throw error;
  }
}
