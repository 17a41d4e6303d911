import { statSync } from 'node:fs';
import { StoreError } from '../../errors.ts';
import type { Sqlite } from '../base/connection.ts';
import { storeError } from '../base/store-error.ts';

/**
 * Throws `wal_full` if a commit of up to `most` bytes could make a day's write-ahead log longer than its limit. SQLite
 * restarts the log by itself when no reader uses its end. If the log has become too long, this function restarts it
 * explicitly, which fails only if a stalled reader still uses the log.
 */
export function assertLogRoom(db: Sqlite, path: string, most: number, maxLogBytes: number): void {
  if (logBytes(path) + most <= maxLogBytes) return;
  db.pragma('busy_timeout = 0');
  try {
    db.pragma('wal_checkpoint(TRUNCATE)');
  } catch (error) {
    throw storeError(error, path);
  } finally {
    db.pragma('busy_timeout = 2000');
  }
  const left = logBytes(path);
  if (left + most <= maxLogBytes) return;
  throw new StoreError('wal_full', `a reader is using ${left} bytes of ${path}-wal; stop that reader`);
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
