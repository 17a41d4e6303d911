import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { OperatorError, systemCode, systemWords } from './errors.ts';

/**
 * Creates a directory and its missing parents; an existing directory stays unchanged. Throws OperatorError with a
 * one-line message on failure. Calls `mkdir` for each level, because Node's `recursive` option loops forever on file
 * systems such as `/proc`, where `mkdir` fails with ENOENT although the parent exists.
 */
export function makeFolder(path: string): void {
  const refused = (why: string): OperatorError => new OperatorError(`cannot create the directory ${path}: ${why}`);
  const missing: string[] = [];
  try {
    for (let at = resolve(path); ; at = dirname(at)) {
      const found = kindOf(at);
      if (found === 'other') throw refused(`${at} is not a directory`);
      if (found === 'folder') break;
      if (dirname(at) === at) throw refused(`${at} does not exist`);
      missing.unshift(at);
    }
    for (const folder of missing) makeOne(folder);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw refused(
      systemCode(error) === 'ENOENT' ? 'the file system does not allow new directories there' : systemWords(error),
    );
  }
}

function kindOf(path: string): 'folder' | 'other' | 'nothing' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'other';
  } catch (error) {
    // ENOTDIR means that a parent is not a directory; the caller checks the parent next.
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return 'nothing';
    throw error;
  }
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    // Ignore the error if another process of this program created the directory first.
    if (systemCode(error) !== 'EEXIST' || kindOf(folder) !== 'folder') throw error;
  }
}
