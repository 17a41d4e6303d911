import { createHash } from 'node:crypto';
import { indexFile } from '../days/index-file.ts';
import { checkpointPath } from '../signing/log-files.ts';
import type { ArchiveReader } from './archive-reader.ts';
import { exitCodeOf, orReport, verifyExitCodes } from './finding.ts';
import type { VerifyOptions, VerifyReport } from './report.ts';
import { verifyOnce } from './verify-once.ts';

/** Maximum number of passes over an archive that changes during every one of them. */
const maxPasses = 5;

/**
 * Verifies an archive. The archiver may write during a pass, so that files of two states are compared: a pass with findings
 * is repeated once, and again as long as the archive changes. A finding that a change cannot explain is never repeated.
 */
export async function verifyArchive(options: VerifyOptions): Promise<VerifyReport> {
  for (let pass = 1; ; pass++) {
    const head = await headOf(options.reader);
    const report = await verifyOnce(options);
    const isCertain = exitCodeOf(report.findings) >= verifyExitCodes.signature;
    if (report.findings.length === 0 || isCertain || pass === maxPasses) return report;
    await options.wait();
    if (pass > 1 && (await headOf(options.reader)) === head) return report;
  }
}

/** Returns a digest of the two files that every change of an archive replaces. */
async function headOf(reader: ArchiveReader): Promise<string> {
  const hash = createHash('sha256');
  for (const path of [indexFile, checkpointPath]) {
    // A file that cannot be read is reported by the verification itself.
    const bytes = await orReport(
      path,
      () => undefined,
      () => reader.read(path),
    );
    hash.update(`${bytes?.length ?? -1}\n`).update(bytes ?? '');
  }
  return hash.digest('hex');
}
