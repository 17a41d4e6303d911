import { systemCode } from '../../ops/errors.ts';

/**
 * Cause of a failed write. `full`: there is no space now; committed data is intact, and a retry may succeed. `busy`:
 * another process holds the file. `damaged`: the file differs from what was written; the instrument must stop.
 * `unexpected`: an error of this program, such as a column that a migration did not add; the instrument must stop, and
 * the file is kept.
 */
export type StoreFault = 'full' | 'busy' | 'damaged' | 'unexpected';

/** Returns the cause of a store error, derived from SQLite's code, or null if it is not an error of SQLite. */
export function storeFault(error: unknown): StoreFault | null {
  const code = systemCode(error);
  if (code === null || !code.startsWith('SQLITE_')) return null;
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') return 'damaged';
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return 'busy';
  // A disk may reject writes for other reasons (quota, read-only remount). Treat it like a full disk, because a later
  // write may succeed.
  if (['SQLITE_FULL', 'SQLITE_READONLY', 'SQLITE_CANTOPEN'].includes(code) || code.startsWith('SQLITE_IOERR'))
    return 'full';
  return 'unexpected';
}
