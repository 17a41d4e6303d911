import { StoreError } from '../../errors.ts';
import { openImmutable, type Sqlite } from '../base/connection.ts';
import type { DayFile } from '../schema/day-file.ts';

/**
 * Opens a sealed day with a page cache of the given size in bytes. Throws `damaged` for a file that is not in the state
 * that sealing leaves.
 */
export function openSealed(path: string, cacheBytes: number): Sqlite {
  try {
    return openImmutable(path, cacheBytes);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'pragma_refused') throw error;
    throw new StoreError('damaged', error.message, { cause: error });
  }
}

/**
 * Throws `damaged` unless both places in which the version is stored agree. A file with an altered version could
 * otherwise count as a file without checksums.
 */
export function assertVersion(file: DayFile, version: number): void {
  const [applied] = file.column('SELECT max(version) FROM migration', []);
  if (applied === version) return;
  throw new StoreError('damaged', `${file.path} has schema ${version} but records the steps of ${String(applied)}`);
}
