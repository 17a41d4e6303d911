/**
 * The identities that a writer leaves to the next writer of the store, so that a start need not read the rows of two
 * days: 28 million at ten times today's network. A writer writes the file `identities.kept` when it is closed. The next
 * writer removes the file before it uses the content, so that each file serves one start and a crash leaves none. A
 * missing or damaged file, or one of another state of the store, costs the time of reading the rows.
 *
 * The file has mode 600, because it contains the secret tables with which identities are hashed: a sender who knew them
 * could choose labels that count as duplicates.
 *
 * Format: the SHA-256 of all further bytes, the length of the header as 32 bits (big-endian), the header as JSON, and the
 * parts of the set.
 */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { isObject } from '../../input/json-budget.ts';
import { duplicateHorizon } from '../port.ts';
import { IdentitySet, type KnownIdentities } from './identity-set.ts';

/** Name of the file. */
export const keptIdentitiesName = 'identities.kept';

const version = 1;
const digestBytes = 32;
const maxHeaderBytes = 1_024;
/** Number of bytes that are read at once to compute the digest. */
const chunkBytes = 1024 * 1024;

/**
 * Writes the identities for the next writer. `state` names the state of the store in which they are those of its rows:
 * a store that was rolled back, purged or written to by another process must have another state. Does nothing if the
 * file cannot be written, for example on a full disk, because the rows contain the same identities. The set must not
 * change meanwhile.
 */
export async function keepIdentities(path: string, known: KnownIdentities, state: string): Promise<void> {
  const growing = growingPath(path);
  try {
    const header = Buffer.from(JSON.stringify({ version, state, through: known.through }));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(header.length);
    const digest = createHash('sha256');
    const file = await open(growing, 'w', 0o600);
    try {
      await file.write(Buffer.alloc(digestBytes), 0, digestBytes, 0);
      let at = digestBytes;
      for (const part of [length, header, ...known.identities.parts()]) {
        digest.update(part);
        for (let done = 0; done < part.length; ) {
          const { bytesWritten } = await file.write(part, done, part.length - done, at + done);
          done += bytesWritten;
        }
        at += part.length;
      }
      await file.write(digest.digest(), 0, digestBytes, 0);
    } finally {
      await file.close();
    }
    await rename(growing, path);
  } catch {
    await rm(growing, { force: true }).catch(() => undefined);
  }
}

/**
 * Returns the identities that the last writer left, and removes their file. Returns null if there is no file, if it is
 * damaged, or if it belongs to another state of the store than `state`. Throws a system error only if the file cannot
 * be removed: a later start must not find a file that rows have made incomplete.
 */
export function takeIdentities(path: string, state: string): KnownIdentities | null {
  rmSync(growingPath(path), { force: true });
  const fd = openedOrNull(path);
  if (fd === null) return null;
  try {
    rmSync(path);
    return hasItsDigest(fd) ? readIdentities(fd, state) : null;
  } catch (error) {
    if (existsSync(path)) throw error;
    return null;
  } finally {
    closeSync(fd);
  }
}

/**
 * Removes the identities that the last writer left: the next writer knows them already, or rows of them were lost. Throws
 * a system error.
 */
export function discardIdentities(path: string): void {
  for (const file of [growingPath(path), path]) rmSync(file, { force: true });
}

/** Path of the file while it is written. */
function growingPath(path: string): string {
  return `${path}.growing`;
}

function openedOrNull(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    // Remove a file that cannot be read, for the same reason as any other.
    rmSync(path, { force: true });
    return null;
  }
}

/** Returns true if the file is whole: its first bytes are the digest of the others. Nothing is parsed before that. */
function hasItsDigest(fd: number): boolean {
  const digest = createHash('sha256');
  const stated = Buffer.alloc(digestBytes);
  if (readSync(fd, stated, 0, digestBytes, 0) !== digestBytes) return false;
  const chunk = Buffer.alloc(chunkBytes);
  for (let at = digestBytes; ; ) {
    const count = readSync(fd, chunk, 0, chunkBytes, at);
    if (count === 0) return digest.digest().equals(stated);
    digest.update(chunk.subarray(0, count));
    at += count;
  }
}

function readIdentities(fd: number, state: string): KnownIdentities | null {
  const size = fstatSync(fd).size;
  let at = digestBytes;
  const fill = (part: Uint8Array): void => {
    for (let done = 0; done < part.length; ) {
      const count = at < size ? readSync(fd, part, done, part.length - done, at) : 0;
      if (count === 0) throw new RangeError('the file of identities is too short');
      done += count;
      at += count;
    }
  };
  const length = Buffer.alloc(4);
  fill(length);
  const header = Buffer.alloc(Math.min(length.readUInt32BE(), maxHeaderBytes));
  fill(header);
  const stated: unknown = JSON.parse(header.toString());
  if (!isObject(stated) || stated.version !== version || typeof stated.through !== 'number') return null;
  if (stated.state !== state) return null;
  return { identities: IdentitySet.restored(duplicateHorizon, fill), through: stated.through };
}
