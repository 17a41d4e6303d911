import { constants } from 'node:fs';
import { type FileHandle, open, readFile, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { inputLimits } from '../../input/limits.ts';
import { systemCode } from '../../ops/errors.ts';
import { stampOf } from '../../ops/file-stamp.ts';
import { isDay } from '../days/calendar.ts';
import { issuesFile } from '../days/known-issues.ts';
import {
  dayFile,
  indexFile,
  isFileName,
  isTombstoneOf,
  type ListedFile,
  parseDay,
  parseTombstones,
  pathOf,
  tombstoneFile,
} from '../days/records.ts';
import { checkpointPath, publicKeyPath } from '../log/day-log.ts';
import { dictionaryFile } from '../tables/dictionary.ts';
import { isAdded } from '../tables/editions.ts';
import { loaderPaths } from '../tables/loaders.ts';

/** Maximum size of a served file, in bytes. */
const maxServedBytes = inputLimits.archiveFile.bytes;
/** Maximum size of a day's record, in bytes. */
const maxRecordBytes = 1024 * 1024;

/**
 * Rule for the caches that store a file: `immutable` files never change, `revalidated` files must be checked at each use because
 * they can be withdrawn, and `brief` files change regularly.
 */
type FileCaching = 'immutable' | 'revalidated' | 'brief';

/** An open file of an archive. */
interface OpenedFile {
  /** Handle of the file, which the caller closes. */
  readonly handle: FileHandle;
  readonly bytes: number;
  /** Modification time in milliseconds since 1970. */
  readonly modifiedAt: number;
  /** Text that changes whenever the file changes. */
  readonly stamp: string;
  readonly caching: FileCaching;
}

/** Paths of the changeable files outside the day directories. */
const changing: ReadonlySet<string> = new Set([
  ...[indexFile, issuesFile, dictionaryFile, checkpointPath, publicKeyPath],
  ...loaderPaths,
]);
/** Matches the tiles and entry bundles of the log, which never change. */
const tile = /^log\/tile\/(?:entries|\d{1,2})\/(?:x\d{3}\/){0,6}\d{3}(?:\.p\/[1-9]\d{0,2})?$/;
const missing: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EISDIR']);

/** Returns the servable files of the archive in a directory, which may not exist yet. */
export function servableArchive(root: string) {
  return {
    /**
     * Opens a file by its path relative to the directory of the archive. Resolves with `withdrawn` if the file has a
     * tombstone, whether or not it exists. Resolves with null if the path does not name an archive file, if the file does
     * not exist or is too large, if the path contains a symbolic link, or if the tombstones of its day are damaged.
     */
    async open(path: string): Promise<OpenedFile | 'withdrawn' | null> {
      try {
        const caching = await cachingOf(root, path);
        return caching === null || caching === 'withdrawn' ? caching : await openInside(root, path, caching);
      } catch (error) {
        if (missing.has(systemCode(error) ?? '')) return null;
        throw error;
      }
    },
  };
}

/** Returns how the file at a path may be cached, `withdrawn` for a withdrawn file, or null for any other path. */
async function cachingOf(root: string, path: string): Promise<FileCaching | 'withdrawn' | null> {
  if (changing.has(path)) return 'brief';
  if (tile.test(path)) return 'immutable';
  const [folder, day = '', name = '', ...more] = path.split('/');
  if (folder !== 'days' || !isDay(day) || !isFileName(name) || more.length > 0) return null;
  if (name === tombstoneFile) return 'brief';
  const record = parseDay(await readRecord(join(root, pathOf(day, dayFile))));
  if (record === null || record.day !== day) return null;
  const isClosed = record.state === 'closed';
  if (name === dayFile) return isClosed ? 'revalidated' : 'brief';
  const listed = record.files.find((file) => file.name === name);
  if (listed === undefined) return isAdded(record, name) ? afterWithdrawals(root, day, { name }) : null;
  // A withdrawal replaces the content of a file of an open day, so the file stays.
  return isClosed ? afterWithdrawals(root, day, listed) : 'brief';
}

/** Returns `withdrawn` if a file of a closed day has a tombstone, and null if it cannot be known. */
async function afterWithdrawals(
  root: string,
  day: string,
  listed: Pick<ListedFile, 'name'> | ListedFile,
): Promise<FileCaching | 'withdrawn' | null> {
  let bytes: Buffer;
  try {
    bytes = await readRecord(join(root, pathOf(day, tombstoneFile)));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'revalidated';
    throw error;
  }
  const tombstones = parseTombstones(bytes, day);
  if (tombstones === null) return null;
  const isWithdrawn = tombstones.some((one) =>
    'sha256' in listed ? isTombstoneOf(one, listed) : one.name === listed.name,
  );
  return isWithdrawn ? 'withdrawn' : 'revalidated';
}

async function readRecord(path: string): Promise<Buffer> {
  const bytes = await readFile(path);
  return bytes.length > maxRecordBytes ? Buffer.alloc(0) : bytes;
}

async function openInside(root: string, path: string, caching: FileCaching): Promise<OpenedFile | null> {
  const file = join(root, path);
  // The directory itself may be a symbolic link, but no part of the path below it may be one.
  if ((await realpath(file)) !== `${await realpath(root)}${sep}${path.replaceAll('/', sep)}`) return null;
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > maxServedBytes) {
      await handle.close();
      return null;
    }
    return { handle, bytes: stats.size, modifiedAt: stats.mtimeMs, stamp: stampOf(stats), caching };
  } catch (error) {
    await handle.close();
    throw error;
  }
}
