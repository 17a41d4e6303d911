import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../errors.ts';
import { openWritable, syncFolder } from '../base/connection.ts';
import { copiedName, copyingName, storeCopyName, storePaths, unfinished } from '../base/files.ts';
import { takeWriterLock } from '../base/lock.ts';
import type { Faults } from '../base/migrate.ts';
import { storeError } from '../base/store-error.ts';

/** Result of moving a store aside: the moved files and their new directory. */
export interface SetAside {
  readonly directory: string;
  /** Names of the moved files; day files have the prefix `days/`. */
  readonly moved: readonly string[];
}

const prefix = 'set-aside-';

/**
 * Moves the days and the state file of a store into a dated subdirectory, so that the next writer begins a new epoch.
 * Deletes nothing. An interrupted move leaves a directory with the suffix `.unfinished`, which prevents the store from
 * being opened; the next call completes the move. Throws `second_writer` while a writer is running, `damaged` if a
 * restore must be completed first, and `not_a_store` if the directory does not exist. Returns null if the directory
 * contains nothing to move.
 */
export function setStoreAside(folder: string, at: Date, faults?: Faults): SetAside | null {
  const paths = storePaths(folder);
  if (!existsSync(folder)) throw new StoreError('not_a_store', `the directory ${folder} does not exist`);
  const lock = takeWriterLock(paths.lock);
  try {
    const names = readdirSync(folder);
    if (names.includes(copiedName)) {
      throw new StoreError('damaged', 'a restore was interrupted: first run almanac labels restore FROM again');
    }
    const begun = names.find((name) => name.startsWith(prefix) && name.endsWith(unfinished));
    const days = existsSync(paths.days) ? readdirSync(paths.days) : [];
    const state = names.filter((name) => name.startsWith('state.sqlite'));
    const isCopy = names.includes(storeCopyName);
    const isCopying = names.includes(copyingName);
    if (begun === undefined && days.length === 0 && state.length === 0 && !isCopying && !isCopy) return null;
    foldLog(paths.state);
    const temporary = join(folder, begun ?? freeName(folder, at) + unfinished);
    if (begun === undefined) mkdirSync(temporary);
    syncFolder(folder);
    faults?.('new-epoch.begun');
    if (existsSync(paths.days) && !existsSync(join(temporary, 'days'))) renameSync(paths.days, join(temporary, 'days'));
    syncFolder(temporary);
    syncFolder(folder);
    faults?.('new-epoch.days');
    if (isCopying) renameSync(join(folder, copyingName), join(temporary, 'restore-copy'));
    // Move the marker of an unfinished copy only after the days: without it, the directory would count as a store.
    const copy = join(folder, storeCopyName);
    if (existsSync(copy)) renameSync(copy, join(temporary, 'store-copy'));
    for (const suffix of ['', '-wal', '-shm', '-journal']) {
      const file = `${paths.state}${suffix}`;
      if (existsSync(file)) renameSync(file, join(temporary, `state.sqlite${suffix}`));
    }
    syncFolder(temporary);
    syncFolder(folder);
    faults?.('new-epoch.state');
    const directory = temporary.slice(0, -unfinished.length);
    renameSync(temporary, directory);
    syncFolder(folder);
    const moved = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name !== 'days');
    return { directory, moved: moved.sort() };
  } catch (error) {
    throw storeError(error, folder);
  } finally {
    lock.release();
  }
}

/**
 * Checkpoints the log into the state file. If the state file is damaged, leaves both unchanged, so that they are moved
 * together.
 */
function foldLog(state: string): void {
  if (!existsSync(state)) return;
  try {
    const db = openWritable(state, 1024 * 1024);
    db.close();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

function freeName(folder: string, at: Date): string {
  const name = `${prefix}${at.toISOString().slice(0, 19).replaceAll(':', '-')}Z`;
  for (let n = 1; ; n++) {
    const candidate = n === 1 ? name : `${name}-${n}`;
    if (!existsSync(join(folder, candidate))) return candidate;
  }
}
