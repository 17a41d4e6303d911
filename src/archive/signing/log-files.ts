import { treeHash } from '../log/merkle.ts';
import {
  bundlePath,
  formatBundle,
  newTiles,
  parseBundle,
  tileBytes,
  tilePath,
  tilesOf,
  tileWidth,
} from '../log/tiles.ts';

/** Directory of the log, relative to the archive. */
export const logFolder = 'log/';
/** Path of the log's signed checkpoint, relative to the archive. */
export const checkpointPath = `${logFolder}checkpoint`;

/**
 * Path of the log's public key as a line of text (C2SP signed-note), relative to the archive. Its name is the origin of
 * the log, so a reader of the C2SP formats needs only the directory of the log.
 */
export const publicKeyPath = `${logFolder}vkey`;

/** Returns the bytes of the file of the public key. */
export function formatPublicKey(key: string): Buffer {
  return Buffer.from(`${key}\n`);
}

/** A tile or entry bundle of the log, with its path relative to the archive. */
interface LogFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Returns the tiles and bundles that a log of these entries has but a log of the first `oldSize` entries lacks. */
export function filesAfter(oldSize: number, entries: readonly Buffer[], leaves: readonly Buffer[]): LogFile[] {
  return newTiles(oldSize, entries.length).flatMap((shape) => {
    const start = shape.index * tileWidth;
    const tile = { path: logFolder + tilePath(shape), bytes: tileBytes(leaves, shape) };
    if (shape.level > 0) return [tile];
    const bundle = formatBundle(entries.slice(start, start + shape.width));
    return [{ path: logFolder + bundlePath(shape), bytes: bundle }, tile];
  });
}

/** Reads the entries of a log with `size` entries from its bundles; null if a bundle is missing or damaged. */
export function readEntries(size: number, read: (path: string) => Buffer | null): Buffer[] | null {
  const entries: Buffer[] = [];
  for (const shape of tilesOf(size).filter(({ level }) => level === 0)) {
    const bytes = read(logFolder + bundlePath(shape));
    const bundle = bytes && parseBundle(bytes, shape.width);
    if (!bundle) return null;
    entries.push(...bundle);
  }
  return entries;
}

/** Returns true if the tree of the first `size` leaves has this root. */
export function hasRoot(leaves: readonly Buffer[], { size, root }: { size: number; root: Buffer }): boolean {
  return size <= leaves.length && treeHash(leaves, 0, size).equals(root);
}
