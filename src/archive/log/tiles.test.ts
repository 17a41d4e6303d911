import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leafHash, treeHash } from './merkle.ts';
import {
  bundlePath,
  formatBundle,
  maxEntryBytes,
  newTiles,
  parseBundle,
  parseTile,
  tileBytes,
  tilePath,
  tilesOf,
} from './tiles.ts';

describe('the tiles of a tree', () => {
  it('match the specification for 70,000 entries', () => {
    const tiles = tilesOf(70_000);
    const summary = [0, 1, 2, 3].map((level) => ({
      full: tiles.filter((tile) => tile.level === level && tile.width === 256).length,
      partial: tiles.filter((tile) => tile.level === level && tile.width < 256).map(({ width }) => width),
    }));
    expect(summary).toEqual([
      { full: 273, partial: [112] },
      { full: 1, partial: [17] },
      { full: 0, partial: [1] },
      { full: 0, partial: [] },
    ]);
  });

  it('consist of a full tile on level 0 and a partial tile on level 1 for 256 entries', () => {
    expect(tilesOf(256).map(tilePath)).toEqual(['tile/0/000', 'tile/1/000.p/1']);
    expect(tilesOf(0)).toEqual([]);
  });

  it('have the paths that the specification defines', () => {
    expect(tilePath({ level: 0, index: 1_234_067, width: 256 })).toBe('tile/0/x001/x234/067');
    expect(tilePath({ level: 5, index: 999, width: 17 })).toBe('tile/5/999.p/17');
    expect(bundlePath({ index: 1000, width: 255 })).toBe('tile/entries/x001/000.p/255');
  });

  it('contain the hashes of complete subtrees, and are refused if they are truncated', () => {
    const leaves = Array.from({ length: 600 }, (_, index) => leafHash(Buffer.from(String(index))));
    const upper = parseTile(tileBytes(leaves, { level: 1, index: 0, width: 2 }), 2);
    expect(upper).toEqual([treeHash(leaves, 0, 256), treeHash(leaves, 256, 512)]);
    const lower = parseTile(tileBytes(leaves, { level: 0, index: 2, width: 88 }), 88);
    expect(lower).toEqual(leaves.slice(512));
    expect(parseTile(tileBytes(leaves, { level: 0, index: 2, width: 88 }).subarray(1), 88)).toBeNull();
  });

  it('are returned by newTiles if and only if the previous, smaller tree lacks them', () => {
    expect(newTiles(255, 257).map(tilePath)).toEqual(['tile/0/000', 'tile/0/001.p/1', 'tile/1/000.p/1']);
    expect(newTiles(5, 5)).toEqual([]);
  });
});

describe('an entry bundle', () => {
  const bundle = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 256 });

  it('is parsed back to the entries from which it was formatted', () => {
    fc.assert(
      fc.property(bundle, (entries) => {
        const parsed = parseBundle(formatBundle(entries), entries.length);
        expect(parsed?.map((entry) => [...entry])).toEqual(entries.map((entry) => [...entry]));
      }),
    );
  });

  it('is refused if it is truncated, has additional bytes, or has the wrong number of entries', () => {
    fc.assert(
      fc.property(bundle, fc.nat(), (entries, cut) => {
        fc.pre(entries.length > 0);
        const bytes = formatBundle(entries);
        expect(parseBundle(bytes.subarray(0, cut % bytes.length), entries.length)).toBeNull();
        expect(parseBundle(Buffer.concat([bytes, Buffer.of(0)]), entries.length)).toBeNull();
        expect(parseBundle(bytes, entries.length + 1)).toBeNull();
        expect(parseBundle(bytes, entries.length - 1)).toBeNull();
      }),
    );
  });

  it('has entries of at most 65535 bytes, with the length in big-endian order', () => {
    expect(
      formatBundle([Buffer.alloc(maxEntryBytes)])
        .subarray(0, 2)
        .toString('hex'),
    ).toBe('ffff');
    expect(
      formatBundle([Buffer.alloc(258)])
        .subarray(0, 2)
        .toString('hex'),
    ).toBe('0102');
    expect(() => formatBundle([Buffer.alloc(maxEntryBytes + 1)])).toThrow(RangeError);
  });
});
