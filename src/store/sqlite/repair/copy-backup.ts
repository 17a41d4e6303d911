import { chmodSync, closeSync, constants, copyFileSync, existsSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from '../base/connection.ts';
import type { OnFile } from '../base/file-event.ts';
import { storePaths } from '../base/files.ts';
import { flush } from '../base/flush.ts';

interface CopyOptions {
  /** Permission mode of the restored store's directory. */
  readonly mode: number;
  readonly onFile: OnFile;
}

/**
 * Copies the files of a store durably, and reports every other file in the backup's directory of days. The copies can
 * be read by all users who can read the directory of the store, such as the account view, regardless of the modes in
 * the backup and of the umask. The owner can write all copies except sealed days.
 */
export function copyBackup(from: string, to: string, { mode, onFile }: CopyOptions): void {
  const [source, target] = [storePaths(from), storePaths(to)];
  for (const folder of [to, target.days]) makeDirectory(folder, mode);
  const readable = mode & 0o044;
  const copy = (path: string, copyPath: string): void => {
    closeSync(openSync(copyPath, 'wx', 0o600));
    copyFileSync(path, copyPath, constants.COPYFILE_FICLONE);
    // A copy has the mode of its original, which may be read-only.
    chmodSync(copyPath, 0o600 | readable);
    flush(copyPath);
  };
  for (const suffix of ['', '-wal']) {
    if (existsSync(`${source.state}${suffix}`)) copy(`${source.state}${suffix}`, `${target.state}${suffix}`);
  }
  for (const name of existsSync(source.days) ? readdirSync(source.days) : []) {
    if (/^\d{4}-\d{2}-\d{2}\.(open|sealed)\.sqlite(-wal|-journal)?$/.test(name)) {
      const path = join(target.days, name);
      copy(join(source.days, name), path);
      if (name.endsWith('.sealed.sqlite')) chmodSync(path, 0o444);
    } else if (!name.endsWith('-shm')) {
      onFile({ name, day: null, action: 'left', reason: 'the file is not a day file, so it is not restored' });
    }
  }
  for (const folder of [target.days, to]) syncFolder(folder);
}

/**
 * Creates a directory with the permissions of `mode`. The directory inherits the group and the set-group-ID bit of
 * its parent. The permissions are set when the directory is created: a later change of the mode would clear that bit
 * if the user does not belong to the directory's group.
 */
function makeDirectory(path: string, mode: number): void {
  const umask = process.umask(0);
  try {
    mkdirSync(path, { mode: mode & 0o777 });
  } finally {
    process.umask(umask);
  }
}
