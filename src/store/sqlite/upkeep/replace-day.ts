import { chmodSync, closeSync, openSync, readSync, renameSync } from 'node:fs';
import { basename } from 'node:path';
import { StoreError } from '../../errors.ts';
import { dayName } from '../../time.ts';
import { syncFolder } from '../base/connection.ts';
import { dayPath, growingPath, type OnFile, removeDatabase, type StorePaths } from '../base/files.ts';
import type { Faults } from '../base/migrate.ts';
import { storeError } from '../base/store-error.ts';
import { checkedFrom } from '../schema/day-schema.ts';
import type { StateChanges } from '../state/state.ts';
import { writeInThread } from './seal.ts';

/** State and options for replacing a sealed day. */
export interface Replacing {
  readonly paths: StorePaths;
  readonly state: StateChanges;
  readonly faults: Faults | undefined;
  readonly onFile: OnFile;
  readonly signal: AbortSignal;
  /** Days for which adding checksums has failed since the store was opened. These days are not tried again. */
  readonly refused: Set<number>;
}

/**
 * Adds checksums to the newest sealed day without them, which an earlier version wrote, by rewriting the day and
 * replacing its file. If this fails, for example because the counters do not match the rows, the day stays unverified
 * and is reported once; after a transient error, a later run tries again.
 */
export async function keepOneDaysChecksums(replacing: Replacing): Promise<void> {
  const { paths, state, onFile, refused } = replacing;
  const day = state
    .catalog()
    .days.findLast(
      ({ day, sealed }) => sealed === 1 && !refused.has(day) && !hasChecksums(dayPath(paths, day, 'sealed')),
    );
  if (!day) return;
  try {
    await replaceDay(replacing, day.day, 'check');
  } catch (thrown) {
    const error = storeError(thrown, paths.days);
    if (!(error instanceof StoreError) || error.code === 'closed') throw error;
    // The error is transient, for example a full disk. A later run tries again.
    if (error.retry) return;
    refused.add(day.day);
    const name = basename(dayPath(paths, day.day, 'sealed'));
    onFile({ name, day: dayName(day.day), action: 'left', reason: `the day stays unverified: ${error.message}` });
  }
}

/**
 * Rewrites a sealed day and replaces the old file. After a crash at any point, either the old or the new file is in
 * place.
 */
export async function replaceDay(
  { paths, faults, onFile, signal }: Omit<Replacing, 'state' | 'refused'>,
  day: number,
  kind: 'check' | 'repair',
): Promise<void> {
  const sealed = dayPath(paths, day, 'sealed');
  const growing = growingPath(paths, day);
  try {
    await writeInThread({ kind, from: sealed, growing, day }, signal);
  } catch (error) {
    removeDatabase(growing);
    throw error;
  }
  if (signal.aborted) throw new StoreError('closed', 'the store was closed');
  chmodSync(growing, 0o444);
  faults?.('checksums.written');
  renameSync(growing, sealed);
  syncFolder(paths.days);
  faults?.('checksums.renamed');
  const reason =
    kind === 'check' ? 'the day now has checksums' : 'all data derived from the rows of the day was recomputed';
  onFile({ name: basename(sealed), day: dayName(day), action: 'rewritten', reason });
}

/** Offset of `user_version` in a SQLite file (SQLite file format, section 1.3). */
const versionAt = 60;

/** Returns true if a sealed day has checksums, according to the schema version in the header of its file. */
export function hasChecksums(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(4);
    return readSync(file, bytes, 0, 4, versionAt) === 4 && bytes.readUInt32BE() >= checkedFrom;
  } finally {
    closeSync(file);
  }
}
