import { hashBytes, treeHash } from './merkle.ts';

/** Tiles and entry bundles of a log, as static files (C2SP tlog-tiles). */

/** Number of hashes in a full tile, and of entries in a full bundle. */
export const tileWidth = 256;

/** Maximum length of an entry, in bytes: a bundle stores the length as a 16-bit number. */
export const maxEntryBytes = 65_535;

/** Position of a tile: its level, its index within the level, and its number of hashes. */
interface TileShape {
  readonly level: number;
  readonly index: number;
  /** Number of hashes in the tile; 256 for a full tile. */
  readonly width: number;
}

/** Returns the path of a tile below the log's prefix. */
export function tilePath({ level, index, width }: TileShape): string {
  return `tile/${level}/${placePath(index, width)}`;
}

/** Returns the path of an entry bundle below the log's prefix. */
export function bundlePath({ index, width }: Pick<TileShape, 'index' | 'width'>): string {
  return `tile/entries/${placePath(index, width)}`;
}

/**
 * Formats an index in groups of three digits; every group but the last begins with `x`. The path of a partial tile
 * ends with the width of the tile.
 */
function placePath(index: number, width: number): string {
  const digits = String(index);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, '0');
  const groups = padded.match(/\d{3}/g) ?? [];
  const path = groups.map((group, place) => (place === groups.length - 1 ? group : `x${group}`)).join('/');
  return width === tileWidth ? path : `${path}.p/${width}`;
}

/** Returns the tiles of a tree: on each level all full tiles, and at most one partial tile. */
export function tilesOf(size: number): TileShape[] {
  const shapes: TileShape[] = [];
  let hashes = size;
  for (let level = 0; hashes > 0; level++) {
    const full = Math.floor(hashes / tileWidth);
    for (let index = 0; index < full; index++) shapes.push({ level, index, width: tileWidth });
    if (hashes % tileWidth > 0) shapes.push({ level, index: full, width: hashes % tileWidth });
    hashes = full;
  }
  return shapes;
}

/** Returns the tiles of a tree that the tree of the first `oldSize` leaves does not have. */
export function newTiles(oldSize: number, size: number): TileShape[] {
  const known = new Set(tilesOf(oldSize).map(tilePath));
  return tilesOf(size).filter((shape) => !known.has(tilePath(shape)));
}

/** Returns the bytes of a tile: hashes of consecutive subtrees with 256^level leaves each. */
export function tileBytes(leaves: readonly Uint8Array[], { level, index, width }: TileShape): Buffer {
  const span = tileWidth ** level;
  const hashes = Array.from({ length: width }, (_, place) => {
    const start = (index * tileWidth + place) * span;
    return treeHash(leaves, start, start + span);
  });
  return Buffer.concat(hashes);
}

/** Returns the hashes of a tile; null if the bytes are not a tile of the given width. */
export function parseTile(bytes: Buffer, width: number): Buffer[] | null {
  if (bytes.length !== width * hashBytes) return null;
  return Array.from({ length: width }, (_, place) => bytes.subarray(place * hashBytes, (place + 1) * hashBytes));
}

/**
 * Encodes entries as a bundle. Each entry is preceded by its length, a 16-bit big-endian number. Throws RangeError
 * for an entry that is too long.
 */
export function formatBundle(entries: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    entries.flatMap((entry) => {
      if (entry.length > maxEntryBytes) throw new RangeError('a log entry must not exceed 65535 bytes');
      const length = Buffer.alloc(2);
      length.writeUInt16BE(entry.length);
      return [length, entry];
    }),
  );
}

/** Returns the entries of a bundle; null if the bytes are not a bundle of `width` entries. */
export function parseBundle(bytes: Buffer, width: number): Buffer[] | null {
  const entries: Buffer[] = [];
  let at = 0;
  while (at + 2 <= bytes.length && entries.length < width) {
    const end = at + 2 + bytes.readUInt16BE(at);
    if (end > bytes.length) return null;
    entries.push(bytes.subarray(at + 2, end));
    at = end;
  }
  return at === bytes.length && entries.length === width ? entries : null;
}
