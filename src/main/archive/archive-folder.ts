import { join } from 'node:path';
import { type ArchiveFiles, openArchiveFiles } from '../../archive/files/archive-files.ts';
import { OperatorError, systemWords } from '../../ops/errors.ts';
import { StoreError } from '../../store/errors.ts';
import { takeWriterLock, type WriterLock } from '../../store/sqlite/base/lock.ts';

/** Name of the lock file of a running archive. */
const lockName = '.archive.lock';

/** Opens the files of an archive. Throws OperatorError if the directory cannot be used. */
export function openFiles(folder: string): ArchiveFiles {
  try {
    return openArchiveFiles(folder);
  } catch (error) {
    throw new OperatorError(`cannot use the directory ${folder}: ${systemWords(error)}`);
  }
}

/**
 * Acquires the lock on the archive directory. The lock is released when the process ends for any reason. Throws
 * OperatorError if another process holds it or the directory cannot be used.
 */
export function takeLock(folder: string): WriterLock {
  try {
    return takeWriterLock(join(folder, lockName));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const why = error.code === 'second_writer' ? 'another process is archiving there; stop it first' : error.message;
    throw new OperatorError(`cannot archive in ${folder}: ${why}`);
  }
}
