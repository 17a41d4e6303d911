import { createHash } from 'node:crypto';
import { OperatorError } from '../../ops/errors.ts';
import { indexFile } from '../days/index-file.ts';
import { checkpointPath } from '../signing/log-files.ts';
import type { ArchiveReader } from './archive-reader.ts';
import { exitCodeOf, verifyExitCodes } from './finding.ts';
import type { VerifyOptions, VerifyReport } from './report.ts';
import { verifyOnce } from './verify-once.ts';

/** Maximum number of passes over an archive that changes during each pass. */
const maxPasses = 5;

/**
 * Verifies an archive. The archiver may write during a pass, which may then compare files of two states. A pass with
 * findings is therefore repeated once, and again while the archive keeps changing, up to five passes in total. It is
 * not repeated after a finding that such a change cannot cause, or after a limit was reached.
 */
export async function verifyArchive(options: VerifyOptions): Promise<VerifyReport> {
  let before: VerifyReport | null = null;
  for (let pass = 1; ; pass++) {
    const head = await headOf(options.reader);
    const report = await verifyOnce(options);
    // A pass that a limit cut short is less informative than the complete pass before it.
    if (report.limit !== null && before) return { ...before, limit: report.limit };
    before = report;
    const isCertain = exitCodeOf(report.findings) >= verifyExitCodes.signature;
    const isOver = isCertain || report.limit !== null || pass === maxPasses;
    if (report.findings.length === 0 || isOver) return report;
    await options.wait();
    if (pass > 1 && (await headOf(options.reader)) === head) return report;
  }
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
