import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder, OperatorError, systemWords } from '../ops/errors.ts';
import { StoreError } from '../store/errors.ts';
import type { WriterLock } from '../store/sqlite/base/files.ts';

/** Name of the file that marks a demo directory: everything in it is simulated and may be deleted. */
const markName = 'SIMULATED.txt';
const mark = `Everything in this directory is simulated: it was written by \`almanac demo\`, which empties it at each start.\n`;

/** Name of the lock file of a running demo. */
const lockName = 'demo.lock';

/** Data directory of one demo. */
interface DemoFolder {
  readonly path: string;
  /** Releases the directory for another demo. Removes the directory if it is temporary. */
  release(): void;
}

/**
 * Returns an empty, marked directory: a temporary directory if `named` is null, otherwise the named directory, from
 * which the files of a previous demo are removed. Rejects with OperatorError if the named directory has other content
 * or belongs to a running demo.
 */
export async function takeDemoFolder(named: string | null): Promise<DemoFolder> {
  if (named === null) {
    const path = temporaryFolder();
    return { path, release: () => rmSync(path, { recursive: true, force: true }) };
  }
  let lock: WriterLock | null = null;
  try {
    makeFolder(named);
    const entries = readdirSync(named);
    if (entries.length > 0 && !entries.includes(markName)) {
      throw new OperatorError(
        `${named} contains files that no demo wrote; choose another directory with --data, or omit --data`,
      );
    }
    lock = await takeLock(named);
    // Keep the mark while the other files are removed, so that a partly emptied directory is still recognized as a
    // demo directory.
    for (const entry of entries.filter((name) => name !== markName && name !== lockName))
      rmSync(join(named, entry), { recursive: true });
    writeFileSync(join(named, markName), mark);
    const { release } = lock;
    return { path: named, release };
  } catch (error) {
    lock?.release();
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot use the directory ${named}: ${systemWords(error)}`);
  }
}

function temporaryFolder(): string {
  try {
    const path = mkdtempSync(join(tmpdir(), 'almanac-demo-'));
    writeFileSync(join(path, markName), mark);
    return path;
  } catch (error) {
    throw new OperatorError(`cannot create a directory in ${tmpdir()}: ${systemWords(error)}; choose one with --data`);
  }
}

/**
 * Acquires the lock on the directory. The lock is released when the process ends for any reason. Loads the store's
 * module on demand. Rejects with OperatorError if another demo holds the lock.
 */
async function takeLock(folder: string): Promise<WriterLock> {
  const { takeWriterLock } = await import('../store/sqlite/base/files.ts');
  try {
    return takeWriterLock(join(folder, lockName));
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'second_writer') throw error;
    throw new OperatorError(
      `a demo is running in ${folder}; stop it first, choose another directory with --data, or omit --data`,
    );
  }
}

/** Returns true if `data` is the directory of a demo, which contains only simulated data. */
export function isDemoFolder(data: string): boolean {
  return existsSync(join(data, markName));
}
