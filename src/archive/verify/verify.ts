import { createHash } from 'node:crypto';
import { OperatorError } from '../../ops/errors.ts';
import { indexFile } from '../days/index-file.ts';
import { checkpointPath } from '../signing/log-files.ts';
import type { ArchiveReader } from './archive-reader.ts';
import { exitCodeOf, verifyExitCodes } from './finding.ts';
import type { VerifyOptions, VerifyReport } from './report.ts';
import { verifyOnce } from './verify-once.ts';

/** Maximum number of passes over an archive that changes during every one of them. */
const maxPasses = 5;

/**
 * Verifies an archive. The archiver may write during a pass, so that files of two states are compared: a pass with findings
 * is repeated once, and again as long as the archive changes. A finding that a change cannot explain is never repeated.
 */
export async function verifyArchive(options: VerifyOptions): Promise<VerifyReport> {
  let before: VerifyReport | null = null;
  for (let pass = 1; ; pass++) {
    const head = await headOf(options.reader);
    const report = await verifyOnce(options);
    // A pass that a limit has ended says less than a complete one before it.
    if (report.limit !== null && before) return { ...before, limit: report.limit };
    before = report;
    const isCertain = exitCodeOf(report.findings) >= verifyExitCodes.signature;
    const isOver = isCertain || report.limit !== null || pass === maxPasses;
    if (report.findings.length === 0 || isOver) return report;
    await options.wait();
    if (pass > 1 && (await headOf(options.reader)) === head) return report;
  }
}

/** Returns a digest of the two files that every change of an archive replaces. */
async function headOf(reader: ArchiveReader): Promise<string> {
  const hash = createHash('sha256');
  for (const path of [indexFile, checkpointPath]) {
    const bytes = await readOrNull(reader, path);
    hash.update(`${bytes?.length ?? -1}\n`).update(bytes ?? '');
  }
  return hash.digest('hex');
}

/** A file that cannot be read, and a limit that is reached, are reported by the verification itself. */
async function readOrNull(reader: ArchiveReader, path: string): Promise<Buffer | null> {
  try {
    return await reader.read(path);
  } catch (error) {
    if (error instanceof OperatorError) return null;
    throw error;
  }
}
