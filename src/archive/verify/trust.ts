import { readFileSync, statSync } from 'node:fs';
import { OperatorError, systemCode, systemWords } from '../../ops/errors.ts';
import { replaceFile } from '../files/archive-files.ts';
import { maxNoteBytes, parseVerifierKey, type VerifierKey } from '../log/note.ts';
import type { KeptCheckpoint } from './verify.ts';

/** The key that the operator of a verifier states, and the checkpoint that the verifier keeps for its next run. */

/** Parses the text form of the public key of an archive. Throws OperatorError if the text is not a public key. */
export function trustedKey(text: string): VerifierKey {
  const key = parseVerifierKey(text);
  if (!key) throw new OperatorError('--key requires a public key, as given in index.json of the archive');
  return key;
}

/** Reads a kept checkpoint; null if the file does not exist. Throws OperatorError if it is not a kept checkpoint. */
export function readKept(path: string): KeptCheckpoint | null {
  const refused = (why: string): OperatorError => new OperatorError(`cannot use the checkpoint file ${path}: ${why}`);
  try {
    if (statSync(path).size > maxNoteBytes) throw refused('it is too large');
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && 'key' in value && 'note' in value) {
      const { key, note } = value;
      if (typeof key === 'string' && typeof note === 'string' && parseVerifierKey(key)) return { key, note };
    }
    throw refused('it was not written by a verification');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    if (error instanceof SyntaxError) throw refused('it was not written by a verification');
    if (error instanceof OperatorError) throw error;
    throw refused(systemWords(error));
  }
}

/** Replaces the kept checkpoint. Throws OperatorError if the file cannot be written. */
export function writeKept(path: string, kept: KeptCheckpoint): void {
  try {
    replaceFile(path, Buffer.from(`${JSON.stringify(kept, null, 1)}\n`));
  } catch (error) {
    throw new OperatorError(`cannot write the checkpoint file ${path}: ${systemWords(error)}`);
  }
}
