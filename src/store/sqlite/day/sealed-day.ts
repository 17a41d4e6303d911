import { StoreError } from '../../errors.ts';
import { openImmutable, type Sqlite } from '../base/connection.ts';
import type { DayFile } from '../schema/day-file.ts';

/** Opens a sealed day with a page cache of that many bytes. A file that is not in the state that sealing leaves is damaged. */
export function openSealed(path: string, cacheBytes: number): Sqlite {
  try {
    return openImmutable(path, cacheBytes);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'pragma_refused') throw error;
    throw new StoreError('damaged', error.message, { cause: error });
  }
}

/** With an altered version, a file could pass for one without checksums: the version is stored in two places. */
export function assertVersion(file: DayFile, version: number): void {
  const [applied] = file.column('SELECT max(version) FROM migration', []);
  if (applied === version) return;
  throw new StoreError('damaged', `${file.path} has schema ${version} and the steps of ${String(applied)}`);
}
