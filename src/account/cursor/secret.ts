import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder, OperatorError, systemCode, systemWords } from '../../ops/errors.ts';

/** Secrets that encrypt cursors, the current one first. */
type Secrets = readonly [Buffer, ...Buffer[]];

/** Maximum number of secrets: the current one and the previous one. */
const maxSecrets = 2;

/**
 * Reads the secrets from a file with 64 hex digits per line, the current secret first. Creates a missing file with a
 * new secret, readable only by its owner; if two processes do so concurrently, both use the same secret. Throws an
 * OperatorError if the file cannot be read or created, or has any other content.
 */
export function readSecrets(path: string): Secrets {
  try {
    return parseSecrets(path, readOrMake(path));
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot read or create the secret file ${path}: ${systemWords(error)}`);
  }
}

function readOrMake(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
  make(path);
  return readFileSync(path, 'utf8');
}

/**
 * Creates a secret file with a new secret, atomically: it is written under a temporary name, so that no process reads a
 * partial file.
 */
function make(path: string): void {
  makeFolder(dirname(path));
  const growing = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = openSync(growing, 'wx', 0o600);
  try {
    // Set the mode again: the umask may have removed permissions when the file was created.
    chmodSync(growing, 0o600);
    writeSync(file, `${randomBytes(32).toString('hex')}\n`);
    fsyncSync(file);
    linkSync(growing, path);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  } finally {
    closeSync(file);
    rmSync(growing, { force: true });
  }
}

function parseSecrets(path: string, text: string): Secrets {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  const [first, ...rest] = lines.filter((line) => /^[0-9a-f]{64}$/i.test(line)).map((line) => Buffer.from(line, 'hex'));
  if (first === undefined || lines.length > maxSecrets || rest.length + 1 !== lines.length) {
    throw new OperatorError(
      `the secret file ${path} must have one or two lines of 64 hex digits each, the current secret first`,
    );
  }
  return [first, ...rest];
}
