import { readFileSync, statSync } from 'node:fs';
import { OperatorError, systemCode, systemWords } from '../../ops/errors.ts';
import { replaceFile } from '../files/archive-files.ts';
import { parseSignerKey, type SignerKey, signerKey } from '../log/note.ts';

/** Options for reading the key of a log. */
interface KeyFileOptions {
  readonly path: string;
  /** Name of a new key, which is also the origin of its log. */
  readonly name: string;
  /** False if a log already exists: a new key could not continue it. */
  readonly mayCreate: boolean;
  /** Returns `count` random bytes. */
  readonly random: (count: number) => Buffer;
}

/**
 * Reads the key that signs a log, or creates it with mode 600. Throws OperatorError if the file cannot be used, if other
 * users can read it, or if it is missing although a log exists.
 */
export function readOrCreateKey({ path, name, mayCreate, random }: KeyFileOptions): SignerKey {
  try {
    const text = readKeyText(path);
    if (text !== null) return parsed(path, text);
    if (!mayCreate) {
      throw new OperatorError(
        `the key file ${path} is missing, but the archive has a log that its key signed; restore the file, or start a new archive`,
      );
    }
    const key = signerKey(name, random(32));
    replaceFile(path, Buffer.from(`${key.text}\n`), 0o600);
    return key;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot read or create the key file ${path}: ${systemWords(error)}`);
  }
}

function readKeyText(path: string): string | null {
  try {
    const { mode } = statSync(path);
    if ((mode & 0o077) !== 0)
      throw new OperatorError(`the key file ${path} is accessible to other users: run chmod 600 on it`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function parsed(path: string, text: string): SignerKey {
  const key = parseSignerKey(text.trim());
  if (!key) throw new OperatorError(`the key file ${path} does not contain a signing key`);
  return key;
}
