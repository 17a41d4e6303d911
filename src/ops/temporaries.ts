import { randomBytes } from 'node:crypto';
import { readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode, systemWords } from './errors.ts';
import type { Log } from './log.ts';

/** Matches what follows the name of the replaced file in the name of a temporary file. */
const suffix = /^[0-9a-f]{12}\.tmp$/;

/** Returns a new name for the temporary file that will replace the file `name` in the same directory. */
export function temporaryFor(name: string): string {
  return `.${name}.${randomBytes(6).toString('hex')}.tmp`;
}

/**
 * Removes the temporary files of `temporaryFor` that an earlier process left in a directory when it was killed while it
 * replaced one of the files `names`. A process that is replacing one of them must try again. Logs a file that cannot be
 * removed, and never rejects.
 */
export async function sweepTemporaries(folder: string, names: readonly string[], log: Log): Promise<void> {
  const isLeft = (file: string): boolean =>
    names.some((name) => file.startsWith(`.${name}.`) && suffix.test(file.slice(name.length + 2)));
  try {
    const left = (await readdir(folder)).filter(isLeft);
    await Promise.all(left.map((file) => unlink(join(folder, file))));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    log.warn('temporary files of an earlier process could not be removed', { folder, why: systemWords(error) });
  }
}
