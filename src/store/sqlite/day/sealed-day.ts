import { StoreError } from '../../errors.ts';
import { openImmutable, type Sqlite } from '../base/connection.ts';
import type { DayFile } from '../schema/day-file.ts';

/**
 * Opens a sealed day with a page cache of the given size in bytes. Throws `damaged` if a pragma does not have the
 * value that a sealed day requires.
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
 * Throws `damaged` unless both places that store the schema version agree. Otherwise a file with a damaged version
 * could be mistaken for a file without checksums.
 */
export function assertVersion(file: DayFile, version: number): void {
  const [applied] = file.column('SELECT max(version) FROM migration', []);
  if (applied === version) return;
  throw new StoreError(
    'damaged',
    `${file.path} has schema version ${version}, but records a migration to ${String(applied)}`,
  );
}
